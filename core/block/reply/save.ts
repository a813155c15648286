// Ends the processing of a message: one change of chat.json, and then the reports to readers, log and bus.
//
// reported-once: every `start` of the reply stream is followed by exactly one `done` or `error`.
// one-claim: a reply is settled with the claim that it began with, so that one that another server has taken over is not settled by the next run here.
// hand-edit-wins: if a person has removed the message or given it an outcome meanwhile, that is not overwritten.
import type { ChatEntry, EntryError } from '../../schemas/chat-entry.ts';
import type { BackInQueue, Claim, Conversation, Outcome } from '../../store/port.ts';
import type { Candidate } from '../status/candidates.ts';
import { CANCELLED, type Fault, GONE, WAITING } from './attempt.ts';
import type { Bill } from './billing.ts';
import type { BlockContext } from './block-context.ts';
import { entryError, reportAnswer, reportAttemptOver, reportUnanswered } from './outcome.ts';
import type { TextSoFar } from './reply-stream.ts';

/** How a message goes back into the queue. */
export interface Requeueing {
  readonly countsAsAttempt: boolean;
  /** ISO 8601; left out: at once. */
  readonly nextAttemptAt?: string;
  /** The reason for readers. The message keeps it as its error, unless it is CANCELLED. */
  readonly fault: Fault;
}

/** What is kept of a run with tools that has no answer. */
export interface Effects {
  /** Which run of the message it was. */
  readonly run: number;
  /** Names the calls that had or may have had effects; undefined if none had. */
  readonly entry: ChatEntry | undefined;
}

/** Settles one message that is being answered. */
export class Settlement {
  readonly #context: BlockContext;
  readonly #id: string;
  /** one-claim. */
  readonly #claim: Claim;
  #isOpen = false;

  constructor(context: BlockContext, messageId: string) {
    this.#context = context;
    this.#id = messageId;
    this.#claim = context.claim;
  }

  /** one-claim. */
  get claim(): Claim {
    return this.#claim;
  }

  /** Counts the attempt; undefined if the message no longer waits. */
  begin(): Promise<ChatEntry | undefined> {
    return this.#conversation.begin(this.#claim, this.#id);
  }

  /** True between a `start` of the reply stream and its end. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Opens the reply stream of an attempt. `text` has each fragment before the stream gets it. */
  open({ provider, model }: Candidate, attempt: number, text: TextSoFar): void {
    this.#context.feed.start({ id: this.#id, provider, model, attempt }, text);
    this.#isOpen = true;
  }

  /** Writes the outcome of the message and its answer in one change, and the line of the call if it was handed over; `kept` is called once that is written. */
  async answer(answer: ChatEntry, bill: Bill | null, outcome: Outcome, kept: () => Promise<void> = async () => undefined): Promise<void> {
    const line = bill?.handed;
    const settled = await this.#conversation.settle(this.#claim, this.#id, outcome, answer, line && { line, kept });
    if (settled === undefined) return this.attemptOver(GONE, false); // hand-edit-wins
    this.#isOpen = false;
    reportAnswer(this.#context, settled.answer ?? answer, bill, outcome.status === 'cancelled');
  }

  /** The message will not be answered. `effects` names what its calls of tools have done. */
  fail(fault: Fault, effects?: Effects): Promise<void> {
    return this.#finish('failed', fault, entryError(fault), effects);
  }

  /** A person has cancelled the message before any text came. */
  cancel(effects?: Effects): Promise<void> {
    return this.#finish('cancelled', CANCELLED, null, effects);
  }

  /** The message keeps its place until people have decided. Readers discard the text so far. */
  async wait(waitingFor: readonly string[]): Promise<void> {
    await this.putBack({ countsAsAttempt: false, waitingFor, error: null });
    this.attemptOver(WAITING, true);
  }

  /** The message goes back into the queue. */
  async requeue({ fault, ...how }: Requeueing): Promise<void> {
    await this.putBack({ ...how, ...(fault.code !== 'CANCELLED' && { error: entryError(fault) }) });
    this.attemptOver(fault, true);
  }

  /** Like `requeue`, but without any report. */
  async putBack(how: BackInQueue): Promise<void> {
    await this.#conversation.requeue(this.#claim, this.#id, how);
  }

  /** Tells readers to discard the text of the attempt. */
  attemptOver(fault: Fault, willRetry: boolean): void {
    this.#isOpen = false;
    reportAttemptOver(this.#context, this.#id, fault, willRetry);
  }

  async #finish(status: 'failed' | 'cancelled', fault: Fault, error: EntryError | null, effects?: Effects): Promise<void> {
    const outcome = { status, error, finishedAt: this.#context.at(), ...(effects !== undefined && { run: effects.run }) } as const;
    const settled = await this.#conversation.settle(this.#claim, this.#id, outcome, effects?.entry);
    if (settled === undefined) return this.attemptOver(GONE, false); // hand-edit-wins
    this.#isOpen = false;
    reportUnanswered(this.#context, this.#id, status, fault);
  }

  get #conversation(): Conversation {
    return this.#context.files.conversation;
  }
}
