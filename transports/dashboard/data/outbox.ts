// Messages on their way to the server. Each keeps its clientId until its receipt, so that sending it again is harmless.
//
// in-order: the messages of a block are sent one after the other; none overtakes an earlier one that waits.
// by-itself: what the server did not get is sent again when it answers; what it has no room for, when it says that it has.
import { signal } from '@preact/signals';
import type { ChatReceipt } from '../../../core/types.ts';
import type { Timers } from '../base/clock.ts';
import { ApiError } from './api-error.ts';
import type { Drafts, Sending } from './drafts.ts';

/** A message that the server does not have yet. */
export interface Outgoing extends Sending {
  readonly block: string;
  /** `offline`: sent when the server is back. `full`: sent at `nextAt`. `refused`: not sent again by itself. `sent`: the server has it, its entry is not read yet. */
  readonly state: 'sending' | 'offline' | 'full' | 'refused' | 'sent';
  readonly nextAt?: number;
  /** Of the message on the server, once its receipt is there. */
  readonly id?: string;
  readonly error?: ApiError;
}

const AGAIN_MS = 5000;

/** The messages of this tab. */
export class Outbox {
  readonly messages = signal<readonly Outgoing[]>([]);
  readonly #drafts: Drafts;
  readonly #post: (block: string, message: Sending) => Promise<Pick<ChatReceipt, 'id'>>;
  readonly #timers: Timers;
  readonly #busy = new Set<string>();

  /** `post` sends a message; it rejects with an ApiError. */
  constructor(drafts: Drafts, post: (block: string, message: Sending) => Promise<Pick<ChatReceipt, 'id'>>, timers: Timers) {
    this.#drafts = drafts;
    this.#post = post;
    this.#timers = timers;
  }

  /** Sends a message. */
  send(block: string, text: string): void {
    const message = { clientId: crypto.randomUUID(), text };
    this.#drafts.send(block, message);
    this.#wake(block);
    this.#add(block, [message]);
  }

  /** Takes back what an earlier load of this tab had on its way. */
  resume(block: string): void {
    const known = new Set(this.messages.peek().map(({ clientId }) => clientId));
    const left = this.#drafts.read(block).sending.filter(({ clientId }) => !known.has(clientId));
    if (left.length > 0) this.#add(block, left);
  }

  /** Sends a message again that was refused. */
  sendAgain({ clientId, block }: Outgoing): void {
    this.#change((message) => message.clientId === clientId, { state: 'sending' });
    void this.#work(block);
  }

  /** Takes a message out: the server has it, or somebody took it back. */
  drop(block: string, clientId: string): void {
    this.#drafts.received(block, clientId);
    this.messages.value = this.messages.peek().filter((message) => message.clientId !== clientId);
  }

  /** by-itself: to be called when the server is back. */
  online(): void {
    for (const { block, state } of this.messages.peek()) if (state === 'offline') this.#wake(block);
  }

  #add(block: string, messages: readonly Sending[]): void {
    this.messages.value = [...this.messages.peek(), ...messages.map((message) => ({ ...message, block, state: 'sending' as const }))];
    void this.#work(block);
  }

  /** in-order. */
  async #work(block: string): Promise<void> {
    if (this.#busy.has(block)) return;
    this.#busy.add(block);
    const next = (): Outgoing | undefined => this.messages.peek().find((message) => message.block === block && message.state === 'sending');
    for (let message = next(); message !== undefined; message = next()) if (!(await this.#sendOne(message))) break;
    this.#busy.delete(block);
  }

  /** False if the next ones wait, too. */
  async #sendOne({ block, clientId, text }: Outgoing): Promise<boolean> {
    const isThis = (message: Outgoing): boolean => message.clientId === clientId;
    try {
      const { id } = await this.#post(block, { clientId, text });
      this.#drafts.received(block, clientId);
      this.#change(isThis, { state: 'sent', id });
      return true;
    } catch (error) {
      const failure = error instanceof ApiError ? error : new ApiError(String(error), { status: 0, code: 'NO_ANSWER' });
      const { status, code, retryAfterMs } = failure;
      if (code === 'QUEUE_FULL' || status === 429) return this.#later(block, 'full', failure, retryAfterMs);
      if (status === 0 || status === 401 || status >= 500) return this.#later(block, 'offline', failure, retryAfterMs);
      this.#change(isThis, { state: 'refused', error: failure });
      return true;
    }
  }

  /** by-itself, in-order: all of the block wait together. */
  #later(block: string, state: 'full' | 'offline', error: ApiError, ms = AGAIN_MS): false {
    this.#change((message) => message.block === block && message.state === 'sending', { state, error, nextAt: this.#timers.now() + ms });
    this.#timers.after(ms, () => this.#wake(block));
    return false;
  }

  /** Sends what waits. */
  #wake(block: string): void {
    this.#change((message) => message.block === block && (message.state === 'offline' || message.state === 'full'), { state: 'sending' });
    void this.#work(block);
  }

  #change(isMeant: (message: Outgoing) => boolean, changes: Partial<Outgoing>): void {
    this.messages.value = this.messages.peek().map((message) => (isMeant(message) ? { ...message, ...changes } : message));
  }
}
