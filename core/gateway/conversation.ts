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
  const turns = firstTurns(body['messages'] ?? body['input'] ?? body['prompt'] ?? body['contents']);
  if (turns === undefined) return undefined;
  const beginning = new Beginning();
  beginning.add([body['tools'], body['system'], body['instructions'], turns], 0);
  return digest(`${beginning.length} ${beginning.text}`);
}

/** Up to the first turn of the user and with it. */
function firstTurns(turns: unknown): unknown {
  if (typeof turns === 'string') return turns;
  if (!Array.isArray(turns) || turns.length === 0) return undefined;
  const first = turns.findIndex((turn) => isObject(turn) && turn['role'] === 'user');
  return first === turns.length - 1 ? turns : turns.slice(0, first + 1 || 1);
}

/** Collects the texts of a value in order. */
class Beginning {
  text = '';
  length = 0;
  #values = 0;

  add(value: unknown, depth: number): void {
    this.#values += 1;
    if (this.#values > MAX_VALUES || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      this.length += value.length;
      for (const one of value) this.add(one, depth + 1);
    } else if (isObject(value)) {
      for (const name in value) {
        if (name === 'cache_control' || name === 'cache') continue; // a mark that moves with the turns
        this.#take(name);
        this.add(value[name], depth + 1);
      }
    } else if (value !== undefined) this.#take(String(value));
  }

  /** bounded. */
  #take(text: string): void {
    this.length += text.length;
    const room = MAX_CHARACTERS - this.text.length;
    if (room > 0) this.text += `${text.length <= room ? text : text.slice(0, room)}\n`;
  }
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64');
}
