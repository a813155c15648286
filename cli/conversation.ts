// Sends messages to one block and follows each to its outcome.
//
// follow-first: the block is followed before a message is sent, so that no step of a quick reply is missed.
// history-decides: the outcome is what the history says, active or archived; the steps only show the progress.
// own-steps: steps of messages that other clients sent are dropped.
import type { ChatEntry, ChatReceipt, ReplyStep } from '../core/index.ts';
import type { Api } from './api.ts';
import { type Feed, openFeed } from './client-socket.ts';
import { CliError, type ExitKind, kindOfCode } from './exit-codes.ts';

/** How long nothing may happen before `stalled` is called. */
const STALL_MS = 3000;

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
  /** Nothing has happened for 3 s; called again after each further 3 s. */
  stalled?(): Promise<void>;
}

const OPEN: readonly string[] = ['queued', 'processing'];

/** One followed block. Close it, or the process does not end. */
export class Conversation {
  readonly #api: Api;
  readonly #block: string;
  readonly #stallMs: number;
  /** The steps that are not handled yet, by message id. */
  readonly #steps = new Map<string, ReplyStep[]>();
  #feed: Feed | undefined;
  #sending = 0;
  #hasChanged = true;
  #fault: CliError | undefined;
  #wake: () => void = () => undefined;

  private constructor(api: Api, block: string, stallMs: number) {
    this.#api = api;
    this.#block = block;
    this.#stallMs = stallMs;
  }

  /** Follows the block (follow-first). Rejects with a CliError. */
  static async open(api: Api, block: string, stallMs = STALL_MS): Promise<Conversation> {
    const conversation = new Conversation(api, block, stallMs);
    conversation.#feed = await openFeed(api.client.place, block, {
      refresh: () => conversation.#tell(() => (conversation.#hasChanged = true)),
      step: (step) => conversation.#tell(() => conversation.#keep(step)),
      gone: () => conversation.#tell(() => (conversation.#fault = new CliError('usage', `The block ${block} was archived.`))),
      lost: (error) => conversation.#tell(() => (conversation.#fault = error)),
    });
    return conversation;
  }

  close(): void {
    this.#feed?.close();
  }

  async send(message: string, clientId?: string): Promise<ChatReceipt> {
    this.#sending += 1;
    try {
      const receipt = await this.#api.post(this.#block, message, clientId);
      this.#steps.set(receipt.id, this.#steps.get(receipt.id) ?? []);
      return receipt;
    } finally {
      this.#sending -= 1;
    }
  }

  /** Resolves once the message has ended, whether it has an answer or not. Rejects with a CliError when the block or the connection is gone, or `signal` fires. */
  async outcome(id: string, watcher: Watcher, signal: AbortSignal): Promise<Outcome> {
    const steps = this.#steps.get(id) ?? [];
    this.#steps.set(id, steps);
    let isWriting = false;
    for (;;) {
      for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
        isWriting = step.event === 'start' || step.event === 'content';
        if (!isWriting) this.#hasChanged = true;
        await watcher.step?.(step);
      }
      if (this.#fault !== undefined) throw this.#fault;
      if (this.#hasChanged && !isWriting) {
        this.#hasChanged = false;
        const found = await this.#look(id);
        if (found !== undefined) return found;
      } else if ((await this.#pause(signal)) === 'stalled' && !isWriting) await watcher.stalled?.();
    }
  }

  /** history-decides. */
  async #look(id: string): Promise<Outcome | undefined> {
    const { entry, answer } = await this.#api.message(this.#block, id);
    if (OPEN.includes(entry.status)) return undefined;
    this.#steps.delete(id);
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
      const timer = setTimeout(() => end(() => resolve('stalled')), this.#stallMs);
      this.#wake = () => end(() => resolve('woken'));
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
    });
  }
}

const ENDINGS: Readonly<Record<string, string>> = {
  cancelled: 'The message was cancelled.',
  expired: 'The message has expired: it waited too long to be answered.',
};

/** The failure of a message that was not answered; undefined for one that was. */
export function faultOf({ message: { status, error } }: Outcome): CliError | undefined {
  if (status === 'done') return undefined;
  const text = error?.message ?? ENDINGS[status] ?? `The message ended as ${status}.`;
  if (status !== 'failed') return new CliError('unexpected', ENDINGS[status] ?? text);
  return new CliError(failureKind(error?.code ?? ''), text);
}

/** Without an exit code of its own, a failed message counts as a failure of the provider. */
function failureKind(code: string): ExitKind {
  const kind = kindOfCode(code);
  return kind === 'unexpected' ? 'provider' : kind;
}
