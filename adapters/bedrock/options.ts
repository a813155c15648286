// The options of a prompt in Converse's words. What a model refuses becomes a warning. Pure: no I/O.
import type { Prompt, PromptOptions, Warning } from '../../core/index.ts';
import { claudeThinking, takesForcedTool, thinksOnRequest } from '../shared/claude-thinking.ts';
import { outputSchema } from '../shared/output-schema.ts';
import { isClaude, isMistral, isNova, takesTemperature } from './models.ts';
import type { BedrockRequest } from './schema.ts';

/** What requests to Bedrock may ask for. */
export const SUPPORTED_OPTIONS = [
  'topP',
  'topK',
  'stop',
  'serviceTier',
  'metadata',
  'output',
  'reasoning',
  'toolChoice',
] as const satisfies readonly (keyof PromptOptions)[];

/**
 * Where Claude's own answer, whole or streamed, names the stop text that ended it. Converse leaves out a field that an answer doesn't have.
 * Source: the SDK's documentation of additionalModelResponseFieldPaths; for streams, vercel/ai pull request 11410.
 */
const STOP_TEXT_PATHS: readonly string[] = ['/stop_sequence', '/delta/stop_sequence'];
const TIERS: readonly string[] = ['default', 'flex', 'priority', 'reserved'];
const OPEN_WEIGHT_LEVELS = { none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const;

/** Sets what `options` ask for. `replayed` is true if the request sends reasoning back. */
export function applyOptions(body: BedrockRequest, model: string, prompt: Prompt, options: PromptOptions, replayed: boolean): Warning[] {
  const warnings: Warning[] = [];
  const thinks = applyReasoning(body, model, prompt, options, replayed, warnings);
  applySampling(body, model, options, thinks, warnings);
  applyToolChoice(body, model, prompt, options.toolChoice, warnings);
  const { output, serviceTier, metadata } = options;
  if (output?.schema !== undefined) {
    const taken = outputSchema(output.schema);
    warnings.push(...taken.warnings);
    const jsonSchema = { schema: JSON.stringify(taken.schema), ...(output.name !== undefined && { name: output.name }) };
    body.outputConfig = { ...body.outputConfig, textFormat: { type: 'json_schema', structure: { jsonSchema } } };
  } else if (output !== undefined) {
    warnings.push({ field: 'config.output', message: 'Bedrock has no JSON mode without a schema, so JSON was asked for in the system text.' });
  }
  if (metadata !== undefined) applyLabels(body, metadata, warnings);
  if (serviceTier !== undefined) {
    if (TIERS.includes(serviceTier)) body.serviceTier = { type: serviceTier };
    else warnings.push({ field: 'config.serviceTier', message: `Bedrock has the tiers ${TIERS.join(', ')}, so ${serviceTier} was not sent.` });
  }
  return warnings;
}

/** What AWS takes as the name of a label; its value may be empty, too. Source: the API reference of Converse, `requestMetadata`. */
const LABEL = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;
const MOST_LABELS = 16;

/** A label that AWS does not take would get the whole request a 400. */
function applyLabels(body: BedrockRequest, metadata: Readonly<Record<string, string>>, warnings: Warning[]): void {
  const given = Object.entries(metadata);
  const taken = given.filter(([name, value]) => LABEL.test(name) && (value === '' || LABEL.test(value))).slice(0, MOST_LABELS);
  if (taken.length > 0) body.requestMetadata = Object.fromEntries(taken);
  if (taken.length === given.length) return;
  const message = `Bedrock takes ${MOST_LABELS} labels of at most 256 letters, digits, blanks and :_@$#=/+,.- each, so the others were not sent.`;
  warnings.push({ field: 'config.metadata', message });
}

/** Fields that only one vendor's models know. */
function addFields(body: BedrockRequest, fields: Record<string, unknown>): void {
  body.additionalModelRequestFields = { ...body.additionalModelRequestFields, ...fields };
}

function isForced(choice: PromptOptions['toolChoice']): boolean {
  return choice === 'required' || typeof choice === 'object';
}

/** True if a Claude thinks because this request asks for it. */
function applyReasoning(
  body: BedrockRequest,
  model: string,
  prompt: Prompt,
  { reasoning, toolChoice }: PromptOptions,
  replayed: boolean,
  warnings: Warning[],
): boolean {
  if (reasoning === undefined) return false;
  if (!isClaude(model)) {
    applyEffort(body, model, reasoning, warnings);
    return false;
  }
  const found = claudeThinking(model, reasoning, prompt.maxTokens);
  warnings.push(...found.warnings);
  const refused = thinksOnRequest(found) && isForced(toolChoice) && takesForcedTool(model);
  if (refused || (found.thinking?.type === 'enabled' && !replayed && prompt.turns.at(-1)?.role === 'tool')) {
    const why = refused ? 'before a tool call that is forced by toolChoice' : 'after a tool call without the thinking that came before the call';
    warnings.push({ field: 'config.reasoning', message: `Claude can not think ${why}, so it was not sent.` });
    return false;
  }
  if (found.thinking !== undefined) addFields(body, { thinking: found.thinking });
  const { maxTokens } = body.inferenceConfig;
  if (found.thinking?.type === 'enabled' && prompt.maxTokens === undefined && maxTokens !== undefined) {
    body.inferenceConfig.maxTokens = maxTokens + found.thinking.budget_tokens;
  }
  if (found.effort !== undefined) body.outputConfig = { ...body.outputConfig, effort: found.effort };
  return thinksOnRequest(found);
}

function applyEffort(body: BedrockRequest, model: string, { effort, budgetTokens }: NonNullable<PromptOptions['reasoning']>, warnings: Warning[]): void {
  if (budgetTokens !== undefined) warnings.push({ field: 'config.reasoning.budgetTokens', message: `${model} takes no budget, so it was not sent.` });
  if (effort === undefined) return;
  const level = OPEN_WEIGHT_LEVELS[effort];
  if (model.includes('openai.gpt-oss')) addFields(body, { reasoning_effort: level });
  else if (model.includes('amazon.nova-2')) {
    // Nova refuses a token limit beside its highest effort.
    const most = level === 'high' ? 'medium' : level;
    addFields(body, { reasoningConfig: effort === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: most } });
    if (effort !== 'none' && most !== effort) warnings.push({ field: 'config.reasoning.effort', message: `${most} was sent instead of ${effort}.` });
    return;
  } else {
    warnings.push({ field: 'config.reasoning.effort', message: `${model} is not known to take an effort, so it was not sent.` });
    return;
  }
  if (level !== effort) warnings.push({ field: 'config.reasoning.effort', message: `${model} does not support ${effort}, so ${level} was sent.` });
}

