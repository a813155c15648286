// Words of choosing a model.
import { plural, short } from '../base/format.ts';

export const modelsText = {
  placeholder: 'provider/model',
  options: 'Suggestions',
  ready: 'ready',
  notReady: 'needs a key',
  alias: 'alias',
  rowWrong: 'Choose a model in each row, or remove the row.',
  priceUnknown: 'price not known',
  free: 'free',
  add: 'Add a model',
  addNext: 'Add a model to try next',
  nth: (index: number): string => `Model ${index + 1}`,
  raise: (index: number): string => `Try model ${index + 1} earlier`,
  removeNth: (index: number): string => `Remove model ${index + 1}`,
} as const;

/** `$0.15 in, $0.60 out for a million tokens · 128K tokens of context`. */
export function modelFactsText(price: { readonly input: number; readonly output: number } | null, contextWindow: number | null): string {
  const shown = (rate: number): string => `$${rate}`;
  const isFree = price !== null && price.input === 0 && price.output === 0;
  const rates = price === null ? modelsText.priceUnknown : `${shown(price.input)} in, ${shown(price.output)} out for a million tokens`;
  return [isFree ? modelsText.free : rates, contextWindow === null ? '' : `${short(contextWindow)} tokens of context`]
    .filter((text) => text !== '')
    .join(' · ');
}

/** `12 models`. */
export function modelCountText(models: number): string {
  return plural(models, 'model', 'models');
}
