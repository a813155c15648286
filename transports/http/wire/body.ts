// Reads the body of a request: JSON, or bytes of a named media type.
//
// The headers are checked first: length, media type, charset and content-encoding. Only then does a client that sent
// `Expect: 100-continue` get its 100. Reading stops at the limit, and at `bodyStallMs` without a byte. A body with too many
// JSON values is refused before it is parsed, because parsing it would hold up the event loop. A large one is parsed in slices, while others are served.
//
// room-first: a body of more than FREE_BODY_BYTES has its room (body-room.ts) before it is read, one of unknown length while it is read, and a smaller one while it
//   waits to be parsed.
// room-to-parse: the values of a body of more than LIGHT_BODY_BYTES have their room, too, before they are parsed.
// not-in-one-go: many bodies can end in the same packet's time; each of more than FREE_BODY_BYTES is parsed in a turn of its own, callers one after the other, and
//   smaller ones as long as the turn has room for them.
// all-at-once: a small body comes in the same packet as its head. It is then taken in one piece, without the listeners and the timer of a body that comes in
//   parts, which cost as much as its parsing.
import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Chunks } from '../../../core/base/chunks.ts';
import { jsonSize, MAX_JSON_VALUES, MAX_OBJECT_FIELDS, parseJson } from '../../../core/base/json.ts';
import { type JsonOutline, newOutline } from '../../../core/base/json-members.ts';
import { parseInSlices, TooMuchJson } from '../../../core/base/json-slices.ts';
import { hasRoom, nextTurn, sharedTurn } from '../../../core/base/next-turn.ts';
import { ReusedTimer } from '../../../core/base/reused-timer.ts';
import { BlockhouseError, invalidRequest, type NamedKey } from '../../../core/index.ts';
import { notJson, notUtf8, shredded, tooLarge, tooManyValues, tooMuch } from './body-faults.ts';
import { type BodyShare, callerOf, FREE_BODY_BYTES, FREE_VALUES, parsedShareOf, shareOf, VALUE_BYTES } from './body-room.ts';
import { noteBodyLeft, noteBodyRead } from './connection-reads.ts';
import type { RouteContext, ServerContext } from './route.ts';

const MIB = 1024 * 1024;
/** The largest body of `POST /v1/chat`, in bytes. */
export const CHAT_BODY_BYTES = 10 * MIB;
/** The largest body of the compatible endpoints: the histories of coding agents have screenshots in them. */
export const COMPATIBLE_BODY_BYTES = 32 * MIB;
/** The most JSON values there: with many tools and long histories, those of coding agents have more than other bodies. */
export const COMPATIBLE_JSON_VALUES = 300_000;
/** The largest body of every other JSON route, in bytes. */
export const OTHER_BODY_BYTES = MIB;
/** The largest archive that `POST /api/import` takes, in bytes. */
export const IMPORT_BODY_BYTES = 64 * MIB;

/** Each chunk costs the parser about a microsecond, whatever it holds: a megabyte in chunks of one byte would hold up everybody for seconds. */
const MAX_SMALL_CHUNKS = 10_000;
const SMALL_CHUNK_BYTES = 32;
/** Fewer, or smaller ones, are read within a moment. */
const NOTED_PIECES = 256;
const NOTED_BYTES = 16_384;

/**
 * True for a body of so many chunks that are very small on the average: its client means to hold up the server. Each piece of a body with a Content-Length is a
 * read of its own, which costs the client as much.
 */
export function isShredded({ headers }: Pick<IncomingMessage, 'headers'>, chunks: number, bytes: number): boolean {
  return headers['content-length'] === undefined && chunks > MAX_SMALL_CHUNKS && bytes < chunks * SMALL_CHUNK_BYTES;
}

/** Larger bodies are parsed in slices, since one piece would hold up the event loop for longer than some milliseconds. */
const LARGE_BODY_BYTES = MIB;
/** From here on, the event loop turns between the steps of a request. */
const STEPPED_BODY_BYTES = MIB / 4;

/** In smaller bodies, values are not counted. */
const LIGHT_BODY_BYTES = 8192;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The part of a request's context that reading its body needs. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly server: Pick<ServerContext, 'bodyStallMs' | 'bodies'>;
  readonly key?: NamedKey | undefined;
  readonly tap?: RouteContext['tap'];
}

/**
 * The JSON value of a body of at most `limit` bytes. An empty body is `undefined` when `optional`, and INVALID_REQUEST otherwise. Rejects with
 * BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, REQUEST_TIMEOUT, or CANCELLED when the client leaves.
 */
