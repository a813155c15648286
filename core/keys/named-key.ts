// One key for one application: what it may do, and how it is stored. Pure: no I/O.
import { hash, randomBytes } from 'node:crypto';
import { isObject } from '../base/json.ts';
import type { CoreEvents } from '../bus.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { Asking } from '../gateway/account.ts';
import type { PlaceLimit } from '../gateway/place-limit.ts';
import type { CostsFilter, KeySpend, PeriodSpend } from '../store/port.ts';
import { KEY_RIGHTS } from '../schemas/gateway-api.ts';
import type { CostsReport, ShownKey } from '../types.ts';
import { type Bounds, boundsOf, checkedFigures, type Figures, isFigure, type KeyLimits } from './key-limits.ts';
import type { KeyRates } from './key-rates.ts';

/** A key as it is stored. */
export interface StoredKey extends Omit<ShownKey, 'rev'> {
  /** SHA-256 of the key, base64url. A key has 256 random bits, so a slow hash would add nothing. */
  readonly hash: string;
  /** Until when the bodies of its calls are kept, ISO 8601; undefined for a key that was never debugged. */
  readonly debugUntil?: string | undefined;
}

/** A key, with all limits that hold for it. */
export interface NamedKey extends StoredKey, Bounds {}

/** A key whose group, if it has one, has the limits `ofGroup`. */
export function namedKey(stored: StoredKey, ofGroup?: Figures): NamedKey {
  return { ...stored, ...boundsOf(stored, ofGroup) };
}

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
/** What sums of clients' calls can be by. */
export type GatewayCostsBy = Exclude<CostsReport['by'], 'block' | 'day-block' | 'purpose'>;

/** The accounts of the gateway's clients. */
export interface Accounts {
  /** Sums of the calls that are kept, of all days or of some. Rejects with INVALID_REQUEST naming the field. */
  costs(by: GatewayCostsBy, filter?: Omit<CostsFilter, 'block'>): Promise<CostsReport>;
  /** What a key has spent on this UTC day. */
  spentToday(key: string): Promise<KeySpend>;
  /** What a key or a group has spent on this UTC day, in its week and in its month. */
  spent(kind: 'key' | 'group', name: string): Promise<PeriodSpend>;
  /** As in `ClientAccounts`. */
  check(asking: Asking, isRequest: boolean): readonly PlaceLimit[] | undefined;
  /**
   * The same for a request that asks a block. Nothing is reserved for it later, so its caps are looked at here, also where their book must be read or asked first. Resolves with
   * the KEY_CAP_REACHED that a new message gets: one that was sent before is not sent again, and its answer is paid. Rejects with what else `check` throws, and while the book can't be read.
   */
  checkForBlock(asking: Asking): Promise<BlockhouseError | undefined>;
  /** What is left of the limits by the minute of a key and its group; undefined if they have none. */
  rates(key: NamedKey): KeyRates | undefined;
}

/** What the processes that ask for room know of a key besides. */
export interface KeyLevels {
  /** What is used of its limits by the minute, and of those of its group. */
  readonly used: readonly number[];
  /** Tokens of a mean answer; undefined without an answer that is known. */
  readonly meanOutput?: number | undefined;
}

/** The accounts for several processes. */
export interface SharedAccounts extends Accounts {
  /** Undefined if there is no such key. */
  levels(key: string): KeyLevels | undefined;
}

/** How every key begins; the token of the workspace begins with `bh_`. */
export const KEY_PREFIX = 'bhk_';
const FORM = /^bhk_[A-Za-z0-9_-]{43}$/;
const HASH = /^[A-Za-z0-9_-]{43}$/;
const MAX_MODELS = 100;
const MAX_MODEL_CHARACTERS = 256;

/** A new key: `bhk_` and 256 random bits. */
export function newKey(): string {
  return `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`;
}

/** The hash under which a key is stored; undefined for a text that is no key. */
export function hashOfKey(presented: string): string | undefined {
  return FORM.test(presented) ? hash('sha256', presented, 'base64url') : undefined;
}

/** Throws INVALID_REQUEST naming the field. */
export function checkedLimits(limits: Partial<KeyLimits>): KeyLimits {
  return {
    ...checkedFigures(limits),
    group: groupName(limits.group),
    models: patterns(limits.models),
    rights: rights(limits.rights),
    ...trusted(limits.trusted),
    blocks: blockPatterns(limits.blocks),
    expiresAt: time(limits.expiresAt),
  };
}

