// Facts about OpenAI's models. Pure: no I/O.
// Source: OpenAI's models and deprecations pages, November 2026.
import type { PromptOptions } from '../../core/index.ts';

type Effort = NonNullable<NonNullable<PromptOptions['reasoning']>['effort']>;

/** Good enough for most work, at a tenth of the price of the largest. */
export const DEFAULT_MODEL = 'gpt-6.1-terra';

/** The ids to choose from, without those that OpenAI has announced to retire. */
export const MODELS: readonly string[] = [
  DEFAULT_MODEL,
  'gpt-6.1-sol',
  'gpt-6-astra',
  'gpt-6-sol',
  'gpt-6-luna',
  'gpt-5.6-sol',
  'gpt-5.6-terra',
  'gpt-5.6-luna',
  'gpt-5.5',
  'gpt-5.4',
  'gpt-5.4-mini',
];

/** The first major version of `gpt-` that reasons. */
const FIRST_REASONING_MAJOR = 5;

/**
 * Reasoning models do not support temperature, and return reasoning that the next request sends back. A rule instead of a list, so that it also
 * covers next month's model. `model` may be fine-tuned (`ft:…`) or begin with a vendor, as compatible servers write it.
 */
export function isReasoningModel(model: string): boolean {
  const name = plainName(model);
  if (/^o\d/.test(name)) return true;
  const major = /^gpt-(\d+)/.exec(name)?.[1];
  return major !== undefined && Number(major) >= FIRST_REASONING_MAJOR && !/-chat\b/.test(name);
}

/** The nearest effort that the model takes: the o series knows only low, medium and high. */
export function effortFor(model: string, effort: Effort): Effort {
  if (!/^o\d/.test(plainName(model))) return effort;
  if (effort === 'none' || effort === 'minimal') return 'low';
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort;
}

function plainName(model: string): string {
  return model
    .replace(/^.*\//, '')
    .replace(/^ft:/, '')
    .replace(/^openai\./, '');
}