export async function readJsonBody(exchange: Exchange, limit: number, optional: boolean): Promise<unknown> {
  if (!hasBody(exchange.req) && optional) return undefined;
  const bytes = await receiveJson(exchange, limit);
  if (bytes.length === 0 && optional) return undefined;
  if (bytes.length > LARGE_BODY_BYTES) return parseLarge(bytes, MAX_JSON_VALUES, exchange);
  await turnFor(exchange, bytes);
  if (bytes.length > LIGHT_BODY_BYTES) await roomToParse(exchange, bytes, MAX_JSON_VALUES);
  return parse(bytes);
}

/** The body of a compatible endpoint: its bytes as they came, and their value. */
export interface CompatibleBody {
  readonly bytes: Buffer;
  readonly value: unknown;
  /** Of a large body. */
  readonly outline?: JsonOutline;
  /** Set if the steps of the request take some milliseconds each: lets others be served between them. */
  readonly turn: (() => Promise<void>) | undefined;
}

/** Reads the body of a compatible endpoint. `anyType` takes every media type. Rejects as `readJsonBody` does. */
export async function readCompatibleBody(exchange: Exchange, anyType = false): Promise<CompatibleBody> {
  const bytes = await receiveJson(exchange, COMPATIBLE_BODY_BYTES, anyType);
  const caller = callerOf(exchange);
  const turn = bytes.length > STEPPED_BODY_BYTES ? () => nextTurn(caller) : undefined;
  if (bytes.length <= LARGE_BODY_BYTES) {
    await turnFor(exchange, bytes);
    if (bytes.length > LIGHT_BODY_BYTES) await roomToParse(exchange, bytes, COMPATIBLE_JSON_VALUES);
    return { bytes, value: parse(bytes), turn };
  }
  const outline = newOutline();
  return { bytes, value: await parseLarge(bytes, COMPATIBLE_JSON_VALUES, exchange, outline), outline, turn };
}

/** not-in-one-go. Rejects with QUEUE_FULL, or with CANCELLED when the client has left meanwhile. */
async function turnFor(exchange: Exchange, bytes: Buffer): Promise<void> {
  const caller = callerOf(exchange);
  if (bytes.length > FREE_BODY_BYTES) await nextTurn(caller);
  else if (hasRoom()) return;
  else {
    const share = shareOf(exchange); // room-first
    await share.reserve(bytes.length);
    await sharedTurn(caller);
    share.settle(bytes.length);
  }
  if (exchange.res.destroyed) throw new BlockhouseError('CANCELLED', 'The client closed the connection before its request was read.');
}

/** room-to-parse. Rejects as `turnFor` does, and with INVALID_REQUEST for too many values. */
async function roomToParse(exchange: Exchange, bytes: Buffer, most: number): Promise<void> {
  const limits = { values: most, fields: MAX_OBJECT_FIELDS };
  const { values, exceeded } = jsonSize(bytes, limits);
  if (exceeded === 'fields' || exceeded === 'values') throw tooManyValues(exceeded, limits[exceeded]);
  if (values <= FREE_VALUES) return;
  const share = parsedShareOf(exchange);
  const reserved = share.reserve(values * VALUE_BYTES);
  const waits = share.bytes === 0;
  await reserved;
  if (waits) await turnFor(exchange, bytes);
}

function receiveJson(exchange: Exchange, limit: number, anyType = false): Promise<Buffer> {
  const { req } = exchange;
  assertLength(req, limit);
  if (!hasBody(req)) throw invalidRequest('', 'The body is empty; send a JSON object.');
  // The usual header needs no parsing.
  if (req.headers['content-type'] !== 'application/json' || req.headers['content-encoding'] !== undefined) {
    if (anyType) assertNotEncoded(req);
    else assertCharset(assertType(req, 'application/json'));
  }
  const { tap } = exchange;
  if (tap === undefined) return receive(exchange, limit);
  return receive(exchange, limit).then((bytes) => {
    tap.request(bytes);
    return bytes;
  });
}

/**
 * Reads the bytes of a body whose media type fits, when the returned function is called. What its headers say is judged at once: throws BODY_TOO_LARGE and
 * UNSUPPORTED_MEDIA_TYPE. The reading rejects as that of other bodies does.
 */