/** Models that refuse a temperature refuse the others too, and Claude refuses topP beside a temperature. */
function applySampling(body: BedrockRequest, model: string, { topP, topK, stop }: PromptOptions, thinks: boolean, warnings: Warning[]): void {
  const config = body.inferenceConfig;
  const takes = takesTemperature(model) && !thinks;
  const refused = (field: string): void => {
    warnings.push({ field: `config.${field}`, message: `${model} does not support ${field}${thinks ? ' while it thinks' : ''}, so it was not sent.` });
  };
  if (thinks && config.temperature !== undefined) {
    delete config.temperature;
    refused('temperature');
  }
  if (topK !== undefined) {
    if (takes && (isClaude(model) || isMistral(model))) addFields(body, { top_k: topK });
    else if (isNova(model)) addFields(body, { inferenceConfig: { topK } });
    else refused('topK');
  }
  if (topP !== undefined) {
    if (!takes) refused('topP');
    else if (isClaude(model) && config.temperature !== undefined)
      warnings.push({ field: 'config.topP', message: 'Claude takes either temperature or topP, so topP was not sent.' });
    else config.topP = topP;
  }
  if (stop === undefined) return;
  const texts = stop.filter((text) => text.trim() !== '');
  if (model.includes('openai.')) refused('stop');
  else if (texts.length > 0) {
    config.stopSequences = texts;
    if (isClaude(model)) body.additionalModelResponseFieldPaths = STOP_TEXT_PATHS;
  }
  if (texts.length < stop.length) warnings.push({ field: 'config.stop', message: 'Blank stop texts were not sent.' });
}

function applyToolChoice(body: BedrockRequest, model: string, prompt: Prompt, choice: PromptOptions['toolChoice'], warnings: Warning[]): void {
  if (choice === undefined || body.toolConfig === undefined || prompt.tools.length === 0) return;
  if (choice === 'none') {
    warnings.push({ field: 'toolChoice', message: 'Bedrock can not forbid the tools of a conversation with calls, so the choice is left to the model.' });
  } else if (isForced(choice) && isClaude(model) && !takesForcedTool(model)) {
    warnings.push({ field: 'toolChoice', message: `${model} can not be forced to call a tool, so the choice is left to it.` });
  } else {
    body.toolConfig = {
      ...body.toolConfig,
      toolChoice: typeof choice === 'object' ? { tool: { name: choice.name } } : choice === 'required' ? { any: {} } : { auto: {} },
    };
  }
}
