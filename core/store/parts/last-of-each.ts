// A conversation that people edited, or that a crash has left in two places, may have an id, a clientId or an answer twice. The last of each keeps it. Pure: no I/O.
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type { Entries } from '../port.ts';

type Field = 'id' | 'clientId' | 'replyTo';
const FIELDS: readonly Field[] = ['id', 'clientId', 'replyTo'];

/** Looks at all entries first, and then keeps what is kept of them, in the same order. */
export class LastOfEach {
  readonly #seen: Record<Field, Set<string>> = { id: new Set(), clientId: new Set(), replyTo: new Set() };
  /** Of what is there twice, the place where it stands last. */
  readonly #last: Record<Field, Map<string, number>> = { id: new Map(), clientId: new Map(), replyTo: new Map() };
  #looked = 0;
  #kept = 0;

  look(entries: Entries): void {
    for (const entry of entries) {
      for (const field of FIELDS) this.#lookAt(field, entry[field]);
      this.#looked += 1;
    }
  }

  #lookAt(field: Field, value: string | undefined): void {
    if (value === undefined) return;
    const { [field]: seen } = this.#seen;
    if (seen.has(value)) this.#last[field].set(value, this.#looked);
    else seen.add(value);
  }

  /** The next entries. */
  kept(entries: Entries): Entries {
    for (const field of FIELDS) this.#seen[field].clear(); // all have been looked at
    return entries.flatMap((entry) => {
      const place = this.#kept;
      this.#kept += 1;
      const isLast = (field: Field): boolean => (this.#last[field].get(entry[field] ?? '') ?? place) === place;
      if (!isLast('id')) return [];
      if (isLast('clientId') && isLast('replyTo')) return [entry];
      const { clientId, replyTo, ...rest } = entry;
      const kept: ChatEntry = {
        ...rest,
        ...(clientId !== undefined && isLast('clientId') && { clientId }),
        ...(replyTo !== undefined && isLast('replyTo') && { replyTo }),
      };
      return [kept];
    });
  }
}
