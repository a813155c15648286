// The messages that a person typed, for the arrow keys of later conversations. Secrets are typed at prompt.ts, which knows no history.
//
// owner-only: the file has mode 0600, because messages are private.
// bounded: the file never has more than twice the kept messages, and no long text.
// optional: a history that can't be read or written is reported once and does not end a conversation.
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tryParseJson } from '../../core/base/json.ts';
import { errorCodeOf } from './exit-codes.ts';

const KEPT = 500;
/** Characters. A longer message was pasted and is not typed again. */
const LONGEST = 4000;
const OWNER_ONLY = 0o600;

/** Its place in a workspace. */
export function historyPath(workspace: string): string {
  return join(workspace, '.cli-history');
}

/** Messages, newest first. */
export class LineHistory {
  readonly #path: string;
  readonly #say: (text: string) => Promise<void>;
  readonly #entries: string[];
  #linesInFile: number;
  #hasFailed = false;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, say: (text: string) => Promise<void>, newestLast: readonly string[]) {
    this.#path = path;
    this.#say = say;
    this.#linesInFile = newestLast.length;
    this.#entries = newestLast.slice(-KEPT).reverse();
  }

  /** Reads the file; without one the history is empty. `say` writes a remark for the person. Never rejects (optional). */
  static async open(path: string, say: (text: string) => Promise<void>): Promise<LineHistory> {
    try {
      return new LineHistory(path, say, messagesIn(await readFile(path, 'utf8')));
    } catch (error) {
      const history = new LineHistory(path, say, []);
      if (errorCodeOf(error) !== 'ENOENT') await history.#fail('read', error as Error);
      return history;
    }
  }

  get entries(): readonly string[] {
    return this.#entries;
  }

  /** Adds a message. A repeated one, a long one, and one that begins with a space, is not kept. */
  add(message: string): void {
    if (message.trim() === '' || message.startsWith(' ') || message.length > LONGEST || message === this.#entries[0]) return;
    this.#entries.unshift(message);
    this.#entries.length = Math.min(this.#entries.length, KEPT);
    this.#writing = this.#writing.then(() => this.#write(message)).catch((error: Error) => this.#fail('written', error));
  }

  /** Resolves once everything is in the file. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  async #write(message: string): Promise<void> {
    if (this.#hasFailed) return;
    this.#linesInFile += 1;
    if (this.#linesInFile === 1) await makeFolder(dirname(this.#path));
    if (this.#linesInFile <= 2 * KEPT) return appendFile(this.#path, lineOf(message), { mode: OWNER_ONLY });
    // bounded. Other conversations may have added messages since this one began.
    const newest = messagesIn((await readFile(this.#path, 'utf8')) + lineOf(message)).slice(-KEPT);
    const next = `${this.#path}.${process.pid}`;
    await writeFile(next, newest.map(lineOf).join(''), { mode: OWNER_ONLY });
    await rename(next, this.#path);
    this.#linesInFile = newest.length;
  }

  async #fail(what: 'read' | 'written', { message }: Error): Promise<void> {
    this.#hasFailed = true;
    await this.#say(`note: the history of what you typed can't be ${what}: ${message}`);
  }
}

/** A workspace that no server has used yet may not exist. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  }
}

function lineOf(message: string): string {
  return `${JSON.stringify(message)}\n`;
}

/** One JSON string on each line; a line that is not a JSON string, such as half of one, is left out. */
function messagesIn(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const message = tryParseJson(line);
    return typeof message === 'string' ? [message] : [];
  });
}
