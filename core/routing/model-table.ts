// What models.json says: aliases, the default provider, and where the native lane is off. Pure: no I/O.
import { nearest } from '../base/closest.ts';
import { isObject } from '../base/json.ts';
import { invalidRequest } from '../errors.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { FALLBACK_CLASSES } from '../schemas/gateway-api.ts';
import type { FallbackClass } from '../gateway/fallback-classes.ts';

/** A model of one provider. */
export interface ModelTarget {
  /** The adapter's own id. */
  readonly adapter: string;
  readonly model: string;
  /** How often it is drawn among its neighbours with a weight; undefined for a model that comes in its turn. */
  readonly weight?: number;
}

/** An alias of one model, or of several that are asked one after the other. */
export interface ModelAlias {
  /** As it is written in the file. With a `*` at its end it is a pattern. */
  readonly name: string;
  readonly targets: readonly ModelTarget[];
  /** The classes of failures after which the next one is asked; undefined for the usual ones. */
  readonly on?: ReadonlySet<FallbackClass>;
}

/** The content of models.json. */
export interface ModelTable {
  /** The adapter's own id. */
  readonly defaultProvider: string | undefined;
  /** Without a `*`, by name. */
  readonly aliases: ReadonlyMap<string, ModelAlias>;
  /** Those that end with `*`, the longest first. */
  readonly patterns: readonly ModelAlias[];
  /** The adapters whose native lane is switched off. */
  readonly translated: ReadonlySet<string>;
}

/** What stands in the place of a provider in the name of a block that is asked as a model: `block/ada`. No connection has this name. */
export const BLOCK_PROVIDER = 'block';

/** True for a block. */
export function isBlockTarget({ adapter }: ModelTarget): boolean {
  return adapter === BLOCK_PROVIDER;
}

/** The block that a name means; undefined for any other name. */
export function blockTarget(name: string): ModelTarget | undefined {
  return name.startsWith('block/') && name.length > BLOCK_PROVIDER.length + 1
    ? { adapter: BLOCK_PROVIDER, model: name.slice(BLOCK_PROVIDER.length + 1) }
    : undefined;
}

/** The id of the adapter that has this name, or the name of a connection; undefined if there is none. */
export type AdapterIdOf = (name: string) => string | undefined;

export const EMPTY_TABLE: ModelTable = { defaultProvider: undefined, aliases: new Map(), patterns: [], translated: new Set() };

const MAX_NAME = 256;
const MAX_TARGETS = 8;

/** A model of an alias as it is written. */
export type AliasTarget = string | { readonly model: string; readonly weight?: number };
/** An alias as it is written: a model, several in turn, or several with their terms. */
export type AliasValue = string | readonly AliasTarget[] | { readonly targets: readonly AliasTarget[]; readonly on?: readonly FallbackClass[] };

/** The JSON form of models.json. */
export interface ModelsDocument {
  readonly defaultProvider?: string;
  readonly aliases?: Readonly<Record<string, AliasValue>>;
  readonly native?: Readonly<Record<string, boolean>>;
}

const MAX_WEIGHT = 1000;
const name = { type: 'string', minLength: 1, maxLength: MAX_NAME } as const;
const target = {
  anyOf: [
    name,
    {
      type: 'object',
      additionalProperties: false,
      required: ['model'],
      properties: { model: name, weight: { type: 'integer', minimum: 1, maximum: MAX_WEIGHT } },
    },
  ],
} as const;
const targets = { type: 'array', minItems: 1, maxItems: MAX_TARGETS, items: target } as const;
const on = { type: 'array', uniqueItems: true, items: { type: 'string', enum: FALLBACK_CLASSES } } as const;

/** The schema of models.json. */
export const ModelsDocument = {
  type: 'object',
  additionalProperties: false,
  properties: {
    defaultProvider: { type: 'string', description: 'The provider of names that nothing else resolves' },
    aliases: {
      type: 'object',
      maxProperties: 1000,
      additionalProperties: {
        anyOf: [name, targets, { type: 'object', additionalProperties: false, required: ['targets'], properties: { targets, on } }],
      },
      description: 'provider/model, a list of them, or targets with weights and on, by the name that clients send. A name may end with *',
    },
    native: { type: 'object', additionalProperties: { type: 'boolean' }, description: 'False translates every request to this provider' },
  },
} as const;

const check: Validator<ModelsDocument> = compile(ModelsDocument);

