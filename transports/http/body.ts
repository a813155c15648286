// Reads a body, JSON or bytes of a named type, or says why not.
//
// B1 Reading stops at the limit; nothing beyond it is kept.
// B2 A client that asked (Expect: 100-continue) is told to go on only when its headers promise an acceptable body.
// B3 Only the type that the route takes is taken, JSON in plain UTF-8: no other type, charset or content-encoding.
// B4 What would take long to parse is refused before it is parsed.
// B5 A sender that is silent for too long is refused, however much of the body is there.
import { isAscii } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlockhouseError, Chunks, holdsMoreThan, invalidRequest, MAX_JSON_VALUES, parseJson } from '../../core/index.ts';
import type { ServerContext } from './route.ts';

const MIB = 1024 * 1024;
export const CHAT_BODY_BYTES = 10 * MIB;
export const OTHER_BODY_BYTES = MIB;
export const IMPORT_BODY_BYTES = 64 * MIB;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** As much of a request's context as it takes to read its body. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly server: Pick<ServerContext, 'bodyStallMs'>;
}

/** An empty body is `undefined` where `optional`, a 400 elsewhere. */
export async function readJsonBody(exchange: Exchange, limit: number, optional: boolean): Promise<unknown> {
  const { req } = exchange;
  assertLength(req, limit);
  if (!hasBody(req) && optional) return undefined;
  if (!hasBody(req)) throw invalidRequest('', 'The body is empty; send a JSON object.');
  // As nearly every client writes it.
  if (req.headers['content-type'] !== 'application/json' || req.headers['content-encoding'] !== undefined) {
    assertCharset(assertType(req, 'application/json')); // B3
  }
  const bytes = await receive(exchange, limit);
  if (bytes.length === 0 && optional) return undefined;
  return parse(bytes);
}

/** Throws for a body that its headers alone refuse: none, one of another type than this, or a longer one. */
export function assertBytes(req: IncomingMessage, limit: number, type: string): void {
  assertLength(req, limit);
  if (!hasBody(req)) throw invalidRequest('', `The body is empty; send ${type}.`);
  assertType(req, type); // B3
}

/** The bytes of a body of this media type, for few callers at once: room for all that is announced is set aside. An empty one is a 400. */
export async function readBytes(exchange: Exchange, limit: number, type: string): Promise<Uint8Array> {
  assertBytes(exchange.req, limit, type);
  const bytes = await receive(exchange, limit, new Chunks(Number(exchange.req.headers['content-length'] ?? 0)));
  if (bytes.length === 0) throw invalidRequest('', `The body is empty; send ${type}.`);
  return bytes;
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

function receive({ req, res, server }: Exchange, limit: number, chunks = new Chunks()): Promise<Buffer> {
  // HTTP/1.0 knows no interim answers.
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue(); // B2
  return collect(req, limit, chunks, server.bodyStallMs);
}

/** An announced length beyond the limit is refused before anything is read. */
function assertLength(req: IncomingMessage, limit: number): void {
  if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

/** The parameters of the media type, in lower case. */
function assertType(req: IncomingMessage, wanted: string): readonly string[] {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new BlockhouseError('UNSUPPORTED_MEDIA_TYPE', `Send the body without content-encoding (it is ${JSON.stringify(encoding.slice(0, 64))}).`);
  }
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== wanted) throw new BlockhouseError('UNSUPPORTED_MEDIA_TYPE', `Send the body with the header content-type: ${wanted}.`);
  return parameters;
}

function assertCharset(parameters: readonly string[]): void {
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') throw new BlockhouseError('UNSUPPORTED_MEDIA_TYPE', 'Send the body in UTF-8.');
}

function collect(req: IncomingMessage, limit: number, chunks: Chunks, stallMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = (failure: BlockhouseError): void => {
      req.pause();
      forget();
      reject(failure);
    };
    const take = (chunk: Buffer): void => {
      silence.refresh();
      if (chunks.bytes + chunk.length > limit)
        refuse(tooLarge(limit)); // B1
      else chunks.add(chunk);
    };
    // B5
    const silence = setTimeout(() => refuse(new BlockhouseError('REQUEST_TIMEOUT', `No byte of the body arrived for ${stallMs / 1000} s.`)), stallMs);
    const finish = (): void => {
      forget();
      resolve(chunks.join());
    };
    const leave = (): void => {
      forget();
      reject(new BlockhouseError('CANCELLED', 'The client left before its body was complete.', { cause: req.errored }));
    };
    /** The request lives as long as its answer, which may be a stream: listeners would keep the body for as long. */
    const forget = (): void => {
      clearTimeout(silence);
      req.off('data', take);
      req.off('end', finish);
      req.off('close', leave);
    };
    req.on('data', take);
    req.on('end', finish);
    req.on('close', leave);
  });
}

function parse(bytes: Buffer): unknown {
  if (holdsMoreThan(bytes, MAX_JSON_VALUES)) throw invalidRequest('', `The body holds more than ${MAX_JSON_VALUES} JSON values; send fewer.`); // B4
  let text: string;
  try {
    text = isAscii(bytes) ? bytes.toString('latin1') : utf8.decode(bytes); // three times as fast, and most bodies are plain ASCII
  } catch (error) {
    throw new BlockhouseError('INVALID_REQUEST', 'The body is not valid UTF-8.', { cause: error, details: [{ path: '', message: 'is not valid UTF-8' }] });
  }
  try {
    return parseJson(text);
  } catch (error) {
    const where = /position \d+/.exec((error as Error).message)?.[0];
    throw new BlockhouseError('INVALID_REQUEST', `The body is not valid JSON${where === undefined ? '' : ` (at ${where})`}.`, {
      cause: error,
      details: [{ path: '', message: 'is not valid JSON' }],
    });
  }
}

function tooLarge(limit: number): BlockhouseError {
  return new BlockhouseError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes.`);
}
