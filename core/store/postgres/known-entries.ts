// What a server knows of the active entries of one block, and of whose turn it is there. Pure: no I/O.
//
// known-entries: the active entries are read again only when their block has changed since. What was read a tenth of a second ago is good, unless this server has
//   changed them, or another one has told of a change. What is added, begun or ended is changed in them too, if they are of the version before.
// another-past: the versions of a database that has restarted are not compared with those before, since its last commits may be lost.
// own-turn: a message that this server has just added to a block where nothing else waits is the next one, and after the last one that waits there is none, so nobody
//   looks for it while it has the block. Whether it still is, and whether the block is ours, is seen by `begin`.
// only-known: everything here is in the database, too. So the room of all blocks may drop it at any moment, also while it is being read.
import { activeOf } from '../../block/conversation/retention.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type { ContentRoom, Droppable } from '../parts/content-room.ts';
import type { Entries } from '../port.ts';
import { sizeOf, type Versions } from './message-row.ts';

/** The entries of one version of their block. */
export interface Active {
  readonly version: string;
  readonly entries: Entries;
}

/** Before a statement. */
export interface Moment {
  readonly at: number;
  readonly hints: number;
}

/** Whose turn it is. own-turn. */
interface Turn {
  readonly next: ChatEntry | undefined;
  readonly at: number;
  readonly fence?: number;
}

interface KnownEntriesOptions {
  /** Monotonic milliseconds. */
  clock(): number;
  /** How often the database has restarted. another-past. */
  past(): number;
  readonly room: ContentRoom | undefined;
}

const KNOWN_MS = 100;

/** Of one block. */
export class KnownEntries implements Droppable {
  readonly #options: KnownEntriesOptions;
  #past = 0;
  #active: (Active & { at: number }) | undefined;
  #turn: Turn | undefined;
  #hints = 0;
  readonly #self = new WeakRef<Droppable>(this);

  constructor(options: KnownEntriesOptions) {
    this.#options = options;
  }

  /** The entries that were read or changed last, which may have changed since. */
  get active(): Active | undefined {
    this.#assertPast();
    return this.#active;
  }

  /** The entries, if nothing was read or told of since that could be newer. */
  get fresh(): Entries | undefined {
    this.#assertPast();
    if (this.#active === undefined || !this.#isRecent(this.#active.at)) return undefined;
    this.#use();
    return this.#active.entries;
  }

  /** Whose turn it is, if that is known for this claim. */
  turnOf(fence: number): Pick<Turn, 'next'> | undefined {
    this.#assertPast();
    const turn = this.#turn;
    return turn !== undefined && this.#isRecent(turn.at) && (turn.fence ?? fence) === fence ? turn : undefined;
  }

  moment(): Moment {
    return { at: this.#options.clock(), hints: this.#hints };
  }

  /** The entries have changed, or may have. */
  hint(): void {
    this.#assertPast();
    this.#hints += 1;
    this.#turn = undefined;
    if (this.#active !== undefined) this.#active.at = Number.NEGATIVE_INFINITY;
  }

  /** What was read, where `before` was known. What has come meanwhile may be newer. */
  take(read: Active, before: Active | undefined, { at, hints }: Moment): void {
    if (this.active !== before) return;
    this.#active = { ...read, at: hints === this.#hints ? at : Number.NEGATIVE_INFINITY };
    this.#use();
  }

  /** Its block still has this version. */
  confirm(version: string, { at }: Moment): void {
    this.#assertPast();
    if (this.#active?.version === version) this.#active.at = at;
  }

  /** After a change by this server: `changed` are in the place of those with their ids, or new and at the end. */
  keep({ version_before, version }: Versions, before: Moment, changed: Entries): void {
    if (this.active?.version !== version_before) return;
    const byId = new Map(changed.map((entry) => [entry.id, entry]));
    const entries = this.active.entries.map((entry) => byId.get(entry.id) ?? entry);
    const known = new Set(entries.map(({ id }) => id));
    entries.push(...changed.filter(({ id }) => !known.has(id)));
    this.#active = { version, entries: activeOf(entries, sizeOf), at: this.#isAlone(before) ? before.at : Number.NEGATIVE_INFINITY };
    this.#use();
  }

  /** After a change by this server, which has said whose turn it is. */
  keepTurn(before: Moment, next: ChatEntry | undefined, fence?: number): void {
    if (!this.#isAlone(before)) return;
    this.#turn = { next, at: before.at, ...(fence !== undefined && { fence }) };
    this.#use();
  }

  /** only-known. */
  drop(): boolean {
    this.#active = undefined;
    this.#turn = undefined;
    return true;
  }

  /** Nothing but this server's change since then has been told of the block. */
  #isAlone({ hints }: Moment): boolean {
    return this.#hints === hints + 1;
  }

  #isRecent(at: number): boolean {
    return this.#options.clock() - at < KNOWN_MS;
  }

  #use(): void {
    const next = this.#turn?.next === undefined ? 0 : sizeOf(this.#turn.next);
    this.#options.room?.use(
      this.#self,
      (this.#active?.entries ?? []).reduce((sum, entry) => sum + sizeOf(entry), next),
    );
  }

  /** another-past. */
  #assertPast(): void {
    const past = this.#options.past();
    if (past !== this.#past) this.drop();
    this.#past = past;
  }
}
