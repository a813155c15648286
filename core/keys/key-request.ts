// What the key of an application may send, by tables that say of each field of a protocol what it decides. Pure: no I/O.
//
// no-address: no key says where a call goes, by which secret, or who pays for it; in no field, in none that nests in another, and in no name of a model.
// nothing-unseen: with a key that has limits, no field passes that could spend without being counted, or that names a model which was not checked.
// one-reading: bytes that pass as they are mean the same to every parser: no member stands twice, and none is a field in other letters.
import { isObject } from '../base/json.ts';
import { type JsonOutline, repeatedMember } from '../base/json-members.ts';
import { BlockhouseError } from '../errors.ts';
import { DATA } from '../gateway/request-data.ts';
import type { ChatConfig } from '../schemas/chat.ts';
import { type FieldEffect, type FieldRule, folded, type RequestFields, ruleOf } from './field-rules.ts';
import { fits, type NamedKey } from './named-key.ts';
import { isTooDeep, nestedAddress } from './nested-address.ts';

/** A request whose bytes go to a provider as they came. */
export interface PassedRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  /** Begins with `?`, or is empty. */
  readonly search: string;
  /** Of the bytes, if they were scanned before. */
  readonly outline?: JsonOutline | undefined;
}

const ADDRESS: FieldRule = { decides: 'address' };

/** The settings of a request of `/v1/chat` and of `/v1/adapters/{provider}/verify`. */
export const CONFIG_FIELDS = {
  maxTokens: 'answer',
  temperature: 'answer',
  cacheControl: 'answer',
  cacheKey: 'answer',
  topP: 'answer',
  topK: 'answer',
  stop: 'answer',
  seed: 'answer',
  presencePenalty: 'answer',
  frequencyPenalty: 'answer',
  parallelToolCalls: 'answer',
  logprobs: 'answer',
  topLogprobs: 'answer',
  serviceTier: { decides: 'price', except: ['auto', 'default', 'standard', 'standard_only', 'flex'] },
  user: 'answer',
  metadata: 'answer',
  output: 'answer',
  reasoning: 'answer',
  region: ADDRESS,
  baseURL: ADDRESS,
  apiKey: ADDRESS,
  accessKeyId: ADDRESS,
  secretAccessKey: ADDRESS,
  sessionToken: ADDRESS,
} as const satisfies Record<keyof ChatConfig, 'answer' | FieldRule>;

interface Bound {
  /** True if the keys of this kind may not decide it. */
  binds(key: NamedKey): boolean;
  /** Why, and what to do. */
  readonly reason: string;
}

const hasCap = ({ capsUsd, countsTokens }: NamedKey): boolean => capsUsd || countsTokens;
const hasLimits = (key: NamedKey): boolean => hasCap(key) || key.models !== null;
const BOUNDS: Readonly<Record<FieldEffect, Bound>> = {
  address: {
    binds: () => true,
    reason: 'the key of an application does not choose where a call goes, by which secret, or who pays. Leave it out, or use the token of the workspace',
  },
  models: {
    binds: ({ models, capsUsd }) => models !== null || capsUsd,
    reason: 'it can name other models than the one that is checked and priced. Leave it out, or use a key without a list of models and without a cap in USD',
  },
  price: {
    binds: ({ capsUsd }) => capsUsd,
    reason: 'it changes the price, and the key has a cap in USD. Leave it out, or use a key without one',
  },
  unseen: {
    binds: hasCap,
    reason:
      'it brings input that is stored at the provider, which nobody here can count before the answer says it, and the key has a cap. Send the whole conversation, or use a key without a cap',
  },
  spends: {
    binds: hasLimits,
    reason: 'what it costs is not among the tokens that are counted, and the key has limits. Leave it out, or use a key without limits',
  },
};
const UNKNOWN = 'nobody here knows whether it names a model, and the key has a list of models. Leave it out, or use a key without such a list';
const TOO_DEEP = 'it nests so deep that an address could hide in it. Send less depth, or use the token of the workspace';
const TWICE = 'it stands twice in one object, and providers differ in which one counts. Write it once';

/** The parameters of a URL that pass: they choose a version of the protocol. */
const PARAMETERS: ReadonlySet<string> = new Set(['beta', 'api-version']);
/** Some servers divide parameters at a semicolon, so a value is a plain word, or a list of words. */
const VERSION = /^[\w.,:-]*$/;
/** Tools and contents of messages nest deeper only to hide something. */
const MAX_LEVELS = 20;