/** Throws INVALID_REQUEST. */
export function assertKeyName(name: unknown, field = 'name'): asserts name is string {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw invalidRequest(field, 'must have 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and begin and end with a letter or digit');
  }
}

function groupName(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  assertKeyName(value, 'group');
  return value;
}

function patterns(value: unknown): readonly string[] | null {
  if (value === undefined || value === null) return null;
  const isPattern = (one: unknown): boolean => typeof one === 'string' && one !== '' && one.length <= MAX_MODEL_CHARACTERS;
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_MODELS || !value.every(isPattern)) {
    throw invalidRequest('models', `must be a list of 1 to ${MAX_MODELS} model names, in which * stands for any characters`);
  }
  return [...value] as string[];
}

/** Keys of earlier versions have none. */
function rights(value: unknown): KeyLimits['rights'] {
  if (value === undefined || value === null) return [];
  const isRight = (one: unknown): one is (typeof KEY_RIGHTS)[number] => KEY_RIGHTS.some((right) => right === one);
  if (!Array.isArray(value) || !value.every(isRight)) throw invalidRequest('rights', `must be a list of ${KEY_RIGHTS.join(', ')}`);
  return [...new Set(value)];
}

/** Stored only where it is true. */
function trusted(value: unknown): { readonly trusted?: boolean } {
  if (value === undefined) return {};
  if (typeof value !== 'boolean') throw invalidRequest('trusted', 'must be true or false');
  return { trusted: value };
}

const BLOCK_PATTERN = /^[a-z0-9*-]{1,32}$/;

function blockPatterns(value: unknown): readonly string[] | null {
  if (value === undefined || value === null) return null;
  const isPattern = (one: unknown): boolean => typeof one === 'string' && BLOCK_PATTERN.test(one);
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_MODELS || !value.every(isPattern))
    throw invalidRequest('blocks', `must be a list of 1 to ${MAX_MODELS} names of blocks, in which * stands for any characters`);
  return [...value] as string[];
}

/** True if the key may ask a block as a model, whether there is such a block or not. A key that has the right to MCP alone has a list of blocks for that alone. */
export function mayAskBlock({ rights, blocks }: Pick<KeyLimits, 'rights' | 'blocks'>, block: string): boolean {
  if (!rights.includes('blocks') && (blocks === null || rights.includes('mcp'))) return false;
  return isAmong(blocks, block);
}

/** True if the key may reach a block over MCP, whether there is such a block or not. */
export function mayReachBlock({ rights, blocks }: Pick<KeyLimits, 'rights' | 'blocks'>, block: string): boolean {
  return rights.includes('mcp') && isAmong(blocks, block);
}

function isAmong(blocks: KeyLimits['blocks'], block: string): boolean {
  return blocks === null || blocks.some((pattern) => fits(pattern, block));
}

function time(value: unknown, field = 'expiresAt'): string | null {
  if (value === undefined || value === null) return null;
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw invalidRequest(field, 'must be a time such as 2026-12-31T00:00:00Z');
  return new Date(ms).toISOString();
}

/** What a stored key may have besides limits in figures; each version has written only what stands here. */
const STORED_FIELDS: ReadonlySet<string> = new Set(['name', 'hash', 'createdAt', 'group', 'models', 'rights', 'trusted', 'blocks', 'expiresAt', 'debugUntil']);

/** Reads a stored key. Throws an Error that says what is wrong: a field that a key can't have may be a limit that would not hold. */
export function parseKey(value: unknown): StoredKey {
  if (!isObject(value)) throw new Error('each key must be an object');
  const { name, hash, createdAt } = value;
  assertKeyName(name);
  if (typeof hash !== 'string' || !HASH.test(hash)) throw new Error(`the hash of ${name} must be 43 characters of base64url`);
  if (typeof createdAt !== 'string' || Number.isNaN(Date.parse(createdAt))) throw new Error(`createdAt of ${name} must be a time`);
  const other = Object.keys(value).find((field) => !isFigure(field) && !STORED_FIELDS.has(field));
  if (other !== undefined) throw new Error(`${other.slice(0, 64)} of ${name} is not a field that a key can have`);
  const debugUntil = time(value['debugUntil'], 'debugUntil');
  return { name, hash, createdAt, ...(debugUntil !== null && { debugUntil }), ...checkedLimits(value as Partial<KeyLimits>) };
}

