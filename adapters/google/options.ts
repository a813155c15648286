// The options of a prompt in Gemini's words. Pure: no I/O.
import type { PromptOptions, Warning } from '../../core/index.ts';
import { cleanSchema } from './json-schema.ts';
import { hasFixedSampling, isGemini3, takesBudget } from './models.ts';
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

/** For the models before levels of thinking. They answer 400 to a budget outside its limits. */
const BUDGETS = { none: 0, minimal: 512, low: 1024, medium: 8192, high: 24_576, xhigh: 24_576, max: 24_576 } as const;
const FLASH = { off: true, least: 1, most: 24_576 } as const;
const FLASH_LITE = { off: true, least: 512, most: 24_576 } as const;
const PRO = { off: false, least: 128, most: 32_768 } as const;
/** The models that can think less than `low`; all others answer 400 to it. Measured by tetsuo-ai/agenc-core, pull request 2393, in September 2026. */
const TAKES_MINIMAL = /^gemini-3(?:-flash|\.[56]-flash|\.\d+-flash-lite)/;
const LEVELS = { none: 'minimal', minimal: 'minimal', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const;

type Thinking = NonNullable<GoogleGenerationConfig['thinkingConfig']>;

/** Fields of the generation config, and warnings about what Gemini does in another way. */
export function generationOptions(model: string, options: PromptOptions | undefined): { fields: Partial<GoogleGenerationConfig>; warnings: Warning[] } {
  if (options === undefined) return { fields: {}, warnings: [] };
  const { topP, topK, stop, seed, presencePenalty, frequencyPenalty, logprobs, topLogprobs, output, reasoning } = options;
  const fields: Partial<GoogleGenerationConfig> = {};
  const warnings: Warning[] = [];
  if (hasFixedSampling(model)) {
    for (const [name, value] of Object.entries({ topP, topK })) if (value !== undefined) warnings.push(ignored(model, name));
  } else {
    if (topP !== undefined) fields.topP = topP;
    if (topK !== undefined) fields.topK = topK;
  }
  if (stop !== undefined) fields.stopSequences = [...stop];
  if (seed !== undefined) fields.seed = seed;
  if (presencePenalty !== undefined) fields.presencePenalty = presencePenalty;
  if (frequencyPenalty !== undefined) fields.frequencyPenalty = frequencyPenalty;
  if (logprobs === true) fields.responseLogprobs = true;
  if (logprobs === true && topLogprobs !== undefined && topLogprobs > 0) fields.logprobs = topLogprobs;
  if (output !== undefined) fields.responseMimeType = 'application/json';
  if (output?.schema !== undefined) fields.responseJsonSchema = answerSchema(output.schema, warnings);
  if (reasoning === undefined) return { fields, warnings };
  if (!takesBudget(model) && !isGemini3(model)) {
    const asks = reasoning.summary === true || (reasoning.effort ?? 'none') !== 'none' || (reasoning.budgetTokens ?? 0) > 0;
    return { fields, warnings: asks ? [...warnings, { field: 'config.reasoning', message: `${model} is not known to think, so it was not sent.` }] : warnings };
  }
  const thinking = takesBudget(model) ? budgetOf(model, reasoning, warnings) : levelOf(model, reasoning, warnings);
  // A model that does not think has no thoughts to show.
  if (reasoning.summary === true && thinking.thinkingBudget !== 0) thinking.includeThoughts = true;
  if (Object.keys(thinking).length > 0) fields.thinkingConfig = thinking;
  return { fields, warnings };
}

/** The warning about a setting of the sampling. */
export function ignored(model: string, name: string): Warning {
  return { field: `config.${name}`, message: `${model} ignores ${name}, so it was not sent.` };
}

/** Gemini ignores other keywords without a word, `const` among them. */
function answerSchema(given: Record<string, unknown>, warnings: Warning[]): Record<string, unknown> {
  const { schema, dropped } = cleanSchema(given);
  if (dropped.length > 0)
    warnings.push({ field: 'config.output', message: `Gemini does not support these schema keywords, so they were not sent: ${dropped.join(', ')}.` });
  return schema;
}

function budgetOf(model: string, { effort, budgetTokens }: NonNullable<PromptOptions['reasoning']>, warnings: Warning[]): Thinking {
  const asked = budgetTokens ?? (effort === undefined ? undefined : BUDGETS[effort]);
  if (asked === undefined) return {};
  const { off, least, most } = model.includes('-pro') ? PRO : model.includes('-flash-lite') ? FLASH_LITE : FLASH;
  const budget = asked === 0 && off ? 0 : Math.min(most, Math.max(least, asked));
  if (budget !== asked) {
    const field = `config.reasoning.${budgetTokens === undefined ? 'effort' : 'budgetTokens'}`;
    warnings.push({ field, message: `${model} takes a budget from ${least} to ${most} tokens, so ${budget} was sent.` });
  }
  return { thinkingBudget: budget };
}

function levelOf(model: string, { effort, budgetTokens }: NonNullable<PromptOptions['reasoning']>, warnings: Warning[]): Thinking {
  if (budgetTokens !== undefined)
    warnings.push({ field: 'config.reasoning.budgetTokens', message: 'This Gemini takes an effort and no budget, so it was not sent.' });
  if (effort === undefined) return {};
  const wanted = LEVELS[effort];
  const level = wanted === 'minimal' && !TAKES_MINIMAL.test(model) ? 'low' : wanted;
  if (level !== effort) warnings.push({ field: 'config.reasoning.effort', message: `${model} does not support ${effort}, so ${level} was sent.` });
  return { thinkingLevel: level };
}

/** Which tools the model may or must call. */
export function toolConfig(choice: PromptOptions['toolChoice']): NonNullable<GoogleRequest['toolConfig']> {
  if (typeof choice === 'object') return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [choice.name] } };
  return { functionCallingConfig: { mode: choice === 'required' ? 'ANY' : choice === 'none' ? 'NONE' : 'AUTO' } };
}