/** Checks a request of which only understood fields go on: no-address, and the price. Throws KEY_FORBIDDEN naming the field. */
export function assertMayAsk(key: NamedKey, fields: RequestFields, body: unknown, at = ''): void {
  if (!isObject(body)) return;
  assertModelIsName(key, body['model']);
  for (const name in body) {
    const rule = ruleOf(fields, name);
    if (rule?.decides === 'address' || rule?.decides === 'price') assertDecidesNothing(key, rule, body[name], at + name);
  }
}

/** Checks a request that passes as it is: no-address, nothing-unseen, one-reading. Throws KEY_FORBIDDEN naming the field. */
export function assertMayPass(key: NamedKey, fields: RequestFields, { body, bytes, search, outline }: PassedRequest): void {
  const twice = repeatedMember(bytes, body, outline);
  if (twice !== undefined) throw forbidden(key, twice, TWICE); // one-reading
  assertModelIsName(key, body['model']);
  for (const name in body) {
    const rule = ruleOf(fields, name);
    if (rule !== undefined) assertDecidesNothing(key, rule, body[name], name);
    const nested = nestedAddress(fields, name, body[name]);
    if (nested !== undefined) throw forbidden(key, nested, isTooDeep(nested) ? TOO_DEEP : BOUNDS.address.reason); // no-address
    if (rule?.holdsRequests === true) assertHeld(key, fields, body[name], name);
    if (Object.hasOwn(fields, name)) continue;
    const plain = folded(name);
    if (Object.hasOwn(fields, plain)) throw forbidden(key, name, `some providers read it as ${plain}. Write ${plain}`); // one-reading
    if (key.models !== null && holdsText(body[name])) throw forbidden(key, name, UNKNOWN); // nothing-unseen
  }
  assertLabels(key, fields, body['metadata']);
  for (const [name, value] of new URLSearchParams(search))
    if (!PARAMETERS.has(name) || !VERSION.test(value)) throw forbidden(key, `The query parameter ${name.slice(0, 64)}`, BOUNDS.address.reason); // no-address
}

/** A router of models searches the web for the answer, and charges for each search; or it adds stored settings, which bring tools along. */
const SUFFIXES = /(?::online|@preset)(?![\p{L}\p{N}_-])/iu;
const SEVERAL = 'a proxy may ask each model of a list with commas, and the key has limits. Name one model, or use a key without limits';

/** A longer one would be kept for as long as no other comes. */
const MAX_LAST_NAME = 256;
/** The name that was found to be one last: most requests name the same model as the one before. */
let lastName = '';

/** Some proxies take the address of a server or a list of models as the name of a model, and some routers take what plugins do as its suffix. Throws KEY_FORBIDDEN. */
export function assertModelIsName(key: NamedKey, model: unknown, path = 'model'): void {
  if (typeof model !== 'string' || model === lastName) return;
  if (model.includes('://')) throw forbidden(key, path, BOUNDS.address.reason);
  if (!hasLimits(key)) return;
  if (model.includes(',')) throw forbidden(key, path, SEVERAL);
  const suffix = SUFFIXES.exec(model)?.[0];
  if (suffix !== undefined) throw forbidden(key, path, `${suffix} brings a search or tools along, and ${BOUNDS.spends.reason}`);
  if (model.length <= MAX_LAST_NAME) lastName = model;
}

/** Labels are plain values. Some proxies take fields of a request from among them, as lists or objects. */
function assertLabels(key: NamedKey, fields: RequestFields, metadata: unknown): void {
  if (!isObject(metadata)) return;
  for (const name in metadata) {
    const rule = typeof metadata[name] === 'object' ? ruleOf(fields, name) : undefined;
    if (rule !== undefined) assertDecidesNothing(key, rule, metadata[name], `metadata.${name}`);
    if (rule?.holdsRequests === true) assertHeld(key, fields, metadata[name], `metadata.${name}`);
  }
}

/** What is read of the request itself, so that its usage is asked for and its answer can be estimated. */
const READ_HERE: ReadonlySet<string> = new Set(['stream', 'stream_options', 'n', 'max_tokens', 'max_completion_tokens', 'max_output_tokens']);
const AGAIN =
  'a proxy may put it in the place of the field at the top, which is read here, and the key has limits. Write it at the top, or use a key without limits';