export function deliveryReader(exchange: Exchange, limit: number, types: RegExp): () => Promise<Uint8Array> {
  const { req } = exchange;
  assertLength(req, limit);
  assertNotEncoded(req);
  const [type = ''] = (req.headers['content-type'] ?? '').split(';');
  if (!types.test(type.trim().toLowerCase())) throw new BlockhouseError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as JSON, as a form or as text.');
  return async () => (hasBody(req) ? receive(exchange, limit, 'deliveries') : Buffer.alloc(0)); // nobody knows yet who sends it
}

/** Throws when the headers alone show that the body is missing, has another media type than `type`, or is longer than `limit` bytes. */
export function assertBytes(req: IncomingMessage, limit: number, type: string): void {
  assertLength(req, limit);
  if (!hasBody(req)) throw invalidRequest('', `The body is empty; send ${type}.`);
  assertType(req, type);
}

/**
 * The bytes of a body of this media type. Rejects as `readJsonBody` does; an empty body is INVALID_REQUEST.
 */
export async function readBytes(exchange: Exchange, limit: number, type: string): Promise<Uint8Array> {
  assertBytes(exchange.req, limit, type);
  const bytes = await receive(exchange, limit);
  if (bytes.length === 0) throw invalidRequest('', `The body is empty; send ${type}.`);
  return bytes;
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

async function receive(exchange: Exchange, limit: number, caller?: string): Promise<Buffer> {
  const { req, res, server } = exchange;
  const announced = req.headers['content-length'];
  const share = announced !== undefined && Number(announced) <= FREE_BODY_BYTES ? undefined : shareOf(exchange, caller);
  if (announced !== undefined && share !== undefined) await share.reserve(Number(announced)); // room-first
  // HTTP/1.0 has no interim answers.
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
  await undefined; // all-at-once: the parser hands the body over right after the head
  const whole = takeWhole(req);
  if (whole !== undefined) return whole;
  // What has its room may be allocated at once, and is then copied once.
  const chunks = new Chunks(share === undefined || announced === undefined ? 0 : Number(announced));
  const bytes = await collect(req, limit, chunks, server.bodyStallMs, share);
  share?.settle(bytes.length);
  return bytes;
}

/** The steps in which a body of unknown length takes its room. */
function nextStep(bytes: number, limit: number): number {
  return bytes <= FREE_BODY_BYTES ? FREE_BODY_BYTES : bytes <= OTHER_BODY_BYTES ? OTHER_BODY_BYTES : limit;
}

/** Set on a request whose whole body was taken before Node has noted its end. */
const IS_TAKEN = Symbol('the whole body is taken');

/** True if nothing of the body can come any more. */
export function isRead(req: IncomingMessage & { readonly [IS_TAKEN]?: true }): boolean {
  return req.complete || req[IS_TAKEN] === true;
}

/** all-at-once: the body, if all of it has arrived. */
function takeWhole(req: IncomingMessage & { [IS_TAKEN]?: true }): Buffer | undefined {
  const arrived = req.readableLength;
  if (arrived === 0 || Number(req.headers['content-length']) !== arrived) return undefined;
  req[IS_TAKEN] = true;
  return req.read() as Buffer;
}

/** An announced length beyond the limit is refused before anything is read. */
function assertLength(req: IncomingMessage, limit: number): void {
  if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

/** The parameters of the media type, in lower case. */
function assertType(req: IncomingMessage, wanted: string): readonly string[] {
  assertNotEncoded(req);
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== wanted) throw new BlockhouseError('UNSUPPORTED_MEDIA_TYPE', `Send the body with the header content-type: ${wanted}.`);
  return parameters;
}

function assertNotEncoded({ headers: { 'content-encoding': encoding } }: IncomingMessage): void {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new BlockhouseError('UNSUPPORTED_MEDIA_TYPE', `Send the body without content-encoding (it is ${JSON.stringify(encoding.slice(0, 64))}).`);
}

function assertCharset(parameters: readonly string[]): void {
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') throw new BlockhouseError('UNSUPPORTED_MEDIA_TYPE', 'Send the body in UTF-8.');
}

function collect(req: IncomingMessage, limit: number, chunks: Chunks, stallMs: number, share: BodyShare | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const silence = silenceOf(req.socket);
    let pieces = 0;
    const refuse = (failure: BlockhouseError): void => {
      req.pause();
      forget();
      reject(failure);
    };
    const take = (chunk: Buffer): void => {
      silence.refresh();
      if (chunks.bytes + chunk.length > limit) {
        refuse(tooLarge(limit));
        return;
      }
      chunks.add(chunk);
      pieces += 1;
      notePiece(req, chunk, pieces, chunks.bytes);
      if (isShredded(req, pieces, chunks.bytes)) refuse(shredded(MAX_SMALL_CHUNKS, SMALL_CHUNK_BYTES));
      else if (share !== undefined && chunks.bytes > Math.max(share.bytes, FREE_BODY_BYTES)) waitForRoom(share);
    };
    /** room-first: the time of the wait is not the client's. */
    const waitForRoom = (owner: BodyShare): void => {
      req.pause();
      silence.stop(stall);
      owner.reserve(nextStep(chunks.bytes, limit)).then(
        () => {
          silence.start(stallMs, stall);
          req.resume();
        },
        (failure: BlockhouseError) => refuse(failure),
      );
    };
    const stall = (): void => refuse(new BlockhouseError('REQUEST_TIMEOUT', `No data of the body arrived for ${stallMs / 1000} s.`));
    const finish = (): void => {
      noteBodyRead(req.socket); // thousands of headers may stand behind a body
      forget();
      resolve(chunks.join());
    };
    const leave = (): void => {
      forget();
      reject(new BlockhouseError('CANCELLED', 'The client closed the connection before the body was complete.', { cause: req.errored }));
    };
    /** The request object lives as long as its answer, which may be a long stream, and these listeners would keep the body in memory for that time. */
    const forget = (): void => {
      silence.stop(stall);
      noteBodyLeft(req.socket, 0);
      req.off('data', take);
      req.off('end', finish);
      req.off('close', leave);
    };
    if (req.destroyed) {
      leave();
      return;
    }
    silence.start(stallMs, stall);
    req.on('data', take).on('end', finish).on('close', leave);
  });
}

