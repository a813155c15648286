// MCP over standard input and output, for programs that start their servers of tools: each line is a request to /mcp of the running server.
//
// protocol-only: nothing goes to the output but messages of the protocol, each on a line.
// each-answered: a request gets one answer, also when the server is gone, refuses it, or its line is too long; a notification gets none.
// side-by-side: a wait for a block holds up no other request, and cancelling it ends the wait. So many are under way at most; others wait for their turn.
// cancel-is-read: while requests wait for their turn, what comes is read on, so that a request can be cancelled whatever is under way. Where very many wait, no more is
//   read until one has its answer, which takes 50 s at most.
// to-the-end: when the input ends, what is under way is answered before the program ends. No wait of a tool is longer than 50 s.
import type { Readable, Writable } from 'node:stream';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { oneLine, write } from '../terminal/output.ts';
import type { Client } from './client.ts';

/** What the server takes at once. */
const MAX_LINE_BYTES = 1024 * 1024;
const MAX_UNDER_WAY = 64;
const MAX_WAITING = 1024;
/** Of what is under way and what waits; the former alone has 64 MiB at most. */
const MAX_HELD_BYTES = 96 * 1024 * 1024;
/** Where the id of a request is looked for whose line is too long. */
const GLIMPSE_BYTES = 512;
const MAX_HEADER_CHARACTERS = 1024;
const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** How many requests may be under way and how many may wait for their turn, and how much may be held, before no more is read. */
export interface Most {
  readonly underWay: number;
  readonly waiting: number;
  readonly heldBytes: number;
}

interface Line {
  readonly bytes: Buffer;
  /** Set for a line of which the end is missing. */
  readonly isCut: boolean;
}

type Id = string | number | null;

/** What is under way, or waits for its turn, by the id of its request. */
class UnderWay {
  readonly all = new Set<Promise<void>>();
  readonly #byId = new Map<unknown, AbortController>();
  readonly #turns = new Set<() => void>();
  readonly #most: Most;
  #working = 0;
  #bytes = 0;

  constructor(most: Most) {
    this.#most = most;
  }

  /** cancel-is-read. */
  get isFull(): boolean {
    return this.#turns.size >= this.#most.waiting || this.#bytes >= this.#most.heldBytes;
  }

