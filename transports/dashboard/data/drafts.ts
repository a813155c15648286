// What somebody has begun to write, and what was sent but not yet received: kept in localStorage until the server has it. Pure, given a storage.
//
// by-block: the key is the name of the block, and the tab, so that two tabs keep theirs apart; a shared copy is there for a new tab.
// by-receipt: a text that is sent goes into `sending` with the id it is sent under, and leaves it with the receipt of that very text.
// bounded: 256 KiB a text, and the 50 newest blocks.
import { type Shelf, stored } from '../base/stored.ts';

/** A message on its way to the server. */
export interface Sending {
  readonly clientId: string;
  readonly text: string;
}

/** What is kept for a block. */
export interface Draft {
  readonly text: string;
  readonly sending: readonly Sending[];
}

const PREFIX = 'blockhouse.draft';
export const MAX_DRAFT_CHARACTERS = 262_144;
const MAX_BLOCKS = 50;
const EMPTY: Draft = { text: '', sending: [] };

/** The drafts of one tab. */
export class Drafts {
  readonly #shelf: Shelf;
  readonly #tab: string;
  readonly #now: () => number;

  constructor(shelf: Shelf, tab: string, now: () => number) {
    this.#shelf = shelf;
    this.#tab = tab;
    this.#now = now;
  }

  /** The draft of this tab, or the text of the shared copy. */
  read(block: string): Draft {
    const own = this.#get(this.#key(block, this.#tab));
    if (own !== undefined) return own;
    return { text: this.#get(this.#key(block, 'shared'))?.text ?? '', sending: [] };
  }

  /** Keeps what is written. False if the storage is full or closed: then it is kept in this page only. */
  write(block: string, text: string): boolean {
    const { sending } = this.#get(this.#key(block, this.#tab)) ?? EMPTY;
    return this.#put(block, { text: text.slice(0, MAX_DRAFT_CHARACTERS), sending });
  }

  /** Keeps a message that is on its way; the written text becomes empty. */
  send(block: string, message: Sending): boolean {
    return this.#put(block, { text: '', sending: [...this.read(block).sending, message] });
  }

  /** by-receipt. */
  received(block: string, clientId: string): void {
    const { text, sending } = this.read(block);
    this.#put(block, { text, sending: sending.filter((message) => message.clientId !== clientId) });
  }

  #put(block: string, draft: Draft): boolean {
    const isEmpty = draft.text === '' && draft.sending.length === 0;
    try {
      this.#set(this.#key(block, this.#tab), isEmpty ? undefined : draft);
      this.#set(this.#key(block, 'shared'), draft.text === '' ? undefined : { text: draft.text, sending: [] });
      this.#drop();
      return true;
    } catch {
      return false; // QuotaExceededError, or storage that the browser does not allow
    }
  }

  #set(key: string, draft: Draft | undefined): void {
    if (draft === undefined) this.#shelf.removeItem(key);
    else this.#shelf.setItem(key, JSON.stringify({ ...draft, at: this.#now() }));
  }

  #get(key: string): Draft | undefined {
    const { text, sending } = (stored(this.#shelf, key) ?? {}) as Partial<Draft>;
    return typeof text === 'string' && Array.isArray(sending) ? { text, sending } : undefined;
  }

  #key(block: string, tab: string): string {
    return `${PREFIX}.${tab}.${block}`;
  }

  /** bounded. What is on its way stays. */
  #drop(): void {
    const keys = Array.from({ length: this.#shelf.length }, (_, index) => this.#shelf.key(index) ?? '').filter((key) => key.startsWith(`${PREFIX}.`));
    if (keys.length <= MAX_BLOCKS * 2) return;
    const found = keys.map((key) => ({ key, ...((stored(this.#shelf, key) ?? {}) as { at?: number; sending?: readonly Sending[] }) }));
    const old = found.filter(({ sending = [] }) => sending.length === 0).sort((one, other) => (other.at ?? 0) - (one.at ?? 0));
    for (const { key } of old.slice(MAX_BLOCKS * 2)) this.#shelf.removeItem(key);
  }
}
