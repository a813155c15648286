// The lists of models that servers give of themselves, in the forms that they have. Pure: no I/O.
import type { ListedModel } from '../../core/index.ts';
import { asArray, asCount, asObject, asString } from './read.ts';

/** Where a list tells how much a model can read. Source: the lists of OpenRouter, Groq, Mistral, Together and vLLM, November 2026. */
const WINDOWS = ['context_length', 'context_window', 'max_context_length', 'max_model_len', 'inputTokenLimit'] as const;
/** Models that a daemon of Ollama passes on to its cloud, in whatever protocol it is asked. */
export const CLOUD_MODEL = /[:-]cloud\s*$/i;
/** In Google's lists, a name begins so. */
const PREFIX = /^models\//;

/** `{data: […]}`, `{models: […]}` or a bare array, of objects with `id` or `name`. */
export function servedModels(json: unknown): ListedModel[] {
  const { data, models } = asObject(json);
  const list = Array.isArray(json) ? json : asArray(data ?? models);
  return list.map(asObject).flatMap((model): ListedModel[] => {
    const id = (asString(model['id']) ?? asString(model['name']))?.replace(PREFIX, '');
    if (id === undefined || id === '') return [];
    const contextWindow = WINDOWS.map((name) => asCount(model[name])).find((tokens) => tokens !== undefined && tokens > 0);
    return [{ id, ...(contextWindow !== undefined && { contextWindow }) }];
  });
}
