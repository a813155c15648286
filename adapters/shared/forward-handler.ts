// Hands the bytes of an answer on as they come, and reads only what must be known of it: usage, its end, an error.
//
// whole-frames: a stream goes out in whole frames, so that a comment or an error can stand between two of them.
// never-looks-whole: a stream that ends without its end mark is an error.
// bounded: a frame and a whole answer have a cap, and so has a stream for a client that wants the whole answer.
// long-in-turns: of a long whole answer, what is read is parsed in turns of the event loop (long-json.ts).
// searched-once: bytes are searched for the end of their frame when they come, and not again.
// error-is-error: a body or a first frame that says that the request failed is a failure, whatever its status. Nothing of it reaches the client, so another
//   attempt may follow. Comments before it wait for it, since they would open the client's stream.
// no-echo: headers, error answers, whole answers that report a failure, frames with an error, comments, and frames that have nothing of an answer go out without the secrets of the call. A frame
//   with an error that is too long to be searched is replaced by an error of ours. What a model writes goes out as it is.
import type { IncomingHttpHeaders } from 'node:http';
import { Chunks } from '../../core/base/chunks.ts';
import { tryParseJson } from '../../core/base/json.ts';
import { endOfFirstFrame, endOfFrames } from '../../core/base/sse-frames.ts';
import { ANSWER_LIMITS, BlockhouseError, type ForwardCall, type ProviderFault, type ReportedUsage, secretsOf } from '../../core/index.ts';
import type { UpstreamHandler } from '../outbound/client.ts';
import { withoutMark } from '../outbound/lines.ts';
import { longMembersIn, membersIn } from './answer-members.ts';
import { hasOther, type Marks, marksOf, saysMore } from './frame-marks.ts';
import { cleanComments, cleanFrame, dataOf, eventOf, hasComment, LINE_ENDS } from './frame-text.ts';
import { readerOf } from './long-json.ts';
import { type FrameFacts, type Protocol, usageOfWhole } from './protocol.ts';
import { cutShort, malformed, type Provider } from './provider.ts';
import { type ErrorAnswer, fromProviderError, kindOfStatus, type ProviderError } from './provider-errors.ts';
import { assertRecord, shortened } from './read.ts';
import { redact, redactJson } from '../../core/base/redact.ts';
import { BodyCollector, tellsUse, toError, tooLarge } from './response-handlers.ts';