/** Checks the fields of requests within a request. Its addresses and its depth are checked before. Data of the application is left out, because its names mean nothing here. */
function assertHeld(key: NamedKey, fields: RequestFields, value: unknown, path: string): void {
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) assertHeld(key, fields, value[index], `${path}[${index}]`);
  else if (isObject(value)) {
    for (const name in value) {
      const rule = ruleOf(fields, name);
      if (rule !== undefined) assertDecidesNothing(key, rule, value[name], `${path}.${name}`);
      if (READ_HERE.has(folded(name)) && value[name] !== null && hasLimits(key)) throw forbidden(key, `${path}.${name}`, AGAIN);
      if (folded(name) === 'model') assertModelIsName(key, value[name], `${path}.${name}`);
      if (!DATA.has(name)) assertHeld(key, fields, value[name], `${path}.${name}`);
    }
  }
}

function assertDecidesNothing(key: NamedKey, rule: FieldRule, value: unknown, path: string): void {
  const { binds, reason } = BOUNDS[rule.decides];
  if (!binds(key)) return;
  const place = decidingPlace(rule, value, path);
  if (place !== undefined) throw forbidden(key, place, reason);
}

/** The path of the part that decides something; undefined if no part does. */
function decidingPlace(rule: FieldRule, value: unknown, path: string): string | undefined {
  return rule.members === undefined ? placeOfValue(rule, value, path) : placeIn(value, path, rule.members, (inner, at) => placeOfValue(rule, inner, at));
}

function placeOfValue({ except = [], types, parts, within }: FieldRule, value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (types !== undefined) {
    const known = { types, parts };
    return within === undefined ? placeOfType(known, value, path, MAX_LEVELS) : placeWithin(known, within, value, path, MAX_LEVELS);
  }
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.every((one) => except.includes(one)) ? undefined : path;
}

/** Members that hold one tool. All others hold lists, and an object in the place of a list could have tools in members of any names. */
const ONE_TOOL: ReadonlySet<string> = new Set(['tool', 'definition']);

/** Of the objects of a list, what decides nothing. */
interface Known {
  readonly types: readonly string[];
  readonly parts: readonly string[] | undefined;
}

/** The first object of a list that has another type or part, those in its own lists included. */
function placeOfType(known: Known, value: unknown, path: string, levels: number, isOne = false): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || levels === 0) return path;
  if (Array.isArray(value)) return firstPlace(value, path, (one, at) => placeOfType(known, one, at, levels - 1, true));
  if (!isOne) return path;
  const { types, parts } = known;
  const part = parts && Object.entries(value).find(([name, inner]) => isObject(inner) && !parts.includes(folded(name)))?.[0];
  if (part !== undefined) return `${path}.${part}`;
  const other = (type: unknown): boolean => type != null && !(typeof type === 'string' && types.some((pattern) => fits(pattern, type)));
  const ofType = placeIn(value, path, ['type'], (type) => (other(type) ? path : undefined));
  return ofType ?? placeIn(value, path, ['tools', 'tool', 'definition'], (inner, at, name) => placeOfType(known, inner, at, levels - 1, ONE_TOOL.has(name)));
}

/** The same for the lists that stand in messages. */
function placeWithin(known: Known, within: readonly string[], value: unknown, path: string, levels: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return path;
  if (Array.isArray(value)) return firstPlace(value, path, (one, at) => placeWithin(known, within, one, at, levels - 1));
  const ofTools = placeIn(value, path, within, (inner, at, name) => placeOfType(known, inner, at, levels - 1, ONE_TOOL.has(name)));
  return ofTools ?? placeIn(value, path, ['content'], (inner, at) => placeWithin(known, within, inner, at, levels - 1));
}

type Find = (value: unknown, path: string, name: string) => string | undefined;

function firstPlace(values: readonly unknown[], path: string, find: Find): string | undefined {
  for (let index = 0; index < values.length; index += 1) {
    const place = find(values[index], `${path}[${index}]`, '');
    if (place !== undefined) return place;
  }
  return undefined;
}

/** Looks into the members of these names, in whatever letters they are written: one-reading. */
function placeIn(value: unknown, path: string, names: readonly string[], find: Find): string | undefined {
  if (!isObject(value)) return undefined;
  for (const name in value) {
    const known = folded(name);
    const place = names.includes(known) ? find(value[name], `${path}.${name}`, known) : undefined;
    if (place !== undefined) return place;
  }
  return undefined;
}

function holdsText(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => holdsText(inner, levels - 1));
}

function forbidden({ name }: NamedKey, field: string, reason: string): BlockhouseError {
  const message = `may not be sent with the key ${name}: ${reason}`;
  return new BlockhouseError('KEY_FORBIDDEN', `${field.slice(0, 200)} ${message}.`, { details: [{ path: field.slice(0, 200), message }] });
}
