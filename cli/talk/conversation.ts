// Sends messages to one block and follows each to its outcome.
//
// follow-first: the block is followed before a message is sent, so that no step of a quick reply is missed.
// history-decides: the outcome is what the history says, active or archived; the steps only show the progress.
// own-steps: steps of messages that other clients sent are dropped.
// waits-while-writing: a run with tools may wait for a person behind text that it has begun, and no step says so. So a change during a text is
//   looked at as soon as the text stands still for a moment.
// comes-back: a connection that is lost is made again, and the wait goes on. A message has a client id, so it is sent once even if its
//   receipt was lost.
import { randomUUID } from 'node:crypto';
import type { AskAgain, ChatEntry, ChatReceipt, ReplyStep } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { SteadyFeed } from '../client/steady-feed.ts';
import { CliError, type ExitKind, kindOfCode } from '../terminal/exit-codes.ts';

/** How long nothing may happen before `stalled` is called. */
const STALL_MS = 2000;
/** How long a text under way stands still before a change is looked at (waits-while-writing). */
const STILL_MS = 200;

/** How a message ended. */
export interface Outcome {
  readonly message: ChatEntry;
  /** Undefined when there is no answer. */
  readonly answer: ChatEntry | undefined;
}

/** Called while a message waits for its outcome. */
export interface Watcher {
  /** The next step of the reply. */
  step?(step: ReplyStep): Promise<void>;
  /** Nothing has happened for 2 s; called again after each further 2 s. */
  stalled?(): Promise<void>;
  /** The message was read, and has no outcome yet; `waiting-approval` if a call of it waits for a person. */
  waiting?(message: ChatEntry): Promise<void>;
  /** The connection was lost, or is there again (comes-back). */
  connection?(state: 'lost' | 'back'): Promise<void>;
}

/** The optional parts of sending a message. */
export interface SendOptions extends Pick<Watcher, 'connection'> {
  /** Else a new one is made (comes-back). */
  readonly clientId?: string | undefined;
}

/** Times that tests shorten. */
export interface ConversationTimes {
  /** How long nothing may happen before `stalled` is called. */
  readonly stallMs?: number;
  /** How long a text under way stands still before a change is looked at. */
  readonly stillMs?: number;
  /** How long the server may be away. */
  readonly patienceMs?: number;
}

const OPEN: readonly string[] = ['queued', 'processing', 'waiting-approval'];

/** One followed block. Close it, or the process does not end. */
export class Conversation {
  readonly #api: Api;
  readonly #block: string;
  readonly #stallMs: number;
  readonly #stillMs: number;
  /** The steps that are not handled yet, by message id. */
  readonly #steps = new Map<string, ReplyStep[]>();
  #feed: SteadyFeed | undefined;
  #sending = 0;
  #hasChanged = true;
  #isWriting = false;
  #isAway = false;
  #fault: CliError | undefined;
  #wake: () => void = () => undefined;
  /** Called after each change of the block, by whichever client. */
  onChanged: () => void = () => undefined;

  private constructor(api: Api, block: string, stallMs: number, stillMs: number) {
    this.#api = api;
    this.#block = block;
    this.#stallMs = stallMs;
    this.#stillMs = stillMs;
  }

