// Hands the bytes of an answer on as they come, and reads only what must be known of it: usage, its end, an error.
//
// whole-frames: a stream goes out in whole frames, so that a comment or an error can stand between two of them.
// never-looks-whole: a stream that ends without its end mark is an error.
// bounded: a frame and a whole answer have a cap.
// no-echo: headers, error answers and frames with an error go out without the secrets of the call. What a model writes goes out as it is.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockhouseError, Chunks, type ForwardCall, membersOf, type ProviderFault, secretsOf, skipBlanks, tryParseJson } from '../core/index.ts';
import type { UpstreamHandler } from './http.ts';
import { withoutMark } from './lines.ts';
import type { Protocol } from './protocol.ts';
import { cutShort, malformed, type Provider } from './provider.ts';
import { type ErrorAnswer, fromProviderError, kindOfStatus, type ProviderError } from './provider-errors.ts';
import { redact, redactJson } from './redact.ts';
import { BodyCollector, toError } from './response-handlers.ts';

/** Some frames repeat the whole request. */
const FRAME_BYTES = 32 * 1024 * 1024;
const LF = 10;
const COLON = 58;
const NULL = Buffer.from('null');
const COMMENT = /^\s*(?::|$)/;
/** What begins an escape of any kind. */
const ESCAPES = /[\\%&]/;
const BORDERS = ['\n\n', '\r\n\r\n', '\r\r'].map((border) => Buffer.from(border));

/** Passes one answer on. */
export class ForwardHandler implements UpstreamHandler {
  readonly #provider: Provider;
  readonly #protocol: Protocol;
  readonly #call: ForwardCall;
  readonly #marks: Marks;
  /** The body of an error or of a whole answer. */
  #body: BodyCollector | undefined;
  #headers: Record<string, string> = {};
  #hasBegun = false;
  /** The beginning of a frame. */
  readonly #pending = new Chunks();
  #isEnded = false;
  #mayEnd = false;
  #error: ProviderError | undefined;

  constructor(provider: Provider, protocol: Protocol, call: ForwardCall) {
    this.#provider = provider;
    this.#protocol = protocol;
    this.#call = call;
    this.#marks = marksOf(protocol);
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    const secrets = this.#secrets();
    this.#headers = pick(headers, this.#protocol.answerHeaders, secrets);
    const type = headers['content-type'] ?? 'application/json';
    if (type.startsWith('text/event-stream') && status >= 200 && status < 300) return;
    this.#headers['content-type'] = withoutEcho(type, secrets);
    this.#body = new BodyCollector();
    this.#body.head(status, headers);
  }