/** So many pieces and bytes of the body have come, this one last. */
function notePiece({ socket, headers }: IncomingMessage, piece: Buffer, pieces: number, bytes: number): void {
  noteBodyLeft(socket, Number(headers['content-length'] ?? 0) - bytes);
  if (pieces % NOTED_PIECES === 0 || piece.length >= NOTED_BYTES) noteBodyRead(socket);
}

const silences = new WeakMap<Socket, ReusedTimer>();

/** The bodies of a connection come one after the other, so one timer serves them all. */
function silenceOf(socket: Socket): ReusedTimer {
  const known = silences.get(socket);
  if (known !== undefined) return known;
  const silence = new ReusedTimer();
  silences.set(socket, silence);
  return silence;
}

function parse(bytes: Buffer): unknown {
  let text: string;
  try {
    text = isAscii(bytes) ? bytes.toString('latin1') : utf8.decode(bytes); // three times as fast, and most bodies are plain ASCII
  } catch (error) {
    throw notUtf8(error);
  }
  try {
    return parseJson(text);
  } catch (error) {
    throw notJson(error as Error, text);
  }
}

/** Like `parse`, in slices. Ends with CANCELLED when the client has left meanwhile. */
async function parseLarge(bytes: Buffer, values: number, exchange: Exchange, outline = newOutline()): Promise<unknown> {
  if (!isUtf8(bytes)) throw notUtf8();
  const share = parsedShareOf(exchange);
  const turn = async (): Promise<void> => {
    await share.reserve(outline.values * VALUE_BYTES); // room-to-parse
    await nextTurn(callerOf(exchange));
    if (exchange.res.destroyed) throw new BlockhouseError('CANCELLED', 'The client closed the connection before its request was read.');
  };
  try {
    const value = await parseInSlices(bytes, { values, fields: MAX_OBJECT_FIELDS, outline, turn, encoding: isAscii(bytes) ? 'latin1' : 'utf8' });
    await share.reserve(outline.values * VALUE_BYTES); // of its last slice
    return value;
  } catch (error) {
    if (error instanceof TooMuchJson) throw tooMuch(error.message);
    throw error instanceof SyntaxError ? notJson(error) : error;
  }
}

/** How long the rest of a refused body may arrive before its connection is cut. */
const DISCARD_MS = 1000;

/**
 * Reads the rest of a refused body and drops it, for a second at most: a client that is still sending would get a reset instead of the refusal. One that
 * sends chunks of next to nothing gets the reset.
 */
export function discard(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(resolve, DISCARD_MS);
    let chunks = 0;
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      chunks += 1;
      bytes += chunk.length;
      if (chunks % NOTED_PIECES === 0 || chunk.length >= NOTED_BYTES) noteBodyRead(req.socket);
      if (isShredded(req, chunks, bytes)) req.socket.destroy();
    });
    req.resume();
    for (const event of ['end', 'close'])
      req.once(event, () => {
        clearTimeout(cut);
        resolve();
      });
  });
}
