// The models that can be called, and what a person may choose from while typing a name.
import type { PriceList } from '../../../core/types.ts';
import type { Connection } from './connections.ts';
import { get, inOneTurn } from './http.ts';

/** A model of a provider. */
export interface Model {
  readonly id: string;
  readonly adapter: string;
}

/** More do not help who looks for one. */
const MOST_OPTIONS = 40;

/** Rejects with an ApiError. */
export const readModels = inOneTurn(async () => (await get<{ readonly models: readonly Model[] }>('/api/models')).models);

/** An alias has the name that it was given; a model's own begins with its provider. */
const isAlias = ({ id, adapter }: Model): boolean => !id.startsWith(`${adapter}/`);

/** provider/model and connection/model of each; the bare ids of one provider or connection with `of`. An alias is no model of a provider, and is left out. */
export function modelNames(models: readonly Model[], of?: string): readonly string[] {
  const full = models.flatMap((model) => (isAlias(model) ? [] : [model.id]));
  return of === undefined ? full : full.flatMap((name) => (name.startsWith(`${of}/`) ? [name.slice(of.length + 1)] : []));
}

/** The price and the window of a model, null where they are not known. Rejects with an ApiError. */
export async function readFacts(model: string) {
  const [shown] = (await get<PriceList>(`/api/prices?model=${encodeURIComponent(model)}`)).prices;
  return { price: shown?.price ?? null, contextWindow: shown?.contextWindow ?? null };
}

/** Something to choose. */
export interface Option {
  readonly value: string;
  readonly isReady: boolean;
  /** Of a provider or connection: how many models its list has. */
  readonly models?: number;
  /** True for a provider whose models come next. */
  readonly leadsOn: boolean;
  readonly isAlias?: boolean;
}

interface Asked {
  readonly models: readonly Model[];
  readonly connections: readonly Connection[];
  readonly text: string;
  readonly of?: string | undefined;
  readonly isProvider?: boolean;
  readonly hasAliases?: boolean;
}

/** What fits a text: providers and connections until one stands there, those first that are ready and have a list, aliases, and then models whose names have all of its words. */
export function optionsFor({ models, connections, text, of, isProvider = false, hasAliases = false }: Asked): readonly Option[] {
  const words = text.toLowerCase().split(/[\s/]+/);
  const fits = (name: string): boolean => words.every((word) => name.toLowerCase().includes(word));
  const isReady = (name: string): boolean => connections.find((each) => each.name === name)?.ready === true;
  const sources = connections
    .filter(({ name }) => fits(name))
    .map(({ name, ready }) => ({
      value: isProvider ? name : `${name}/`,
      isReady: ready,
      models: modelNames(models, name).length,
      leadsOn: !isProvider,
    }))
    .sort((one, other) => rankOf(other) - rankOf(one));
  if (isProvider) return sources;
  const readyOf = (name: string): boolean => isReady(of ?? name.slice(0, name.indexOf('/')));
  const listed = modelNames(models, of)
    .filter((name) => fits(name) && name !== text)
    .map((value) => ({ value, isReady: readyOf(value), leadsOn: false }));
  const aliases = models
    .filter((model) => hasAliases && isAlias(model) && fits(model.id) && model.id !== text)
    .map(({ id }) => ({ value: id, isReady: true, leadsOn: false, isAlias: true }));
  const isFirst = of === undefined && !text.includes('/');
  const all = [...(isFirst ? sources : []), ...aliases, ...(isFirst && text === '' ? [] : listed)];
  return all.slice(0, MOST_OPTIONS);
}

/** What is ready and has a list comes first, then what is ready. */
function rankOf({ isReady, models = 0 }: Option): number {
  return Number(isReady) * (models > 0 ? 2 : 1);
}