/** Reads the limits of a stored group. Throws an Error that says what is wrong: a limit that a group can't have would not hold. */
export function parseGroup(name: string, value: unknown): Figures {
  assertKeyName(name, 'the name of a group');
  if (!isObject(value)) throw new Error(`groups.${name} must be an object`);
  const other = Object.keys(value).find((field) => !isFigure(field));
  if (other !== undefined) throw new Error(`groups.${name}.${other.slice(0, 64)} is not a limit that a group can have`);
  return checkedFigures(value as Partial<Figures>);
}

/** True if the account of a call is to be held while it is under way: a cap, or the refusal of unknown prices. */
export function isHeld({ capsUsd, capsTokens, refusesUnpriced }: Bounds): boolean {
  return capsUsd || capsTokens || refusesUnpriced;
}

/** Throws KEY_FORBIDDEN unless the key may ask for a model under one of its names. */
export function assertMayUse(key: NamedKey, model: string): void {
  if (!mayUse(key, model)) throw mayNotUse(key, model);
}

/** Throws KEY_FORBIDDEN unless the key may ask for the model, if there is one, under its full name, or under the name by which the client has asked for it. */
export function assertMayAskFor(key: NamedKey, { askedAs, adapterId, model }: Asking): void {
  if (model === undefined || mayUseOf(key, adapterId, model) || (askedAs !== undefined && mayUse(key, askedAs))) return;
  throw mayNotUse(key, askedAs ?? `${adapterId}/${model}`);
}

function mayNotUse({ name, models }: NamedKey, model: string): BlockhouseError {
  return new BlockhouseError('KEY_FORBIDDEN', `The key ${name} may not use the model ${JSON.stringify(model)}; it may use ${models?.join(', ')}.`);
}

/** True if the key may ask for a model under this name. */
export function mayUse({ models }: Pick<KeyLimits, 'models'>, model: string): boolean {
  return models === null || patternsOf(models).pieces.some((pieces) => fitsPieces(pieces, model));
}

/** True if a key may ask for a model under its full name. A client mostly asks for the same one as before, and each request asks here several times. */
export function mayUseOf({ models }: Pick<KeyLimits, 'models'>, adapterId: string, model: string): boolean {
  if (models === null) return true;
  if (asked.models !== models) asked = { models, patterns: patternsOf(models) };
  const { patterns } = asked;
  const { last } = patterns;
  if (last !== undefined && last.model === model && last.adapterId === adapterId) return last.may;
  const may = mayUse({ models }, `${adapterId}/${model}`);
  patterns.last = { adapterId, model, may };
  return may;
}

/** The patterns of a list, at their stars: a list of models may be compared with tens of thousands of names. */
interface Patterns {
  readonly pieces: readonly (readonly string[])[];
  /** What was asked last. */
  last?: { readonly adapterId: string; readonly model: string; readonly may: boolean };
}

const knownPatterns = new WeakMap<readonly string[], Patterns>();

/** The list that was asked last: each request asks it several times. */
let asked: { readonly models: readonly string[]; readonly patterns: Patterns } = { models: [], patterns: { pieces: [] } };

function patternsOf(models: readonly string[]): Patterns {
  const known = knownPatterns.get(models);
  if (known !== undefined) return known;
  const patterns = { pieces: models.map((pattern) => pattern.split('*')) };
  knownPatterns.set(models, patterns);
  return patterns;
}

/** True if a name has the form of a pattern, in which * stands for any characters. Compares piece by piece: a regular expression made of many `*` could take very long. */
export function fits(pattern: string, name: string): boolean {
  const star = pattern.indexOf('*');
  if (star === -1) return name === pattern;
  if (star === pattern.length - 1) return name.startsWith(pattern.slice(0, star)); // most patterns
  return fitsPieces(pattern.split('*'), name);
}

function fitsPieces(pieces: readonly string[], name: string): boolean {
  const [first = ''] = pieces;
  if (!name.startsWith(first)) return false;
  if (pieces.length === 1) return name.length === first.length;
  const last = pieces.at(-1) ?? '';
  let at = first.length;
  for (let index = 1; index < pieces.length - 1; index += 1) {
    const piece = pieces[index] ?? '';
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** What a call gets whose key is gone. */
export function noSuchKey(name: string): BlockhouseError {
  return new BlockhouseError('KEY_FORBIDDEN', `There is no key ${name}, or it has expired or was revoked. \`blockhouse key ls\` lists the keys.`);
}

/** What is told once the line of a call stands in the ledger. */
export function countedFact(end: CoreEvents['call.finished'], costUsd: number | null): CoreEvents['call.counted'] {
  const { call, requestId, key = null, adapter: provider, model, usage = null, code: error = null } = end;
  return { call, requestId, key, provider, model, usage, costUsd, error };
}
