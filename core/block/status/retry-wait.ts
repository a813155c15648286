// How long a message still has to wait for its next attempt.
//
// monotonic-wait: within a run a wait is measured on the monotonic clock, so that a clock that is set makes it neither longer nor shorter.
//   `nextAttemptAt` in chat.json matters only where this process has not begun the wait itself: after a restart, or when it was written by
//   hand. Then it is respected up to `retry.maxDelayMs` of the block, because a clock that was set back makes any time look far away.
import type { ChatEntry } from '../../schemas/chat-entry.ts';

type WaitingMessage = Pick<ChatEntry, 'id' | 'nextAttemptAt'>;

interface Begun {
  readonly id: string;
  readonly nextAttemptAt: string | undefined;
  /** Monotonic milliseconds. */
  readonly dueAt: number;
}

/** The wait of one block: only its first message can wait for an attempt. */
export class RetryWait {
  readonly #monotonic: () => number;
  #begun: Begun | undefined;

  /** `monotonic` in milliseconds. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Begins a wait of `ms`, which chat.json has as `nextAttemptAt`. */
  begin({ id, nextAttemptAt }: WaitingMessage, ms: number): void {
    this.#begun = { id, nextAttemptAt, dueAt: this.#monotonic() + ms };
  }

  /** Milliseconds that are left; 0 when the message is due. `now` is epoch milliseconds. */
  left(message: WaitingMessage, now: number, longestMs: number): number {
    if (message.nextAttemptAt === undefined) return 0;
    if (this.#begun?.id !== message.id || this.#begun.nextAttemptAt !== message.nextAttemptAt) {
      const ms = Date.parse(message.nextAttemptAt) - now;
      this.begin(message, Number.isNaN(ms) ? 0 : Math.min(ms, longestMs)); // a person may have written text that is not a time
    }
    return Math.max(0, (this.#begun?.dueAt ?? 0) - this.#monotonic());
  }
}
