// The options of a prompt in Gemini's words. Pure: no I/O.
import type { PromptOptions, Warning } from '../../core/index.ts';
import type { GoogleGenerationConfig, GoogleRequest } from './schema.ts';

/** What requests to Gemini may ask for. */
export const SUPPORTED_OPTIONS = [
  'topP',
  'topK',
  'stop',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'logprobs',
  'topLogprobs',
  'output',
  'reasoning',
  'toolChoice',
] as const satisfies readonly (keyof PromptOptions)[];

/** The models before levels of thinking take a budget of tokens. */
const TAKES_BUDGET = /^gemini-2\.5/;
const BUDGETS = { none: 0, minimal: 512, low: 1024, medium: 8192, high: 24_576, xhigh: 24_576, max: 24_576 } as const;
const LEVELS = { none: 'minimal', minimal: 'minimal', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const;

type Thinking = NonNullable<GoogleGenerationConfig['thinkingConfig']>;

/** Fields of the generation config, and warnings about what Gemini does in another way. */
export function generationOptions(model: string, options: PromptOptions | undefined): { fields: Partial<GoogleGenerationConfig>; warnings: Warning[] } {
  if (options === undefined) return { fields: {}, warnings: [] };
  const { topP, topK, stop, seed, presencePenalty, frequencyPenalty, logprobs, topLogprobs, output, reasoning } = options;
  const fields: Partial<GoogleGenerationConfig> = {};
  if (topP !== undefined) fields.topP = topP;
  if (topK !== undefined) fields.topK = topK;
  if (stop !== undefined) fields.stopSequences = [...stop];
  if (seed !== undefined) fields.seed = seed;
  if (presencePenalty !== undefined) fields.presencePenalty = presencePenalty;
  if (frequencyPenalty !== undefined) fields.frequencyPenalty = frequencyPenalty;
  if (logprobs === true) fields.responseLogprobs = true;
  if (logprobs === true && topLogprobs !== undefined && topLogprobs > 0) fields.logprobs = topLogprobs;
  if (output !== undefined) fields.responseMimeType = 'application/json';
  if (output?.schema !== undefined) fields.responseJsonSchema = { ...output.schema };
  if (reasoning === undefined) return { fields, warnings: [] };
  const thinking = TAKES_BUDGET.test(model) ? budgetOf(reasoning) : levelOf(reasoning);
  if (reasoning.summary === true) thinking.config.includeThoughts = true;
  if (Object.keys(thinking.config).length > 0) fields.thinkingConfig = thinking.config;
  return { fields, warnings: thinking.warnings };
}

function budgetOf({ effort, budgetTokens }: NonNullable<PromptOptions['reasoning']>): { config: Thinking; warnings: Warning[] } {
  const budget = budgetTokens ?? (effort === undefined ? undefined : BUDGETS[effort]);
  return { config: budget === undefined ? {} : { thinkingBudget: budget }, warnings: [] };
}

function levelOf({ effort, budgetTokens }: NonNullable<PromptOptions['reasoning']>): { config: Thinking; warnings: Warning[] } {
  const warnings: Warning[] = [];
  if (budgetTokens !== undefined)
    warnings.push({ field: 'config.reasoning.budgetTokens', message: 'This Gemini takes an effort and no budget, so it was not sent.' });
  if (effort === undefined) return { config: {}, warnings };
  const level = LEVELS[effort];
  if (level !== effort) warnings.push({ field: 'config.reasoning.effort', message: `Gemini does not support ${effort}, so ${level} was sent.` });
  return { config: { thinkingLevel: level }, warnings };
}

/** Which tools the model may or must call. */
export function toolConfig(choice: PromptOptions['toolChoice']): NonNullable<GoogleRequest['toolConfig']> {
  if (typeof choice === 'object') return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [choice.name] } };
  return { functionCallingConfig: { mode: choice === 'required' ? 'ANY' : choice === 'none' ? 'NONE' : 'AUTO' } };
}