  /** `work` is begun when its turn has come, and not at all if it is cancelled before. `bytes`: what it holds. */
  add(id: unknown, bytes: number, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
    if (id !== undefined) this.#byId.set(id, controller);
    this.#bytes += bytes;
    const done = this.#inTurn(controller.signal, work).finally(() => {
      this.#bytes -= bytes;
      this.all.delete(done);
      if (this.#byId.get(id) === controller) this.#byId.delete(id);
    });
    this.all.add(done);
  }

  async #inTurn(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#working < this.#most.underWay) this.#working += 1;
    else if (!(await this.#turn(signal))) return;
    await work(signal);
    const [next] = this.#turns;
    if (next === undefined) this.#working -= 1;
    else next();
  }

  /** False for one that is cancelled before its turn. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isMine: boolean): void => {
        this.#turns.delete(begin);
        resolve(isMine);
      };
      const begin = (): void => end(true);
      this.#turns.add(begin);
      signal.addEventListener('abort', () => end(false), { once: true });
    });
  }

  cancel(id: unknown): void {
    this.#byId.get(id)?.abort();
  }
}

/** Passes on what comes until the input ends and all of it is answered. `key` is sent in place of the token. `most` is for tests. */
export async function bridgeMcp(
  client: Client,
  { input, output, key, most = {} }: { readonly input: Readable; readonly output: Writable; readonly key?: string | undefined; readonly most?: Partial<Most> },
): Promise<void> {
  const underWay = new UnderWay({ underWay: MAX_UNDER_WAY, waiting: MAX_WAITING, heldBytes: MAX_HELD_BYTES, ...most });
  const headers = { accept: 'application/json, text/event-stream', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const failures: unknown[] = [];
  for await (const line of linesOf(input)) {
    const message = line.isCut ? undefined : tryParseJson(line.bytes.toString());
    if (isObject(message) && message['method'] === 'notifications/cancelled') {
      underWay.cancel(isObject(message['params']) ? message['params']['requestId'] : undefined);
      continue;
    }
    const id = isObject(message) && 'method' in message ? message['id'] : undefined;
    underWay.add(id, line.bytes.length, async (signal) => {
      try {
        const answer = await answerTo(client, { line, message, headers, signal });
        if (answer !== undefined) await write(output, `${answer}\n`);
      } catch (error) {
        failures.push(error);
      }
    });
    while (underWay.isFull) await Promise.race(underWay.all); // cancel-is-read
    if (failures.length > 0) break;
  }
  await Promise.all(underWay.all); // to-the-end
  if (failures.length > 0) throw failures[0];
}

interface Passed {
  readonly line: Line;
  readonly message: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The line to write; undefined for none (each-answered). */
async function answerTo(client: Client, { line: { bytes, isCut }, message, headers, signal }: Passed): Promise<string | undefined> {
  if (isCut) return failure(glimpsedId(bytes), -32600, `The message is longer than ${MAX_LINE_BYTES} bytes.`);
  if (message === undefined) return failure(null, -32700, 'The line is not valid JSON.');
  const isRequest = Array.isArray(message) || (isObject(message) && 'method' in message && 'id' in message);
  const id = isObject(message) ? idOf(message['id']) : null;
  try {
    const options = { bytes, type: 'application/json', headers: { ...headers, ...headersOf(message) }, hurry: false };
    const { status, bytes: answer } = await client.withSignal(AbortSignal.any([client.signal, signal])).exchange('POST', '/mcp', options);
    if (!isRequest) return undefined;
    return status < 400 ? answer.toString().replaceAll('\n', ' ') : refusal(id, status, tryParseJson(answer.toString()));
  } catch (error) {
    if (signal.aborted) return undefined; // a request that is cancelled gets no answer
    if (!(error instanceof CliError)) throw error;
    return isRequest ? failure(id, -32000, oneLine(error.message)) : undefined;
  }
}

/** The error of the server, under the id of the request: the server does not know it where it has not read the request. */
function refusal(id: Id, status: number, answer: unknown): string {
  if (isObject(answer) && isObject(answer['error'])) return JSON.stringify({ ...answer, id: answer['id'] ?? id });
  return failure(id, -32000, `The server has answered with status ${status}.`);
}

function failure(id: Id, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

/** What a request of the revision without sessions repeats in its headers. */
function headersOf(message: unknown): Readonly<Record<string, string>> {
  if (!isObject(message) || !isObject(message['params'])) return {};
  const { method, params } = message;
  const version = isObject(params['_meta']) ? params['_meta'][VERSION] : undefined;
  if (version === undefined) return {};
  return {
    ...header('mcp-protocol-version', version),
    ...header('mcp-method', method),
    ...header('mcp-name', method === 'tools/call' ? params['name'] : undefined),
  };
}

/** None for what no header can hold; the server then says what is missing. */
function header(name: string, value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'string' || value.length > MAX_HEADER_CHARACTERS) return {};
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?');
  return { [name]: isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=` };
}

function idOf(id: unknown): Id {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function glimpsedId(bytes: Buffer): Id {
  const [, text] = /"id"\s*:\s*(-?\d{1,15}|"[^"\\]{0,256}")/.exec(bytes.subarray(0, GLIMPSE_BYTES).toString('latin1')) ?? [];
  return text === undefined ? null : idOf(tryParseJson(text));
}

/** The lines of a stream, without blank ones. Of one that is too long, the beginning. */
async function* linesOf(input: Readable): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (part: Buffer): void => {
    if (size <= MAX_LINE_BYTES) parts.push(part);
    size += part.length;
  };
  const whole = (): Line => {
    const line = { bytes: Buffer.concat(parts), isCut: size > MAX_LINE_BYTES };
    parts = [];
    size = 0;
    return line;
  };
  const isBlank = ({ bytes }: Line): boolean => bytes.length < 3 && bytes.toString().trim() === '';
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      take(bytes.subarray(from, end));
      from = end + 1;
      const line = whole();
      if (!isBlank(line)) yield line;
    }
    take(bytes.subarray(from));
  }
  const last = whole();
  if (!isBlank(last)) yield last;
}