/** Splits at the first slash if an adapter has the name before it. The rest is the model as it is, slashes included. */
export function splitTarget(name: string, adapterIdOf: AdapterIdOf): ModelTarget | undefined {
  const slash = name.indexOf('/');
  const adapter = slash < 1 ? undefined : adapterIdOf(name.slice(0, slash));
  const model = name.slice(slash + 1);
  return adapter === undefined || model === '' ? undefined : { adapter, model };
}

/** Reads the document. Throws INVALID_REQUEST naming the field. */
export function parseModelTable(document: unknown, adapterIdOf: AdapterIdOf, adapterIds: readonly string[]): ModelTable {
  checkObject(document);
  const provider = (name: string, field: string): string => parseProvider(name, field, adapterIdOf, adapterIds);
  const all = Object.entries(document.aliases ?? {}).map(([name, value]) => parseAlias(name, value, adapterIdOf, adapterIds));
  return {
    defaultProvider: document.defaultProvider === undefined ? undefined : provider(document.defaultProvider, 'defaultProvider'),
    aliases: new Map(all.filter(({ name }) => !name.endsWith('*')).map((alias) => [alias.name, alias])),
    patterns: all.filter(({ name }) => name.endsWith('*')).sort((one, other) => other.name.length - one.name.length),
    translated: new Set(
      Object.entries(document.native ?? {})
        .map(([name, isNative]) => ({ id: provider(name, `native.${name}`), isNative }))
        .filter(({ isNative }) => !isNative)
        .map(({ id }) => id),
    ),
  };
}

/** The id of a provider. Throws INVALID_REQUEST naming `field`. */
export function parseProvider(name: string, field: string, adapterIdOf: AdapterIdOf, adapterIds: readonly string[]): string {
  const id = adapterIdOf(name);
  if (id === undefined) throw invalidRequest(field, `must be one of ${adapterIds.join(', ')}, or a connection of auth.json`);
  return id;
}

function checkObject(document: unknown): asserts document is ModelsDocument {
  if (!isObject(document)) throw invalidRequest('', 'it must hold a JSON object.');
  check(document);
}

/** Throws INVALID_REQUEST. */
export function parseAlias(name: string, value: AliasValue, adapterIdOf: AdapterIdOf, adapterIds: readonly string[]): ModelAlias {
  const field = `aliases[${JSON.stringify(name)}]`;
  if (name === '' || name.length > MAX_NAME || name.trim() !== name) {
    throw invalidRequest(field, `needs a name of 1 to ${MAX_NAME} characters without blanks at its ends`);
  }
  if (name.slice(0, -1).includes('*')) throw invalidRequest(field, 'may have one *, at the end of the name');
  const { targets: written, on } = partsOf(value);
  const targets = written.map((one): ModelTarget => {
    const { model, weight } = typeof one === 'string' ? { model: one } : one;
    const block = blockTarget(model);
    if (block !== undefined) return onlyBlock(block, field, written.length > 1 || weight !== undefined || on !== undefined);
    const split = splitTarget(model, adapterIdOf);
    if (split === undefined) throw invalidRequest(field, targetFault(model, adapterIds));
    return weight === undefined ? split : { ...split, weight };
  });
  return { name, targets, ...(on !== undefined && { on: new Set(on) }) };
}

/** What names of blocks look like. The rule in schemas/names.ts knows more; a file that the start of a server shares with others would cost it some time. */
const BLOCK_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Its answer belongs to its own conversation, so no other model can take its place. */
function onlyBlock(block: ModelTarget, field: string, hasMore: boolean): ModelTarget {
  if (!BLOCK_NAME.test(block.model))
    throw invalidRequest(field, `names the block ${JSON.stringify(block.model.slice(0, MAX_NAME))}, and no block can have this name`);
  if (hasMore) throw invalidRequest(field, `has block/${block.model} beside something else; a block must be the only target, without weights and on`);
  return block;
}

function partsOf(value: AliasValue): { readonly targets: readonly AliasTarget[]; readonly on?: readonly FallbackClass[] | undefined } {
  if (typeof value === 'string') return { targets: [value] };
  return 'targets' in value ? value : { targets: value };
}

function targetFault(target: string, adapterIds: readonly string[]): string {
  const shown = JSON.stringify(target.slice(0, MAX_NAME));
  const slash = target.indexOf('/');
  if (slash < 1) return `must be provider/model; ${shown} is not`;
  const meant = nearest(target.slice(0, slash), adapterIds);
  return `must begin with a provider; ${shown} does not${meant === undefined ? '' : ` (did you mean ${meant}?)`}; the providers are ${adapterIds.join(', ')}, and the connections of auth.json`;
}