/** Frames with an error that are longer together are not searched for secrets and do not go out: the search of a megabyte takes half a second. */
const ERROR_FRAME_BYTES = 64 * 1024;
/** So much of the other frames of a stream is searched: what no model writes is short. */
const SEARCHED_BYTES = 256 * 1024;
/** More than the comments of any provider before its first frame with data; beyond it, they go out. */
const SILENCE_BYTES = 4096;
const LF = 10;
const CR = 13;
const COMMENT = /^\s*(?::|$)/;
/** What no header may hold: other HTTP servers and terminals obey it. */
const UNFIT = /[^\t\x20-\x7e]/;
const ALL_UNFIT = new RegExp(UNFIT, 'g');
/** HTTP has none above it, and no client knows what one means. */
const LAST_STATUS = 599;
/** Of which each has told what it has used; no server gives as many. */
const MAX_CHOICES = 10_000;
const LONGEST_BORDER = 4; // two empty line ends of CRLF

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
  /** Its last bytes, which may be the beginning of a border. */
  #tail = Buffer.alloc(0);
  #bytes = 0;
  #isEnded = false;
  #mayEnd = false;
  #error: ProviderError | undefined;
  /** Of all frames with an error. */
  #errorBytes = 0;
  /** Of frames without an error that were searched for secrets. */
  #searchedBytes = 0;
  /** The client has got the frame of the error. */
  #isErrorSent = false;
  /** The provider has reported that it worked on the request. */
  #hasUse = false;
  /** What choices have told of themselves. */
  #ofChoices: Map<unknown, ReportedUsage> | undefined;
  /** Comments before the first frame with data (error-is-error). */
  readonly #held = new Chunks();

  constructor(provider: Provider, protocol: Protocol, call: ForwardCall) {
    this.#provider = provider;
    this.#protocol = protocol;
    this.#call = call;
    this.#marks = marksOf(protocol);
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    const secrets = this.#secrets();
    this.#headers = pick(headers, this.#protocol.answerHeaders, secrets, this.#call.settings.endpoint?.hasSeveralKeys);
    const type = headers['content-type'] ?? 'application/json';
    if (type.startsWith('text/event-stream') && status >= 200 && status < 300) return;
    this.#headers['content-type'] = withoutEcho(type, secrets);
    this.#body = new BodyCollector();
    this.#body.head(status, headers);
  }

  data(chunk: Buffer): boolean {
    if (this.#body !== undefined) return this.#body.data(chunk);
    this.#take(chunk.length); // bounded
    const before = this.#pending.bytes;
    if (before === 0) return this.#passFrom(chunk, endOfFrames(chunk));
    // searched-once
    const near = Buffer.concat([this.#tail, chunk]);
    const end = endOfFrames(near);
    if (end === 0) {
      this.#keep(chunk, near);
      return true;
    }
    const bytes = this.#pending.join(chunk);
    this.#pending.clear();
    return this.#passFrom(bytes, before - this.#tail.length + end);
  }

  #take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#pending.bytes + bytes > ANSWER_LIMITS.frame) throw malformed(`it has a frame of more than ${ANSWER_LIMITS.frame} bytes`);
    if (this.#bytes > ANSWER_LIMITS.whole && isForWhole(this.#call.request)) throw tooLarge(ANSWER_LIMITS.whole);
  }

  /** Passes the whole frames and keeps the rest. False asks for a pause. */
  #passFrom(bytes: Buffer, end: number): boolean {
    if (end < bytes.length) this.#keep(bytes.subarray(end), bytes.subarray(end));
    return end === 0 || this.#pass(end === bytes.length ? bytes : bytes.subarray(0, end)); // whole-frames
  }

  /** `near` ends with the bytes. */
  #keep(bytes: Buffer, near: Buffer): void {
    this.#pending.add(bytes);
    this.#tail = Buffer.from(near.subarray(-LONGEST_BORDER + 1));
  }

  onceWritable(resume: () => void): void {
    this.#call.sink.onceWritable(resume);
  }

  get complete(): boolean {
    return this.#body?.complete ?? (this.#isEnded || this.#error !== undefined);
  }

  end(): void | Promise<void> {
    const body = this.#body;
    if (body === undefined) this.#endStream();
    else if (body.isError) throw this.#statusFault(body.answer());
    else if (body.isLong) return this.#endLong(body.bytes());
    else this.#endWhole(body.bytes(), this.#membersIn(body.bytes()));
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
    if (this.#error !== undefined) throw this.#fault(this.#error, this.#hasBegun && this.#isErrorSent ? 'sent' : undefined);
    if (!this.#isEnded && !this.#mayEnd) throw cutShort('its end mark'); // never-looks-whole
  }

  /** False asks for a pause. */
  #pass(frames: Buffer): boolean {
    if (!this.#hasBegun && this.#held.bytes + frames.length <= SILENCE_BYTES && isSilent(frames)) {
      this.#held.add(cleanFrame(frames.toString('utf8'), false, this.#secrets()) ?? frames); // error-is-error
      return true;
    }
    if (!saysMore(frames, this.#marks) && !hasOther(frames, this.#marks)) return this.#put(frames);
    let kept = true;
    let isFirst = !this.#hasBegun;
    const parts: Buffer[] = [];
    for (let from = 0; from < frames.length; ) {
      const to = endOfFirstFrame(frames, from);
      const frame = frames.subarray(from, to);
      const { isKept, clean } = this.#read(frame);
      if (this.#error !== undefined && isFirst) throw this.#fault(this.#error, undefined); // error-is-error
      isFirst &&= isSilent(frame);
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
      if (this.#held.bytes > 0) this.#call.sink.bytes(this.#held.join());
      this.#held.clear();
    }
    return this.#call.sink.bytes(bytes);
  }

  /** `clean`: what goes out instead of a frame with an error (no-echo). */
  #read(frame: Buffer): { readonly isKept: boolean; readonly isCut: boolean; readonly clean?: Buffer } {
    assertFewLines(frame);
    const text = withoutMark(frame.toString('utf8'));
    const data = dataOf(text);
    if (data === undefined) return this.#strange(text, !COMMENT.test(text));
    const { frameMembers } = this.#protocol;
    const record = frameMembers === undefined ? data : shortened(data, frameMembers);
    assertRecord(record); // bounded
    const { usage, ofChoices, isEnd, mayEnd, isCut = false, error, isUsageOnly, answer } = this.#protocol.readFrame(record, eventOf(text));
    if (usage !== undefined) this.#tellUse(usage);
    if (ofChoices !== undefined) this.#tellUseOf(ofChoices);
    if (answer !== undefined) this.#call.sink.answered?.(answer);
    if (isEnd === true) this.#isEnded = true;
    if (mayEnd === true) this.#mayEnd = true;
    if (error !== undefined) return { isCut, ...this.#readError(error, text, data) };
    if (isCut) return this.#strange(text);
    const clean = this.#cleanBeside(text, data);
    return { isKept: isUsageOnly !== true || !this.#call.request.hidesUsage, isCut, ...(clean !== undefined && { clean }) };
  }

  /** no-echo. What is no frame of the protocol may be the text of a failure. */
  #strange(frame: string, isCut = true): { readonly isKept: boolean; readonly isCut: boolean; readonly clean?: Buffer } {
    const clean = this.#searched(frame, (secrets) => cleanFrame(frame, false, secrets));
    return { isKept: true, isCut, ...(clean !== undefined && { clean }) };
  }

  /** no-echo. What no model has written: comments, and a frame that has nothing of an answer. */
  #cleanBeside(frame: string, data: string): Buffer | undefined {
    const isOfModel = eventOf(frame) !== '' || frame.includes(this.#protocol.ofModel);
    if (!isOfModel) return this.#searched(frame, (secrets) => cleanFrame(frame, tryParseJson(data) !== undefined, secrets));
    return hasComment(frame) ? this.#searched(frame, (secrets) => cleanComments(frame, secrets)) : undefined;
  }

  /** no-echo. Undefined for what passes as it is. */
  #searched(frame: string, clean: (secrets: readonly string[]) => Buffer | undefined): Buffer | undefined {
    if (frame.length > ERROR_FRAME_BYTES || this.#searchedBytes > SEARCHED_BYTES) return undefined;
    this.#searchedBytes += frame.length;
    return clean(this.#secrets());
  }

  /** no-echo. */
  #readError(error: ProviderError, frame: string, data: string): { readonly isKept: boolean; readonly clean?: Buffer } {
    this.#error = error;
    this.#errorBytes += Buffer.byteLength(frame);
    if (this.#errorBytes > ERROR_FRAME_BYTES) return { isKept: false };
    this.#isErrorSent = true;
    const clean = cleanFrame(frame, tryParseJson(data) !== undefined, this.#secrets());
    return { isKept: true, ...(clean !== undefined && { clean }) };
  }

  /** long-in-turns. */
  async #endLong(bytes: Buffer): Promise<void> {
    const read = longMembersIn(bytes, this.#protocol.answerMembers, readerOf(this.#provider, this.#call));
    this.#endWhole(bytes, await read.catch((error: unknown) => this.#failUnread(error)));
  }

  #endWhole(bytes: Buffer, members: Readonly<Record<string, unknown>>): void {
    const usage = usageOfWhole(this.#protocol, bytes, members);
    const error = this.#protocol.errorIn?.(members);
    if (error === undefined || tellsUse(usage)) this.#tellUse(usage);
    if (error !== undefined) throw this.#fault(error, undefined); // error-is-error
    const facts = this.#protocol.readFacts?.(members);
    if (facts !== undefined) this.#call.sink.answered?.(facts);
    this.#call.sink.head(this.#headers, false);
    const isSearched = bytes.length <= ERROR_FRAME_BYTES && this.#protocol.tellsFailure(members); // no-echo
    this.#call.sink.bytes(isSearched ? Buffer.from(redactJson(bytes.toString('utf8'), this.#secrets())) : bytes);
  }

  #tellUse(usage: ReportedUsage): void {
    this.#hasUse ||= tellsUse(usage);
    this.#call.sink.usage(usage);
  }

  /** Each choice tells its own, in a frame of its own. */
  #tellUseOf(ofChoices: NonNullable<FrameFacts['ofChoices']>): void {
    this.#ofChoices ??= new Map();
    for (const { choice, usage } of ofChoices) if (this.#ofChoices.size < MAX_CHOICES || this.#ofChoices.has(choice)) this.#ofChoices.set(choice, usage);
    const sum = this.#protocol.sumOfChoices?.(this.#ofChoices.values());
    if (sum !== undefined && this.#ofChoices.size > 1) this.#tellUse(sum);
  }

  #membersIn(bytes: Buffer): Readonly<Record<string, unknown>> {
    try {
      return membersIn(bytes, this.#protocol.answerMembers);
    } catch (error) {
      return this.#failUnread(error);
    }
  }

  #failUnread(error: unknown): never {
    this.broken();
    throw error;
  }

  /** The client must not take a refusal of our credentials for one of its own, nor a redirect, a page of a proxy or a status that HTTP does not have for an answer. */
  #statusFault(answer: ErrorAnswer): BlockhouseError {
    const failure = toError(this.#provider, this.#call, answer, (bytes) => this.#call.sink.unread(bytes));
    if (
      failure.code === 'UPSTREAM_AUTH' ||
      kindOfStatus(answer.status) === 'auth' ||
      answer.status < 400 ||
      answer.status > LAST_STATUS ||
      answer.json === undefined
    )
      return failure;
    const secrets = this.#secrets();
    return withFault(failure, { status: answer.status, headers: this.#headers, body: Buffer.from(redactJson(answer.text, secrets)) }); // no-echo
  }

  #secrets(): string[] {
    return secretsOf(this.#provider.settings, this.#call.settings);
  }

  #fault(error: ProviderError, providerFault: ProviderFault | undefined): BlockhouseError {
    const { writtenBytes = 0 } = error;
    if (writtenBytes > 0) this.#call.sink.unread(writtenBytes);
    const secrets = this.#secrets();
    const mayHaveRun = this.#hasBegun || (error.mayHaveRun ?? this.#hasUse);
    return withFault(fromProviderError(error, { name: this.#provider.displayName, secrets, mayHaveRun }), providerFault);
  }
}

/** The client has not asked for a stream. */
function isForWhole({ fields }: ForwardCall['request']): boolean {
  return fields !== undefined && fields['stream'] !== true;
}

/** Splitting a frame into very many lines takes long. */
function assertFewLines(frame: Buffer): void {
  for (const end of [LF, CR]) {
    let left: number = ANSWER_LIMITS.frameLines;
    for (let at = frame.indexOf(end); at >= 0; at = frame.indexOf(end, at + 1)) {
      if (left === 0) throw malformed(`it has a frame of more than ${ANSWER_LIMITS.frameLines} lines`);
      left -= 1;
    }
  }
}

function withFault(failure: BlockhouseError, providerFault: ProviderFault | undefined): BlockhouseError {
  if (providerFault === undefined) return failure;
  const { code, message, retryAfterMs, upstreamStatus, retryable, mayHaveRun, isTimeout, refusedFor } = failure;
  return new BlockhouseError(code, message, {
    providerFault,
    retryable,
    mayHaveRun,
    isTimeout,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(upstreamStatus !== undefined && { upstreamStatus }),
    ...(refusedFor !== undefined && { refusedFor }),
  });
}

/** Limits of one of several keys say nothing of the next call. */
function pick(headers: IncomingHttpHeaders, wanted: RegExp, secrets: readonly string[], hasSeveralKeys = false): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string' && wanted.test(name) && !(hasSeveralKeys && name.includes('ratelimit'))) picked[name] = withoutEcho(value, secrets); // no-echo
  }
  return picked;
}

/** no-echo. A value of a header without what no header may hold. */
function withoutEcho(raw: string, secrets: readonly string[]): string {
  return redact(UNFIT.test(raw) ? raw.replace(ALL_UNFIT, '') : raw, secrets);
}

/** True for comments alone. */
function isSilent(frames: Buffer): boolean {
  if (frames.length > SILENCE_BYTES) return false;
  return withoutMark(frames.toString('utf8'))
    .split(LINE_ENDS)
    .every((line) => line === '' || line.startsWith(':'));
}
