// Writes the lines of all logs of this server, a tenth of a second's together.
//
// holds-nobody-up: a line is taken at once. If the database is slower than the events, lines are dropped and counted, so that they don't use up memory.
// in-order: lines of one block are written in their order, and one batch after the other.
// one-waits: behind the batch that is being written waits one more, with all that comes meanwhile. So a slow database gets larger batches, not more of them, and a block
//   that is given back waits for two of them at most.
// one-row: lines of a batch that follow each other in a file are one row, as long as it is short enough to lie on one page as it is. A message of a block writes several lines.
import type { Database } from './pool.ts';
import { ADD } from './sql/logs.ts';

/** A line with its place. */
export interface PlacedLine {
  readonly block: number;
  /** ISO 8601. */
  readonly at: string;
  readonly file: string;
  readonly place: number;
  readonly text: string;
  /** Called when it is stored, or can't be. */
  onEnd(error: Error | undefined): void;
}

const EVERY_MS = 100;
const MOST_WAITING_CHARACTERS = 4 * 1024 * 1024;
const AT_ONCE = 2000;
/** one-row. The database compresses a row of 2 KB, and its other columns take some 150 bytes. */
const ROW_BYTES = 1800;

/** What becomes a row. */
interface Piece extends Pick<PlacedLine, 'block' | 'file' | 'place'> {
  /** Of its last line. */
  at: string;
  readonly texts: Buffer[];
  bytes: number;
}

/** The writer of one server. */
export class LogWriter {
  readonly #database: Database;
  readonly #node: () => string;
  /** Called with the blocks whose lines were written. */
  readonly #onWritten: (blocks: readonly number[]) => void;
  #waiting: PlacedLine[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** one-waits. */
  #next: Promise<void> | undefined;

  constructor(database: Database, node: () => string, onWritten: (blocks: readonly number[]) => void = () => undefined) {
    this.#database = database;
    this.#node = node;
    this.#onWritten = onWritten;
  }

  /** False if there is no room for it. holds-nobody-up. */
  add(line: PlacedLine): boolean {
    if (this.#characters + line.text.length > MOST_WAITING_CHARACTERS) return false;
    this.#waiting.push(line);
    this.#characters += line.text.length;
    this.#timer ??= setTimeout(() => void this.flush(), EVERY_MS).unref();
    return true;
  }

  /** Resolves when every line so far is stored, or its failure was told. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next ??= this.#turn.then(() => {
      this.#next = undefined;
      return this.#write();
    });
    this.#turn = this.#next;
    return this.#next;
  }

  /** in-order. */
  async #write(): Promise<void> {
    const lines = this.#waiting;
    this.#waiting = [];
    this.#characters = 0;
    for (let from = 0; from < lines.length; from += AT_ONCE) await this.#writePart(lines.slice(from, from + AT_ONCE));
  }

  async #writePart(lines: readonly PlacedLine[]): Promise<void> {
    let failure: Error | undefined;
    try {
      const pieces = piecesOf(lines);
      const column = (value: (piece: Piece) => unknown): unknown[] => pieces.map(value);
      const columns = [column(({ at }) => at), column(({ block }) => block), column(({ file }) => file), column(({ place }) => place)];
      await this.#database.query(ADD, [this.#node(), ...columns, column(({ texts }) => Buffer.concat(texts))]);
      this.#onWritten([...new Set(lines.map(({ block }) => block))]);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    for (const { onEnd } of lines) onEnd(failure);
  }
}

/** one-row. Lines of several blocks may come between each other. */
function piecesOf(lines: readonly PlacedLine[]): Piece[] {
  const pieces: Piece[] = [];
  const last = new Map<number, Piece>();
  for (const { block, at, file, place, text } of lines) {
    const bytes = Buffer.from(text);
    const before = last.get(block);
    if (before !== undefined && before.file === file && before.place + before.bytes === place && before.bytes + bytes.length <= ROW_BYTES) {
      before.texts.push(bytes);
      before.bytes += bytes.length;
      before.at = at;
    } else {
      const piece = { block, file, place, at, texts: [bytes], bytes: bytes.length };
      pieces.push(piece);
      last.set(block, piece);
    }
  }
  return pieces;
}
