// The lines that other servers write into the log of a block, for those who follow it here.
//
// looks-anyway: others tell when they have written; a look each second finds the same.
// once-each: of each file it is known up to where its lines were given. A file that is not known yet has a name that is no smaller than that of the newest one of ten
// seconds before: the lines of another server come some time after ours of the same second, and its clock may be behind.
import { logName } from '../parts/log-lines.ts';
import type { Database } from './pool.ts';
import * as sql from './sql/logs.ts';

/** What a tail works with. */
export interface LogTailOptions {
  readonly database: Database;
  readonly block: number;
  onLines(file: string, place: number, text: string): void;
  everyMs?: number;
}

const LOOK_EVERY_MS = 1000;
/** Files that may still grow. */
const FILES = 20;
const AT_ONCE = 500;
const TIME_CHARACTERS = '2026-11-20T14-03-22Z'.length;
const LATE_MS = 10_000;
interface Row {
  readonly file: string;
  readonly place: number;
  readonly bytes: Buffer;
}

/** From now until it is closed. */
export class LogTail {
  readonly #options: LogTailOptions;
  readonly #ends = new Map<string, number>();
  /** Up to where looks have given lines. */
  readonly #found = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #hasBegun = false;
  /** The newest file when this began: what is older is from before. */
  #first = '';
  #looking: Promise<void> | undefined;
  #mustLook = false;
  #isClosed = false;

  constructor(options: LogTailOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.look(), options.everyMs ?? LOOK_EVERY_MS).unref(); // looks-anyway
    this.look();
  }

  /** Somebody may have written. */
  look(): void {
    this.#mustLook = true;
    this.#looking ??= this.#lookAll()
      .catch(() => undefined) // the next look is a second away
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /** Lines of this server are to be given. False if a look has found them before. */
  given(file: string, end: number): boolean {
    const isNew = (this.#found.get(file) ?? 0) < end;
    this.#note(this.#ends, file, end);
    return isNew;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #note(ends: Map<string, number>, file: string, end: number): void {
    ends.set(file, Math.max(end, ends.get(file) ?? 0));
  }

  async #lookAll(): Promise<void> {
    while (this.#mustLook && !this.#isClosed) {
      this.#mustLook = false;
      if (!this.#hasBegun) await this.#begin();
      else await this.#look();
    }
  }

  async #begin(): Promise<void> {
    const { database, block } = this.#options;
    for (const { file, size } of await database.query<{ file: string; size: number }>(sql.FILES, [block, FILES])) this.#note(this.#ends, file, size);
    this.#first = timeIn([...this.#ends.keys()].sort().at(-1));
    this.#hasBegun = true;
  }

  async #look(): Promise<void> {
    const { database, block, onLines } = this.#options;
    const files = [...this.#ends.keys()].sort();
    const late = lateTime(timeIn(files.at(-1)));
    const oldest = late > this.#first ? late : this.#first;
    const old = files.filter((file, index) => index < files.length - FILES && file < oldest);
    for (const file of old) for (const ends of [this.#ends, this.#found]) ends.delete(file);
    files.splice(0, old.length);
    const rows = await database.query<Row>(sql.TAIL, [block, files, files.map((file) => this.#ends.get(file)), oldest, AT_ONCE]);
    for (const { file, place, bytes } of rows) {
      if (this.#isClosed || place < (this.#ends.get(file) ?? 0)) continue; // once-each
      for (const ends of [this.#ends, this.#found]) this.#note(ends, file, place + bytes.length);
      onLines(file, place, bytes.toString());
    }
    if (rows.length === AT_ONCE) this.#mustLook = true;
  }
}

/** The time with which the name of a file begins. */
function timeIn(file = ''): string {
  return file.slice(0, TIME_CHARACTERS);
}

/** The same, ten seconds before; '' for no time. */
function lateTime(time: string): string {
  const [day = '', clock = ''] = time.split('T');
  const at = Date.parse(`${day}T${clock.replaceAll('-', ':')}`);
  return Number.isNaN(at) ? '' : timeIn(logName(at - LATE_MS, '', 0));
}
