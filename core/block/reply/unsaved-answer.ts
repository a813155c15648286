// An answer that was paid for and could not be written, because the disk was full or refused the write, or because the database was away. Pure: no I/O.
//
// paid-once: the answer is kept in memory until it can be written, and the model is not asked again meanwhile. A server that ends before loses it, and so does one whose
//   block is another server's by then; then the message is asked again, within its attempts.
// one-alone: a block answers one message at a time, so it keeps one answer at most.
import { toBlockhouseError } from '../../errors.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type { Candidate } from '../status/candidates.ts';
import type { ModelAnswer } from './call-model.ts';

/** An answer that waits for room. */
export interface KeptAnswer {
  readonly message: Pick<ChatEntry, 'id' | 'content'>;
  readonly candidate: Candidate;
  readonly answer: ModelAnswer;
  /** Which call of the model it was in a run with tools, and whether it had to conclude. */
  readonly step?: number;
  readonly concludes?: boolean;
  /** costs.json has its call. */
  readonly isRecorded: boolean;
}

/** What a block keeps of it. */
export class UnsavedAnswer {
  #kept: KeptAnswer | undefined;

  /** A line that was handed to the ledger is written by itself by now. */
  keep({ answer, ...kept }: KeptAnswer): void {
    const { handed: _alone, ...bill } = answer.bill;
    this.#kept = { ...kept, answer: { ...answer, bill } };
  }

  /** The answer to this message; undefined if there is none, or if the message was changed by hand since. */
  of({ id, content }: Pick<ChatEntry, 'id' | 'content'>): KeptAnswer | undefined {
    const kept = this.#kept;
    return kept?.message.id === id && kept.message.content === content ? kept : undefined;
  }

  /** This message was cancelled. */
  forget(message: Pick<ChatEntry, 'id' | 'content'>): void {
    if (this.of(message) !== undefined) this.drop();
  }

  /** It is written, or its message does not wait any more. */
  drop(): void {
    this.#kept = undefined;
  }
}

/** What readers and `why` say while an answer is kept. */
export function keptText(fault: string): string {
  return `${fault} The answer is kept, and is written as soon as that is possible; the model is not asked again.`;
}

/** True for a fault of the disk or of the database: nothing is wrong with what was to be written. */
export function isStorageFault(error: unknown): boolean {
  const { code } = toBlockhouseError(error);
  return code === 'STORAGE_FULL' || code === 'STORAGE_FAILED' || code === 'STORE_UNREACHABLE';
}
