// Which conversation a request belongs to, as far as it tells: so that its turns go to the same key, or to the same model of an alias. Pure: no I/O.
//
// cheapest-first: What a client says of it itself costs nothing. Only without that, the beginning of the request is hashed: its tools, what the system says, and the whole
//   first turn of the user, since sessions of one project begin alike.
// bounded: At most MAX_CHARACTERS and MAX_VALUES of the beginning are read, and all lengths count.
import { createHash } from 'node:crypto';
import { isObject } from '../base/json.ts';

/** Headers of a client, by their names in lower case. */
export type ClientHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;
type Fields = Readonly<Record<string, unknown>>;

/** In which programs say what session they are in, each under a name of its own. `x-client-request-id` is another one with each request. */
const SESSION_HEADER = /^(?:[a-z]+-){0,4}session(?:[-_](?:id|affinity))?$/;
const MAX_CHARACTERS = 64 * 1024;
const MAX_VALUES = 4096;
const MAX_DEPTH = 32;
const MIXED_CHARACTERS = 1024;
/** What comes before the turns, in the protocols. */
const BEFORE_TURNS = ['tools', 'system', 'instructions'] as const;
/** Longer ids are hashed. */
const MAX_ID = 64;

/** The id of the conversation of a request in any protocol, or of a chat request of ours; undefined for a request without a beginning. */
export function conversationOf(headers: ClientHeaders | undefined, body: Fields): string | undefined {
  const own = headers === undefined ? undefined : textOf(headers['x-blockhouse-session']);
  const id = own ?? cacheKeyIn(body) ?? headerOf(headers) ?? sessionIn(body) ?? conversationIn(body);
  if (id === undefined) return beginningOf(body);
  return id.length <= MAX_ID ? id : digest(id);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function headerOf(headers: ClientHeaders | undefined): string | undefined {
  if (headers === undefined) return undefined;
  for (const name in headers) {
    if (!name.includes('session') || !SESSION_HEADER.test(name)) continue;
    const value = textOf(headers[name]);
    if (value !== undefined) return value;
  }
  return undefined;
}

function cacheKeyIn({ prompt_cache_key, config }: Fields): string | undefined {
  return textOf(prompt_cache_key) ?? (isObject(config) ? textOf(config['cacheKey']) : undefined);
}

/** `metadata.user_id` is that of a person, unless it has a session in it. */
function sessionIn({ metadata, config }: Fields): string | undefined {
  const id = isObject(metadata) ? textOf(metadata['user_id']) : isObject(config) ? textOf(config['user']) : undefined;
  return id?.includes('session') === true ? id : undefined;
}

function conversationIn({ conversation }: Fields): string | undefined {
  return textOf(isObject(conversation) ? conversation['id'] : conversation);
}

/** A digest of the beginning; undefined if there is none. */
function beginningOf(body: Fields): string | undefined {
  const turns = body['messages'] ?? body['input'] ?? body['prompt'] ?? body['contents'];
  const count = turnsBegun(turns);
  if (count === 0) return undefined;
  const beginning = new Beginning();
  for (const name of BEFORE_TURNS) if (body[name] !== undefined) beginning.add(body[name], 0);
  if (Array.isArray(turns)) for (let index = 0; index < count; index += 1) beginning.add(turns[index], 0);
  else beginning.add(turns, 0);
  return beginning.digest();
}

/** How many turns there are up to the first one of the user and with it. */
function turnsBegun(turns: unknown): number {
  if (typeof turns === 'string') return 1;
  if (!Array.isArray(turns)) return 0;
  for (let index = 0; index < turns.length; index += 1) {
    const turn: unknown = turns[index];
    if (isObject(turn) && turn['role'] === 'user') return index + 1;
  }
  return isObject(turns[0]) ? 1 : turns.length; // a list of texts has no turns
}

/**
 * Takes the texts of a value in order, without a copy. Two hashes of 32 bits tell conversations of one client apart; who makes two that are equal gets one key for
 * both. A long text is hashed by a faster function.
 */
class Beginning {
  #one = 0x811c9dc5;
  #two = 0x9747b28c;
  #length = 0;
  #read = 0;
  #values = 0;

  add(value: unknown, depth: number): void {
    this.#values += 1;
    if (this.#values > MAX_VALUES || depth > MAX_DEPTH) return;
    if (typeof value === 'string') this.#take(value);
    else if (Array.isArray(value)) {
      this.#length += value.length;
      for (let index = 0; index < value.length && this.#values <= MAX_VALUES; index += 1) this.add(value[index], depth + 1);
    } else if (isObject(value)) {
      for (const name in value) {
        if (name === 'cache_control' || name === 'cache') continue; // a mark that moves with the turns
        this.#take(name);
        this.add(value[name], depth + 1);
      }
    } else if (value !== undefined) this.#take(String(value));
  }

  /** Six characters and no digits, since a string that is made of one piece costs a third. None of them is half of a pair. */
  digest(): string {
    const [one, two] = [this.#one, this.#two];
    const ends = (one >>> 26) | ((two >>> 26) << 6);
    return String.fromCharCode(unit(one), unit(one >>> 13), unit(two), unit(two >>> 13), unit(ends), unit(this.#length));
  }

  /** bounded. */
  #take(text: string): void {
    this.#length += text.length + 1;
    const room = MAX_CHARACTERS - this.#read;
    if (room <= 0) return;
    const read = text.length <= room ? text : text.slice(0, room);
    this.#read += read.length;
    this.#mix(read.length <= MIXED_CHARACTERS ? read : digest(read));
  }

  #mix(text: string): void {
    let [one, two] = [this.#one, this.#two];
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      one = Math.imul(one ^ code, 0x01000193);
      two = Math.imul(two ^ code, 0x5bd1e995) ^ (two >>> 15);
    }
    this.#one = Math.imul(one ^ 0x1f, 0x01000193);
    this.#two = Math.imul(two ^ 0x1f, 0x5bd1e995);
  }
}

/** A character of 13 bits. */
function unit(bits: number): number {
  return 0x100 + (bits & 0x1fff);
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64');
}
