// Splits bytes into server-sent events, as providers send them. Pure: no I/O.
//
// last-record: a blank line completes a record; the last record is complete without one. Comments and unknown fields are skipped; several
//   data lines are joined by a line feed.
// few-lines: a record has a bounded number of data lines. An empty one adds a byte to the record and takes fifty in memory.
import { ANSWER_LIMITS, BlockhouseError } from '../../core/index.ts';
import { LineReader } from './lines.ts';

/** One server-sent event. */
export interface SseRecord {
  /** '' when the record has no event name. */
  readonly event: string;
  readonly data: string;
}

/** Reads the records of one stream; `maxBytes` limits a record. */
export class SseReader {
  readonly #lines: LineReader;
  readonly #maxBytes: number;
  #event = '';
  #data: string | undefined;
  /** Of the record. */
  #dataLines = 0;

  constructor(maxBytes: number = ANSWER_LIMITS.line) {
    this.#maxBytes = maxBytes;
    this.#lines = new LineReader(maxBytes);
  }

  /** The records that this chunk completes. Throws UPSTREAM_MALFORMED for a record longer than the cap, or of too many lines. */
  push(chunk: Buffer): SseRecord[] {
    const records: SseRecord[] = [];
    for (const line of this.#lines.push(chunk)) this.#take(line, records);
    return records;
  }

  /** The last record, if the stream ended without a blank line after it. */
  end(): SseRecord[] {
    const records: SseRecord[] = [];
    const rest = this.#lines.end();
    if (rest !== undefined) this.#take(rest, records);
    this.#take('', records);
    return records;
  }

  #take(line: string, records: SseRecord[]): void {
    if (line === '') {
      if (this.#data !== undefined) records.push({ event: this.#event, data: this.#data });
      this.#event = '';
      this.#data = undefined;
      this.#dataLines = 0;
    } else if (line.startsWith('data:')) {
      this.#addData(line.slice(line.charCodeAt(5) === 32 ? 6 : 5));
    } else if (line.startsWith('event:')) {
      this.#event = line.slice(line.charCodeAt(6) === 32 ? 7 : 6);
    } else if (line === 'data') {
      this.#addData('');
    } else if (line.startsWith('{"error"') && this.#data === undefined) {
      // Some providers end a stream with a bare error object in place of a record.
      this.#data = line;
    }
  }

  #addData(text: string): void {
    this.#dataLines += 1;
    if (this.#dataLines > ANSWER_LIMITS.frameLines) {
      throw new BlockhouseError('UPSTREAM_MALFORMED', `The provider sent a record of more than ${ANSWER_LIMITS.frameLines} lines.`, { mayHaveRun: true }); // few-lines
    }
    this.#data = this.#data === undefined ? text : `${this.#data}\n${text}`;
    if (this.#data.length > this.#maxBytes) {
      throw new BlockhouseError('UPSTREAM_MALFORMED', `The provider sent a record longer than ${this.#maxBytes} bytes.`, { mayHaveRun: true });
    }
  }
}
