// The options of a prompt in the words of OpenAI's two endpoints. Pure: no I/O.
import type { PromptOptions, Warning } from '../../core/index.ts';
import { effortFor, isReasoningModel } from './models.ts';
import type { ChatOptions, ResponsesOptions, ServiceTier } from './schema.ts';

/** Options as one endpoint takes them, and warnings about those that it does not take. */
export interface Translated<T> {
  readonly fields: T;
  readonly warnings: readonly Warning[];
}

/** What every OpenAI adapter request may ask for; one endpoint or model may still lack some of it. */
export const SUPPORTED_OPTIONS = [
  'cacheKey',
  'topP',
  'stop',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'parallelToolCalls',
  'logprobs',
  'topLogprobs',
  'serviceTier',
  'user',
  'metadata',
  'output',
  'reasoning',
  'toolChoice',
] as const satisfies readonly (keyof PromptOptions)[];

/** Reasoning models do not support sampling. */
const SAMPLING = ['topP', 'stop', 'seed', 'presencePenalty', 'frequencyPenalty', 'logprobs', 'topLogprobs'] as const satisfies readonly (keyof PromptOptions)[];
const NOT_IN_RESPONSES = ['stop', 'seed', 'presencePenalty', 'frequencyPenalty'] as const satisfies readonly (keyof PromptOptions)[];
const NONE: Translated<Record<string, never>> = { fields: {}, warnings: [] };

/** For `/responses`. */
export function responsesOptions(model: string, options: PromptOptions | undefined, hasTools: boolean): Translated<ResponsesOptions> {
  if (options === undefined) return NONE;
  const reasons = isReasoningModel(model);
  const { toolChoice, parallelToolCalls, topP, serviceTier, user, metadata, cacheKey, output, reasoning } = options;
  const fields: ResponsesOptions = {};
  if (toolChoice !== undefined && hasTools) fields.tool_choice = typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.name };
  if (parallelToolCalls !== undefined && hasTools) fields.parallel_tool_calls = parallelToolCalls;
  if (topP !== undefined && !reasons) fields.top_p = topP;
  if (options.logprobs === true && !reasons) fields.top_logprobs = options.topLogprobs ?? 0;
  if (serviceTier !== undefined) fields.service_tier = serviceTier as ServiceTier;
  if (user !== undefined) fields.safety_identifier = user;
  if (metadata !== undefined) fields.metadata = { ...metadata };
  if (cacheKey !== undefined) fields.prompt_cache_key = cacheKey;
  if (output?.type === 'json') fields.text = { format: { type: 'json_object' } };
  if (output?.type === 'json_schema') {
    fields.text = { format: { type: 'json_schema', name: output.name ?? 'answer', schema: { ...output.schema }, strict: output.strict ?? false } };
  }
  if (reasons && (reasoning?.effort !== undefined || reasoning?.summary === true)) {
    fields.reasoning = {
      ...(reasoning.effort !== undefined && { effort: effortFor(model, reasoning.effort) }),
      ...(reasoning.summary === true && { summary: 'auto' }),
    };
  }
  const unsent = reasons ? [...new Set([...SAMPLING, ...NOT_IN_RESPONSES])] : NOT_IN_RESPONSES;
  return { fields, warnings: [...warningsAbout(options, unsent, model), ...reasoningWarnings(options, reasons, model)] };
}

/** For `/chat/completions`. Servers other than OpenAI's know `user`, and the names of their models don't say whether they reason. */
export function chatOptions(model: string, options: PromptOptions | undefined, hasTools: boolean, isOwn: boolean): Translated<ChatOptions> {
  if (options === undefined) return NONE;
  const reasons = isReasoningModel(model) && isOwn;
  const { toolChoice, parallelToolCalls, topP, stop, seed, presencePenalty, frequencyPenalty, serviceTier, user, metadata, cacheKey, output, reasoning } =
    options;
  const fields: ChatOptions = {};
  if (toolChoice !== undefined && hasTools) {
    fields.tool_choice = typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.name } };
  }
  if (parallelToolCalls !== undefined && hasTools) fields.parallel_tool_calls = parallelToolCalls;
  if (!reasons) {
    if (topP !== undefined) fields.top_p = topP;
    if (stop !== undefined) fields.stop = [...stop];
    if (seed !== undefined) fields.seed = seed;
    if (presencePenalty !== undefined) fields.presence_penalty = presencePenalty;
    if (frequencyPenalty !== undefined) fields.frequency_penalty = frequencyPenalty;
    if (options.logprobs === true) fields.logprobs = true;
    if (options.logprobs === true && options.topLogprobs !== undefined) fields.top_logprobs = options.topLogprobs;
  }
  if (serviceTier !== undefined) fields.service_tier = serviceTier as ServiceTier;
  if (user !== undefined) fields[isOwn ? 'safety_identifier' : 'user'] = user;
  if (metadata !== undefined) fields.metadata = { ...metadata };
  if (cacheKey !== undefined) fields.prompt_cache_key = cacheKey;
  if (output?.type === 'json') fields.response_format = { type: 'json_object' };
  if (output?.type === 'json_schema') {
    const schema = { name: output.name ?? 'answer', schema: { ...output.schema }, ...(output.strict !== undefined && { strict: output.strict }) };
    fields.response_format = { type: 'json_schema', json_schema: schema };
  }
  if (reasoning?.effort !== undefined && (reasons || !isOwn)) fields.reasoning_effort = effortFor(model, reasoning.effort);
  return { fields, warnings: [...warningsAbout(options, reasons ? SAMPLING : [], model), ...reasoningWarnings(options, reasons || !isOwn, model)] };
}

function warningsAbout(options: PromptOptions, names: readonly (keyof PromptOptions)[], model: string): Warning[] {
  return names
    .filter((name) => options[name] !== undefined)
    .map((name) => ({ field: `config.${name}`, message: `${model} does not support this setting here, so it was not sent.` }));
}

function reasoningWarnings({ reasoning }: PromptOptions, reasons: boolean, model: string): Warning[] {
  if (reasoning === undefined) return [];
  if (!reasons) return [{ field: 'config.reasoning', message: `${model} is not a reasoning model, so it was not sent.` }];
  const warnings: Warning[] = [];
  const { effort, budgetTokens } = reasoning;
  const sent = effort === undefined ? undefined : effortFor(model, effort);
  if (sent !== effort) warnings.push({ field: 'config.reasoning.effort', message: `${model} does not take ${effort}, so ${sent} was sent.` });
  if (budgetTokens !== undefined)
    warnings.push({ field: 'config.reasoning.budgetTokens', message: 'OpenAI takes an effort and no budget, so it was not sent.' });
  return warnings;
}