  data(chunk: Buffer): boolean {
    if (this.#body !== undefined) return this.#body.data(chunk);
    if (this.#pending.bytes + chunk.length > FRAME_BYTES) throw malformed(`it has a frame of more than ${FRAME_BYTES} bytes`); // bounded
    // A frame has a line feed only at the ends of its lines, so most pieces of a long one need no search.
    if (this.#pending.bytes > 0 && chunk.indexOf(LF) < 0) {
      this.#pending.add(chunk);
      return true;
    }
    const bytes = this.#pending.bytes === 0 ? chunk : this.#pending.join(chunk);
    this.#pending.clear();
    const end = endOfFrames(bytes);
    if (end < bytes.length) this.#pending.add(end === 0 ? bytes : bytes.subarray(end));
    return end === 0 || this.#pass(end === bytes.length ? bytes : bytes.subarray(0, end)); // whole-frames
  }

  onceWritable(resume: () => void): void {
    this.#call.sink.onceWritable(resume);
  }

  get complete(): boolean {
    return this.#body?.complete ?? (this.#isEnded || this.#error !== undefined);
  }

  end(): void {
    if (this.#body === undefined) this.#endStream();
    else this.#endWhole(this.#body);
  }

  broken(): void {
    const bytes = this.#body?.answerBytes ?? this.#pending.bytes;
    if (bytes > 0) this.#call.sink.unread(bytes);
  }

  #endStream(): void {
    if (this.#pending.bytes > 0) {
      // A last frame may lack its empty line.
      const rest = this.#pending.join();
      this.#pending.clear();
      const facts = this.#read(rest);
      if (facts.isCut && !this.#isEnded) throw cutShort('the rest of a frame'); // never-looks-whole
      if (facts.isKept && (this.#isEnded || this.#mayEnd || this.#error !== undefined)) this.#put(facts.clean ?? rest);
    }
    if (this.#error !== undefined) throw this.#fault(this.#error, this.#hasBegun ? 'sent' : undefined);
    if (!this.#isEnded && !this.#mayEnd) throw cutShort('its end mark'); // never-looks-whole
  }

  /** False asks for a pause. */
  #pass(frames: Buffer): boolean {
    if (!saysMore(frames, this.#marks)) return this.#put(frames);
    let kept = true;
    const parts: Buffer[] = [];
    for (let from = 0; from < frames.length; ) {
      const to = endOfFirstFrame(frames, from);
      const frame = frames.subarray(from, to);
      const { isKept, clean } = this.#read(frame);
      // The provider reports its failure before any part of the answer, so another attempt may follow.
      if (this.#error !== undefined && !this.#hasBegun && parts.length === 0) throw this.#fault(this.#error, undefined);
      kept &&= isKept && clean === undefined;
      if (isKept) parts.push(clean ?? frame);
      from = to;
    }
    if (kept) return this.#put(frames);
    return parts.length === 0 || this.#put(Buffer.concat(parts));
  }

  #put(bytes: Buffer): boolean {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#call.sink.head(this.#headers, true);
    }
    return this.#call.sink.bytes(bytes);
  }

  /** `clean`: what goes out instead of a frame with an error (no-echo). */
  #read(frame: Buffer): { readonly isKept: boolean; readonly isCut: boolean; readonly clean?: Buffer } {
    const text = withoutMark(frame.toString('utf8'));
    const data = dataOf(text);
    if (data === undefined) return { isKept: true, isCut: !COMMENT.test(text) };
    const { usage, isEnd, mayEnd, isCut = false, error, isUsageOnly } = this.#protocol.readFrame(data);
    if (usage !== undefined) this.#call.sink.usage(usage);
    if (isEnd === true) this.#isEnded = true;
    if (mayEnd === true) this.#mayEnd = true;
    if (error !== undefined) this.#error = error;
    const clean = error === undefined ? undefined : cleanFrame(text, tryParseJson(data) !== undefined, this.#secrets());
    return { isKept: isUsageOnly !== true || !this.#call.request.hidesUsage, isCut, ...(clean !== undefined && { clean }) };
  }

  #endWhole(body: BodyCollector): void {
    if (body.isError) throw this.#statusFault(body.answer());
    const bytes = body.bytes();
    this.#call.sink.usage(this.#protocol.readUsage(this.#membersIn(bytes)));
    this.#call.sink.head(this.#headers, false);
    this.#call.sink.bytes(bytes);
  }

  #membersIn(bytes: Buffer): Readonly<Record<string, unknown>> {
    try {
      return membersIn(bytes, this.#protocol.answerMembers);
    } catch (error) {
      this.broken();
      throw error;
    }
  }

  /** The client must not take a refusal of our credentials for one of its own, nor a redirect or a page of a proxy for an answer. */
  #statusFault(answer: ErrorAnswer): BlockhouseError {
    const failure = toError(this.#provider, this.#call, answer);
    if (failure.code === 'UPSTREAM_AUTH' || kindOfStatus(answer.status) === 'auth' || answer.status < 400 || answer.json === undefined) return failure;
    const secrets = this.#secrets();
    const headers = Object.fromEntries(Object.entries(this.#headers).map(([name, value]) => [name, redact(value, secrets)]));
    return withFault(failure, { status: answer.status, headers, body: Buffer.from(redactJson(answer.text, secrets)) }); // no-echo
  }

  #secrets(): string[] {
    return secretsOf(this.#provider.settings, this.#call.settings);
  }

  #fault(error: ProviderError, providerFault: ProviderFault | undefined): BlockhouseError {
    const secrets = this.#secrets();
    const mayHaveRun = this.#hasBegun || error.mayHaveRun === true;
    return withFault(fromProviderError(error, { name: this.#provider.displayName, secrets, mayHaveRun }), providerFault);
  }
}

/** Some members of a whole answer. The rest is not parsed, since it goes out as it is. Throws UPSTREAM_MALFORMED for what is no JSON object, or a part of one. */
function membersIn(bytes: Buffer, names: readonly string[]): Record<string, unknown> {
  const members = membersOf(bytes, names);
  if (members === undefined) throw malformed(bytes.length === 0 ? 'it is empty' : 'it is not a JSON object');
  const values: Record<string, unknown> = {};
  for (const { name, start, end } of members) values[name] = tryParseJson(bytes.toString('utf8', start, end));
  return values;
}

/** What makes a frame worth reading, as bytes. */
interface Marks {
  readonly texts: readonly Buffer[];
  /** Names of members, in their quotes. */
  readonly members: readonly Buffer[];
}

const knownMarks = new WeakMap<Protocol, Marks>();

/** Made once for each protocol. */
function marksOf(protocol: Protocol): Marks {
  const known = knownMarks.get(protocol);
  if (known !== undefined) return known;
  const marks = {
    texts: protocol.marks.map((mark) => Buffer.from(mark)),
    members: (protocol.members ?? []).map((name) => Buffer.from(JSON.stringify(name))),
  };
  knownMarks.set(protocol, marks);
  return marks;
}

/** False for frames of which only their bytes matter, as most do. */
function saysMore(frames: Buffer, { texts, members }: Marks): boolean {
  for (const text of texts) if (frames.indexOf(text) >= 0) return true;
  for (const name of members) {
    for (let at = frames.indexOf(name); at >= 0; at = frames.indexOf(name, at + name.length)) if (!isNull(frames, at + name.length)) return true;
  }
  return false;
}

/** True if the member whose name ends here is surely null. Servers write JSON with any blanks, and one that spans several data lines is read to be sure. */
function isNull(frames: Buffer, nameEnd: number): boolean {
  const colon = skipBlanks(frames, nameEnd);
  if (frames[colon] !== COLON) return false;
  const start = skipBlanks(frames, colon + 1);
  return frames.subarray(start, start + NULL.length).equals(NULL);
}

function withFault(failure: BlockhouseError, providerFault: ProviderFault | undefined): BlockhouseError {
  if (providerFault === undefined) return failure;
  const { code, message, retryAfterMs, upstreamStatus, retryable, mayHaveRun } = failure;
  return new BlockhouseError(code, message, {
    providerFault,
    retryable,
    mayHaveRun,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(upstreamStatus !== undefined && { upstreamStatus }),
  });
}

function pick(headers: IncomingHttpHeaders, wanted: RegExp, secrets: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string' && wanted.test(name)) picked[name] = withoutEcho(value, secrets);
  }
  return picked;
}

/** no-echo. This runs for every answer, and hardly any header needs more than a look. */
function withoutEcho(value: string, secrets: readonly string[]): string {
  return ESCAPES.test(value) || secrets.some((secret) => value.includes(secret)) ? redact(value, secrets) : value;
}

/** Behind the last frame that is complete; 0 if there is none. */
function endOfFrames(bytes: Buffer): number {
  let end = 0;
  for (const border of BORDERS) {
    const at = bytes.lastIndexOf(border);
    if (at >= 0) end = Math.max(end, at + border.length);
  }
  return end;
}

function endOfFirstFrame(bytes: Buffer, from: number): number {
  let end = bytes.length;
  for (const border of BORDERS) {
    const at = bytes.indexOf(border, from);
    if (at >= 0) end = Math.min(end, at + border.length);
  }
  return end;
}

/** A frame without secrets (no-echo); undefined if it had none. Strings of JSON don't span lines. */
function cleanFrame(frame: string, isJson: boolean, secrets: readonly string[]): Buffer | undefined {
  const clean = frame.replace(/[^\r\n]+/g, (line) => (isJson && line.startsWith('data:') ? redactJson(line, secrets) : redact(line, secrets)));
  return clean === frame ? undefined : Buffer.from(clean);
}

/** The data lines of a frame, joined; undefined for a comment. */
function dataOf(frame: string): string | undefined {
  const lines = frame.split(/\r\n|\n|\r/).flatMap((line) => (line.startsWith('data:') ? [line.slice(line[5] === ' ' ? 6 : 5)] : []));
  return lines.length === 0 ? undefined : lines.join('\n');
}
