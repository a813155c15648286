// The options of a prompt in Ollama's words. Pure: no I/O.
import type { PromptOptions, Warning } from '../../core/index.ts';
import type { OllamaOptions, OllamaRequest } from './schema.ts';

/** What requests to Ollama may ask for. */
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

/** The only models whose thinking has levels; the others think or don't. */
const HAS_LEVELS = /(?:^|\/)gpt-oss/;
const LEVELS = { minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const;

/** Fields of the request besides its text, and warnings about what Ollama can't do. */
export interface Translated {
  readonly options: Partial<OllamaOptions>;
  readonly fields: Pick<OllamaRequest, 'format' | 'think' | 'logprobs' | 'top_logprobs'>;
  /** False if the model must not see the tools. */
  readonly offersTools: boolean;
  readonly warnings: readonly Warning[];
}

const NONE: Translated = { options: {}, fields: {}, offersTools: true, warnings: [] };

/** Ollama can't make a model call a tool; without tools it can't call any. */
export function translate(model: string, options: PromptOptions | undefined): Translated {
  if (options === undefined) return NONE;
  const { topP, topK, stop, seed, presencePenalty, frequencyPenalty, output, reasoning, toolChoice } = options;
  const sampling: Partial<OllamaOptions> = {};
  if (topP !== undefined) sampling.top_p = topP;
  if (topK !== undefined) sampling.top_k = topK;
  if (stop !== undefined) sampling.stop = [...stop];
  if (seed !== undefined) sampling.seed = seed;
  if (presencePenalty !== undefined) sampling.presence_penalty = presencePenalty;
  if (frequencyPenalty !== undefined) sampling.frequency_penalty = frequencyPenalty;
  const fields: Translated['fields'] = {
    ...(options.logprobs === true && { logprobs: true }),
    ...(options.logprobs === true && options.topLogprobs !== undefined && { top_logprobs: options.topLogprobs }),
  };
  if (output !== undefined) fields.format = output.schema === undefined ? 'json' : { ...output.schema };
  const think = thinkOf(model, reasoning);
  if (think !== undefined) fields.think = think;
  const warnings: Warning[] = [];
  if (toolChoice === 'required' || typeof toolChoice === 'object') {
    warnings.push({ field: 'toolChoice', message: 'Ollama can not make a model call a tool, so it was not sent.' });
  }
  if (reasoning?.budgetTokens !== undefined)
    warnings.push({ field: 'config.reasoning.budgetTokens', message: 'Ollama has no budget of reasoning, so it was not sent.' });
  return { options: sampling, fields, offersTools: toolChoice !== 'none', warnings };
}

function thinkOf(model: string, reasoning: PromptOptions['reasoning']): OllamaRequest['think'] {
  const effort = reasoning?.effort;
  if (effort === undefined) return reasoning?.summary === true ? true : undefined;
  if (effort === 'none') return HAS_LEVELS.test(model) ? 'low' : false;
  return HAS_LEVELS.test(model) ? LEVELS[effort] : true;
}