  /** Follows the block (follow-first). Rejects with a CliError. */
  static async open(api: Api, block: string, { stallMs = STALL_MS, stillMs = STILL_MS, patienceMs }: ConversationTimes = {}): Promise<Conversation> {
    const conversation = new Conversation(api, block, stallMs, stillMs);
    const tell = (change: () => void) => (): void => conversation.#tell(change);
    conversation.#feed = await SteadyFeed.open(
      api.client,
      block,
      {
        refresh: tell(() => {
          conversation.#hasChanged = true;
          conversation.onChanged();
        }),
        step: (step) => conversation.#tell(() => conversation.#keep(step)),
        gone: tell(() => (conversation.#fault = gone(block))),
        away: tell(() => (conversation.#isAway = true)),
        back: tell(() => conversation.#return()),
        failed: (error) =>
          conversation.#tell(() => {
            conversation.#isAway = false;
            conversation.#fault = error;
          }),
      },
      patienceMs,
    );
    return conversation;
  }

  /** Whether the connection is lost at the moment. */
  get isAway(): boolean {
    return this.#isAway;
  }

  close(): void {
    this.#feed?.close();
  }

  /** Keeps the steps of a message that was sent before, until its outcome is waited for. */
  expect(id: string): void {
    this.#steps.set(id, this.#steps.get(id) ?? []);
  }

  /** Sends a message once (comes-back). Rejects with a CliError. */
  async send(message: string, signal: AbortSignal, options: SendOptions = {}): Promise<ChatReceipt> {
    return this.#send((clientId) => this.#api.post(this.#block, message, clientId), signal, options);
  }

  /** Asks the last message again, as `send` sends one. */
  async askAgain(id: string, change: AskAgain, signal: AbortSignal, options: SendOptions = {}): Promise<ChatReceipt> {
    return this.#send((clientId) => this.#api.askAgain(this.#block, id, { ...change, clientId }), signal, options);
  }

  async #send(
    post: (clientId: string) => Promise<ChatReceipt>,
    signal: AbortSignal,
    { clientId = randomUUID(), connection }: SendOptions,
  ): Promise<ChatReceipt> {
    this.#sending += 1;
    try {
      for (;;) {
        await this.#present(signal, connection);
        const receipt = await this.#reach(() => post(clientId));
        if (receipt === undefined) continue;
        this.expect(receipt.id);
        return receipt;
      }
    } finally {
      this.#sending -= 1;
    }
  }

  /**
   * Resolves once the message has ended, whether it has an answer or not. Rejects with a CliError when the block is gone, the server does not
   * come back, or `signal` fires.
   */
  async outcome(id: string, watcher: Watcher, signal: AbortSignal): Promise<Outcome> {
    const steps = this.#steps.get(id) ?? [];
    this.#steps.set(id, steps);
    this.#isWriting = false;
    let wasAway = false;
    for (;;) {
      for (let step = steps.shift(); step !== undefined; step = steps.shift()) await this.#show(step, watcher);
      if (this.#fault !== undefined) throw this.#fault;
      if (this.#isAway !== wasAway) {
        wasAway = this.#isAway;
        await watcher.connection?.(wasAway ? 'lost' : 'back');
      } else if (!this.#isAway && this.#hasChanged && !this.#isWriting) {
        this.#hasChanged = false;
        const found = await this.#reach(() => this.#look(id, watcher));
        if (found !== undefined) {
          this.#steps.delete(id);
          return found;
        }
      } else if ((await this.#pause(signal)) === 'stalled' && !this.#isAway) await this.#reach(() => this.#stall(id, watcher));
    }
  }

  /** Nothing has happened for a while. */
  async #stall(id: string, watcher: Watcher): Promise<void> {
    if (!this.#isWriting) return watcher.stalled?.();
    if (!this.#hasChanged) return;
    // waits-while-writing. What has ended meanwhile is taken once its last step was shown.
    this.#hasChanged = false;
    await this.#look(id, watcher);
  }

  async #show(step: ReplyStep, watcher: Watcher): Promise<void> {
    this.#isWriting = step.event === 'start' || step.event === 'content';
    if (!this.#isWriting) this.#hasChanged = true;
    await watcher.step?.(step);
  }

  /** A reply may have ended while the connection was lost, so the history is read again. */
  #return(): void {
    this.#isAway = false;
    this.#isWriting = false;
    this.#hasChanged = true;
  }

  /** Waits until the server can be called. A server that did not come back is looked for again. */
  async #present(signal: AbortSignal, connection: Watcher['connection']): Promise<void> {
    if (this.#fault?.kind === 'server') {
      const lost = this.#fault;
      this.#fault = undefined;
      this.#feed?.renew(lost);
    }
    const wasAway = this.#isAway;
    if (wasAway) await connection?.('lost');
    while (this.#isAway && this.#fault === undefined) await this.#pause(signal);
    if (this.#fault !== undefined) throw this.#fault;
    if (wasAway) await connection?.('back');
  }

  /** The result of a call; undefined when the server can't be reached, and then the connection is made again (comes-back). */
  async #reach<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CliError) || error.kind !== 'server') throw error;
      this.#feed?.renew(error);
      return undefined;
    }
  }

  /** history-decides. */
  async #look(id: string, watcher: Watcher): Promise<Outcome | undefined> {
    const { entry, answer } = await this.#api.message(this.#block, id).catch((error: unknown) => {
      throw error instanceof CliError && error.body?.code === 'BLOCK_NOT_FOUND' ? gone(this.#block) : error;
    });
    if (OPEN.includes(entry.status)) {
      if (entry.status === 'waiting-approval') this.#isWriting = false; // waits-while-writing
      await watcher.waiting?.(entry);
      return undefined;
    }
    return { message: entry, answer: answer ?? undefined };
  }

  /** own-steps. While a message is being sent its id is not known yet, so the steps of unknown ids are kept, too. */
  #keep(step: ReplyStep): void {
    const steps = this.#steps.get(step.id);
    if (steps !== undefined) steps.push(step);
    else if (this.#sending > 0) this.#steps.set(step.id, [step]);
  }

  #tell(change: () => void): void {
    change();
    this.#wake();
  }

  /** Waits for the next thing to happen. */
  #pause(signal: AbortSignal): Promise<'woken' | 'stalled'> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#wake = () => undefined;
        settle();
      };
      const abort = (): void => end(() => reject(new CliError('interrupted', 'interrupted')));
      const timer = setTimeout(() => end(() => resolve('stalled')), this.#isWriting && this.#hasChanged ? this.#stillMs : this.#stallMs);
      this.#wake = () => end(() => resolve('woken'));
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
    });
  }
}

function gone(block: string): CliError {
  return new CliError('usage', `The block ${block} was archived or renamed; it keeps its messages.`);
}

/** The sentences about the connection. */
export const CONNECTION_NOTES = {
  lost: 'note: the connection to the server was lost; waiting for it to come back.',
  back: 'note: the server is back.',
} as const;

const ENDINGS: Readonly<Record<string, string>> = {
  cancelled: 'The message was cancelled.',
  expired: 'The message has expired: it waited too long to be answered.',
};

const CUT_OFF = 'The answer is not complete: the block was stopped or halted while it was written.';

/** The failure of a message that was not answered, or not completely; undefined for one that was. */
export function faultOf({ message: { status, error }, answer }: Outcome): CliError | undefined {
  if (status === 'done') return answer?.status === 'interrupted' ? new CliError('unexpected', CUT_OFF) : undefined;
  const text = error?.message ?? ENDINGS[status] ?? `The message ended as ${status}.`;
  if (status !== 'failed') return new CliError('unexpected', ENDINGS[status] ?? text);
  return new CliError(failureKind(error?.code ?? ''), text);
}

/** Without an exit code of its own, a failed message counts as a failure of the provider. */
function failureKind(code: string): ExitKind {
  const kind = kindOfCode(code);
  return kind === 'unexpected' ? 'provider' : kind;
}
