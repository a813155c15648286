// Failures in a row, and who has them. Pure: no I/O.
//
// one-member: A member that has more than half of the failures that open a circuit may be to blame for them, as long as fewer than FROM_OTHERS have come from others.
// bounded-members: Members are remembered until it is certain that none of them is to blame. Names may be whatever a client makes up.

/** More than the repetitions of a handful of requests add up to; a destination that works at all would have answered one of them. */
export const FAILURES_TO_OPEN = 20;
/** Failures from others that clear the member with the most. */
const FROM_OTHERS = FAILURES_TO_OPEN / 2;

/** The member of failures that no caller causes. */
export const NOBODY = '';

/** Failures since the last success, by member. */
export class Tally {
  readonly #byMember = new Map<string, number>();

  /** A failure of `member`. */
  add(member: string): void {
    if (member === NOBODY || this.#byMember.size > FROM_OTHERS) return; // bounded-members: each of those others has failed at least once
    this.#byMember.set(member, (this.#byMember.get(member) ?? 0) + 1);
  }

  /** one-member: the one that may be to blame for `failures`, of all members; undefined if there is none. */
  mainOf(failures: number): string | undefined {
    if (this.#byMember.size > FROM_OTHERS) return undefined;
    for (const [member, own] of this.#byMember) if (failures - own < FROM_OTHERS) return member;
    return undefined;
  }

  clear(): void {
    if (this.#byMember.size > 0) this.#byMember.clear(); // to clear an empty map costs a microsecond
  }
}
