// The options of a prompt in Anthropic's words. What a model refuses becomes a warning. Pure: no I/O.
import type { Prompt, PromptOptions, Warning } from '../../core/index.ts';
import { takesTemperature } from '../shared/claude.ts';
import { type ClaudeThinking, claudeThinking, takesForcedTool, thinksOnRequest } from '../shared/claude-thinking.ts';
import { outputSchema } from '../shared/output-schema.ts';
import type { AnthropicRequest, ToolChoice } from './schema.ts';

/** What requests to Anthropic may ask for. */
export const SUPPORTED_OPTIONS = [
  'topP',
  'topK',
  'stop',
  'parallelToolCalls',
  'serviceTier',
  'user',
  'output',
  'reasoning',
  'toolChoice',
] as const satisfies readonly (keyof PromptOptions)[];

const TIERS: readonly string[] = ['auto', 'standard_only'];

/** Sets what `options` ask for. `replayed` is true if the request sends thinking back. */
export function applyOptions(body: AnthropicRequest, prompt: Prompt, options: PromptOptions, replayed: boolean): Warning[] {
  const warnings: Warning[] = [];
  const { model } = body;
  const thinking = applyThinking(body, prompt, options, replayed, warnings);
  applySampling(body, options, thinking !== undefined && thinksOnRequest(thinking), warnings);
  applyToolChoice(body, prompt, options, warnings);
  if (options.output?.schema !== undefined) {
    const taken = outputSchema(options.output.schema);
    warnings.push(...taken.warnings);
    body.output_config = { ...body.output_config, format: { type: 'json_schema', schema: taken.schema } };
  } else if (options.output !== undefined) {
    warnings.push({ field: 'config.output', message: `${model} has no JSON mode without a schema, so it was asked for JSON in the system text.` });
  }
  if (options.user !== undefined) body.metadata = { user_id: options.user };
  if (options.serviceTier !== undefined) {
    if (TIERS.includes(options.serviceTier)) body.service_tier = options.serviceTier;
    else warnings.push({ field: 'config.serviceTier', message: `Anthropic has the tiers ${TIERS.join(' and ')}, so ${options.serviceTier} was not sent.` });
  }
  return warnings;
}

function isForced(choice: PromptOptions['toolChoice']): boolean {
  return choice === 'required' || typeof choice === 'object';
}

function applyThinking(
  body: AnthropicRequest,
  prompt: Prompt,
  { reasoning, toolChoice }: PromptOptions,
  replayed: boolean,
  warnings: Warning[],
): ClaudeThinking | undefined {
  if (reasoning === undefined) return undefined;
  const found = claudeThinking(body.model, reasoning, prompt.maxTokens);
  warnings.push(...found.warnings);
  if (thinksOnRequest(found) && isForced(toolChoice) && takesForcedTool(body.model)) {
    warnings.push({ field: 'config.reasoning', message: 'Claude can not think before a tool call that is forced by toolChoice, so it was not sent.' });
    return undefined;
  }
  if (found.thinking?.type === 'enabled' && !replayed && prompt.turns.at(-1)?.role === 'tool') {
    warnings.push({
      field: 'config.reasoning',
      message: 'The thinking before the last tool call is not in this request, so the model goes on without thinking.',
    });
    return undefined;
  }
  if (found.thinking !== undefined) body.thinking = found.thinking;
  // The limit counts the thinking too, and the default is for the answer alone.
  if (found.thinking?.type === 'enabled' && prompt.maxTokens === undefined) body.max_tokens += found.thinking.budget_tokens;
  if (found.effort !== undefined) body.output_config = { ...body.output_config, effort: found.effort };
  return found;
}

/** Models that refuse a temperature refuse the others too, and all refuse topP beside a temperature. */
function applySampling(body: AnthropicRequest, { topP, topK, stop }: PromptOptions, thinks: boolean, warnings: Warning[]): void {
  const takes = takesTemperature(body.model) && !thinks;
  const refused = (field: string): void => {
    warnings.push({ field: `config.${field}`, message: `${body.model} does not support ${field}${thinks ? ' while it thinks' : ''}, so it was not sent.` });
  };
  if (thinks && body.temperature !== undefined) {
    delete body.temperature;
    refused('temperature');
  }
  if (topK !== undefined) {
    if (takes) body.top_k = topK;
    else refused('topK');
  }
  if (topP !== undefined) {
    if (takes && body.temperature === undefined) body.top_p = topP;
    else if (takes) warnings.push({ field: 'config.topP', message: 'Claude takes either temperature or topP, so topP was not sent.' });
    else refused('topP');
  }
  const texts = stop?.filter((text) => text.trim() !== '') ?? [];
  if (texts.length > 0) body.stop_sequences = texts;
  if (texts.length < (stop?.length ?? 0)) warnings.push({ field: 'config.stop', message: 'Claude refuses blank stop texts, so they were not sent.' });
}

function applyToolChoice(body: AnthropicRequest, prompt: Prompt, { toolChoice, parallelToolCalls }: PromptOptions, warnings: Warning[]): void {
  if (prompt.tools.length === 0 || (toolChoice === undefined && parallelToolCalls !== false)) return;
  if (toolChoice === 'none') {
    body.tool_choice = { type: 'none' };
    return;
  }
  let choice: ToolChoice = typeof toolChoice === 'object' ? { type: 'tool', name: toolChoice.name } : { type: toolChoice === 'required' ? 'any' : 'auto' };
  if (isForced(toolChoice) && !takesForcedTool(body.model)) {
    warnings.push({ field: 'toolChoice', message: `${body.model} can not be forced to call a tool, so the choice is left to it.` });
    choice = { type: 'auto' };
  }
  body.tool_choice = parallelToolCalls === false ? { ...choice, disable_parallel_tool_use: true } : choice;
}
