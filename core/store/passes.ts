// What a store keeps of sessions, codes and tickets where several servers share it. Pure: types only.

/** What a secret is for. A code for the owner is good only for programs of the user that runs the server. */
export type KeptKind = 'code' | 'owner-code' | 'ticket' | 'session';

/**
 * Secrets that are good for a while, on each server. P1: of all that take one, one gets it. P2: a new token ends all of them in the same step. P3: who reads the
 * store gets none, since it has their hashes. All reject with STORE_UNREACHABLE.
 */
export interface PassStore {
  /** Keeps a secret for `ms`, and resolves with its end: ISO 8601, by the clock of all servers. Of more than `most` of its kind, those that end first are dropped. */
  add(kind: KeptKind, text: string, ms: number, most: number): Promise<string>;
  /** Undefined for a text that is not good now. */
  kindOf(text: string): Promise<KeptKind | undefined>;
  /** True for a secret of one of these kinds that is good now, which it is no longer afterwards. */
  take(kinds: readonly KeptKind[], text: string): Promise<boolean>;
}
