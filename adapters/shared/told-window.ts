// How much a server can read, where it tells that beside its list of models. Pure but for the question.
import { BlockhouseError, type ListedModel, type Preset, type ResolvedSettings } from '../../core/index.ts';
import { joinURL } from './base-url.ts';
import type { FetchJson } from './provider.ts';
import { asCount, asObject } from './read.ts';

/** The version at the end of a base URL. */
const VERSION = /\/v\d+$/;

/** The list, with the window that the server tells in one place for the models whose entry has none. A server that does not tell it keeps its list. */
export async function withToldWindow(
  list: readonly ListedModel[],
  { path, field }: NonNullable<Preset['window']>,
  { values }: ResolvedSettings,
  fetchJson: FetchJson,
): Promise<readonly ListedModel[]> {
  if (values['baseURL'] === undefined || list.every((model) => model.contextWindow !== undefined)) return list;
  try {
    const told = await fetchJson(joinURL(values['baseURL'], path, VERSION));
    const contextWindow = asCount(field.split('.').reduce<unknown>((inner, name) => asObject(inner)[name], told));
    return contextWindow === undefined || contextWindow === 0 ? list : list.map((model) => ({ contextWindow, ...model }));
  } catch (error) {
    if (!(error instanceof BlockhouseError) || error.code === 'INTERNAL_ERROR') throw error;
    return list; // an older server, or one that keeps it to itself
  }
}
