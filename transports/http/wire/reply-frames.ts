// The reply of a block as server-sent events, with the frames of `/v1/chat`, and those of its run where the client asks for them.
//
// whole-ends-done: only a whole answer ends with `done`; everything else ends with `error`.
// starts-anew: another `start` after some text says that the attempt before it has failed, and that its text is void.
// runs-on: frames of the run stay when an attempt starts over, since its calls were made.
// held-back: what a client doesn't take yet is kept here, because a block writes its reply whether somebody reads it or not.
import { type AwaitedMessage, BlockhouseError, type ChatDone, type ChatEntry, ERROR_TABLE, type ErrorCode, type ReplyStep } from '../../../core/index.ts';
import type { RunFrame } from '../../run-steps.ts';
import type { SseWriter } from './sse.ts';

/** Writes the steps of one reply as frames. */
export class ReplyFrames {
  readonly #writer: SseWriter;
  #held: (string | RunFrame)[] = [];
  #isFull = false;
  /** True until an attempt begins, and again when it has failed. */
  #isVoid = true;

  constructor(writer: SseWriter) {
    this.#writer = writer;
  }

  readonly step = (step: ReplyStep): void => {
    if (step.event === 'content') this.#write(step.text);
    else if (step.event === 'start') this.#start(step);
    else this.#isVoid = true;
  };

  /** A call of the run, or one that waits. It may come before the first `start`, of a run that went on while nobody listened. */
  readonly run = (frame: RunFrame): void => this.#hold(frame);

  /** Ends the stream with the outcome. False, with nothing written, for a message without an outcome when the stream is not open yet. */
  finish(found: AwaitedMessage): boolean {
    if (found.note !== null && !this.#writer.opened) {
      this.#writer.stop();
      return false;
    }
    const answer = found.entry.role === 'user' ? found.answer : found.entry;
    // The steps of an answer from before the wait, or by hand, did not come.
    if (answer !== null && this.#isVoid) {
      this.#start({ id: answer.replyTo ?? found.entry.id, provider: answer.provider ?? '', model: answer.model ?? '', attempt: answer.attempts ?? 1 });
      this.#write(answer.content);
    }
    this.#put(this.#held);
    const fault = faultOf(found, answer);
    if (fault !== undefined) this.#writer.end(fault);
    else if (answer !== null) this.#writer.done(doneOf(answer));
    return true;
  }

  #start({ id, provider, model, attempt }: Omit<ReplyStep & { event: 'start' }, 'event' | 'seq'>): void {
    this.#isVoid = false;
    this.#held = this.#held.filter((each) => typeof each !== 'string'); // starts-anew, runs-on
    const start = { provider, model, id, attempt };
    this.#writer.start(start);
  }

  #write(text: string): void {
    if (text !== '') this.#hold(text);
  }

  #hold(what: string | RunFrame): void {
    this.#held.push(what);
    if (!this.#isFull) this.#flush();
  }

  /** held-back. */
  #flush(): void {
    const held = this.#held;
    this.#held = [];
    if (this.#put(held)) return;
    this.#isFull = true;
    this.#writer.onceWritable(() => {
      this.#isFull = false;
      this.#flush();
    });
  }

  /** True when the writer takes more. */
  #put(held: readonly (string | RunFrame)[]): boolean {
    let texts: string[] = [];
    let takesMore = true;
    for (const each of held) {
      if (typeof each === 'string') texts.push(each);
      else {
        if (texts.length > 0) this.#writer.content(texts);
        texts = [];
        const { type, ...data } = each;
        takesMore = this.#writer.event(type, data);
      }
    }
    return texts.length > 0 ? this.#writer.content(texts) : takesMore;
  }
}

/** Why the stream does not end with `done`; undefined for a whole answer. */
function faultOf({ entry, note }: AwaitedMessage, answer: ChatEntry | null): BlockhouseError | undefined {
  if (note !== null) return new BlockhouseError('ANSWER_PENDING', `${note} The id of the message is ${entry.id}.`);
  if (answer?.status === 'done') return undefined;
  const { status, error } = entry;
  if (status === 'failed') return failureOf(error);
  const kept = answer === null ? '' : ' The text so far is kept as its answer.';
  if (status === 'cancelled') return new BlockhouseError('NOT_ANSWERED', `The message was cancelled.${kept}`);
  if (status === 'expired') return new BlockhouseError('NOT_ANSWERED', 'The message has expired: it waited too long to be answered.');
  return new BlockhouseError('NOT_ANSWERED', answer === null ? 'There is no answer to the message.' : `The reply was interrupted.${kept}`);
}

function failureOf(error: ChatEntry['error']): BlockhouseError {
  if (error === null || error === undefined) return new BlockhouseError('NOT_ANSWERED', 'The message has failed.');
  const { code, message, retryable } = error;
  return new BlockhouseError(codeOf(code), message, { retryable });
}

/** A message may also have failed for a reason that no request has, such as a crash. */
function codeOf(code: string): ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code) && code !== 'CANCELLED' ? (code as ErrorCode) : 'NOT_ANSWERED';
}

function doneOf({ id, usage, stopReason = 'unknown' }: ChatEntry): ChatDone {
  const done = { usage: usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0, estimated: true }, stopReason, answerId: id };
  return done;
}
