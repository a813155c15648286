// What the core asks of a store's search. Pure: types only.
import type { SearchHit } from '../types.ts';

/** Whose words were found. */
export type SaidBy = SearchHit['by'];
/** A text that fits. */
export type Found = SearchHit;

/** What is looked for. */
export interface SearchFor {
  /** A text fits that has them all, also within longer words. */
  readonly words: readonly string[];
  /** How many texts to return, the newest first. */
  readonly limit: number;
  /** Only what was said to this block. */
  readonly block: string | undefined;
  /** What is shown of a text that was found. */
  excerptOf(text: string): Pick<Found, 'excerpt' | 'marks'>;
}

/** What was found. */
export interface Searched {
  readonly found: readonly Found[];
  /** How many texts fit in all. */
  readonly total: number;
  /** Blocks whose texts can't be read, some of them. */
  readonly unreadable: readonly string[];
  /** False if there may be more than what was looked at. */
  readonly isWhole: boolean;
}

/** Searches what was said: messages, answers and memories of all blocks, the archived ones too. */
export interface SearchStore {
  /** One at a time. Rejects with STORE_UNREACHABLE, STORAGE_FULL, STORAGE_FAILED, SHUTTING_DOWN, and with what `signal` says. */
  find(wanted: SearchFor, signal: AbortSignal): Promise<Searched>;
}
