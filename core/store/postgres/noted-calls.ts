// The calls under way of keys with caps, as this server notes them in its own folder, and what earlier processes have left there.
//
// its-line: a call that was noted by itself has one line in the database, which is known by the id of the call and the time of its end, or of its note if the process was killed.
//   So however often it is written, it counts once.
// perhaps-written: a power cut may take the end of a call from the disk and not its line from the database. So of a call that is left without an end, the database is asked first.
// left-first: what is left counts before a key with a cap asks for room.
// bounded: while very many lines wait, because the database is away, further calls are not noted. Keys with caps have no room then, once the lease has ended.
import type { CallNote, CallNotes, GatewayCall, NotedCall, OpenCall } from '../port.ts';
import type { Database } from './pool.ts';
import { KNOWN_CALLS } from './sql/gateway.ts';

const DAY_MS = 86_400_000;

/** What this server notes. */
export class NotedCalls {
  readonly #notes: CallNotes | undefined;
  readonly #database: Database;
  #left: readonly OpenCall[] = [];
  #reading: Promise<void> | undefined;
  #isRead: boolean;
  #isCounted: boolean;
  /** The ids of calls whose lines wait, and of those whose lines are being written. */
  #ended: string[] = [];
  #leaving: readonly string[] = [];

  /** Without `notes`, nothing is noted, and nothing is left. */
  constructor(database: Database, notes: CallNotes | undefined) {
    this.#database = database;
    this.#notes = notes;
    this.#isRead = notes === undefined;
    this.#isCounted = notes === undefined;
  }

  /** True while there are calls to forget. */
  get hasEnded(): boolean {
    return this.#ended.length > 0;
  }

  /** As in a book; `isFull` while very many lines wait (bounded). */
  note(call: OpenCall, before: CallNote | undefined, isFull: boolean): Promise<void> | undefined {
    if (this.#notes === undefined || (isFull && call.place === undefined)) return undefined;
    return this.#isRead ? this.#notes.note(call, before) : this.#noteOnceRead(call, before);
  }

  async #noteOnceRead(call: OpenCall, before: CallNote | undefined): Promise<void> {
    await this.read();
    await this.#notes?.note(call, before);
  }

  noteAlone(call: OpenCall): void {
    this.#notes?.noteAlone(call);
  }

  /** Returns the id of a call that has a line of its own. its-line. */
  end(noted: NotedCall, call: GatewayCall): string | undefined {
    if (noted.place === undefined) return undefined;
    const id = this.#notes?.end(noted, call);
    if (id !== undefined) this.#ended.push(id);
    return id;
  }

  /** `count` gets what is left and is not in the database. Does nothing while the notes can't be read. Rejects with STORE_UNREACHABLE. */
  async countLeft(count: (call: GatewayCall) => void): Promise<void> {
    if (this.#isCounted || !(await this.#canRead())) return;
    const known = await this.#known();
    for (const call of this.#left) {
      this.#ended.push(call.id);
      if (!known.has(call.id) && isSound(call)) count({ ...call, firstTextMs: null, durationMs: 0 });
    }
    this.#isCounted = true;
    this.#left = [];
  }

  /** perhaps-written. */
  async #known(): Promise<ReadonlySet<string>> {
    const open = this.#left.filter((call) => call.error === 'SHUTTING_DOWN' && isSound(call));
    if (open.length === 0) return new Set();
    const times = open.map(({ at }) => Date.parse(at));
    const range = [Math.min(...times), Math.max(...times) + DAY_MS].map((ms) => new Date(ms).toISOString());
    const rows = await this.#database.query<{ node: string }>(KNOWN_CALLS, [open.map(({ id }) => id), ...range]);
    return new Set(rows.map(({ node }) => node));
  }

  /** Who needs them gets the failure. */
  #canRead(): Promise<boolean> {
    return this.read().then(
      () => true,
      () => false,
    );
  }

  /** left-first. Rejects while the notes can't be read. */
  read(): Promise<void> {
    this.#reading ??= (async () => {
      this.#left = (await this.#notes?.left()) ?? [];
      this.#isRead = true;
    })().catch((error: unknown) => {
      this.#reading = undefined;
      throw error;
    });
    return this.#reading;
  }

  /** The lines of all calls that have ended by now are being written. */
  beginForget(): void {
    this.#leaving = [...this.#leaving, ...this.#ended.splice(0)];
    this.#notes?.beginForget();
  }

  /** They are written. */
  forget(): void {
    this.#notes?.forget(this.#leaving);
    this.#leaving = [];
  }

  async close(): Promise<void> {
    await this.#notes?.close();
  }
}

/** In JSON, what PostgreSQL has no text for. */
const NO_TEXT = /\\u(?:0000|d[89a-f][0-9a-f]{2})/i;

/** No name is longer. An index takes rows of 2,704 bytes at most. */
const MOST_NAME = 256;

/** False for a line that a hand or a disk has damaged: the database would take none of the lines beside it. */
function isSound(call: OpenCall): boolean {
  const { at, key, group = '', provider } = call;
  const areNames = [key, group, provider].every((name) => typeof name === 'string' && name.length <= MOST_NAME);
  return areNames && /^[1-9]\d{3}-\d\d-\d\dT[\d:.]+Z$/.test(at) && !Number.isNaN(Date.parse(at)) && !NO_TEXT.test(JSON.stringify(call));
}
