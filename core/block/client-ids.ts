// The clientIds of messages that have moved to chat-archive/: for each the id of its message, so that sending a message again stays harmless.
//
// newest-kept: the newest `KNOWN` ids are known. The file holds more, and is written anew with the newest ones when it holds twice as many.
// never-early: an id is on disk here before its message leaves chat.json.
import { isObject, tryParseJson } from '../json.ts';
import type { ChatEntry } from '../schemas/block.ts';
import { replaceFile } from '../workspace/atomic-file.ts';
import { readLines } from '../workspace/regular-file.ts';
import { appendLines } from './chat-lines.ts';

/** How many archived messages a clientId is known of. */
export const KNOWN = 20_000;
const LIMITS = { maxBytes: 256 * 1024 * 1024, maxLineBytes: 16 * 1024 } as const;

export class ClientIds {
  readonly #path: string;
  readonly #known = new Map<string, string>();
  #loading: Promise<void> | undefined;
  /** Lines in the file. */
  #lines = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads the file once. Throws when it can't be read. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** The id of an archived message. After `load`. */
  get(clientId: string): string | undefined {
    return this.#known.get(clientId);
  }

  /** never-early. Resolves with true when the file is a new one, whose name is not on disk yet. */
  async add(entries: readonly ChatEntry[]): Promise<boolean> {
    const added = entries.flatMap(({ id, clientId }) => (clientId === undefined ? [] : [{ id, clientId }]));
    if (added.length === 0) return false;
    await this.load();
    const isNew = await appendLines(this.#path, added);
    for (const { id, clientId } of added) this.#take(clientId, id);
    this.#lines += added.length;
    if (this.#lines > 2 * KNOWN) await this.#shorten();
    return isNew;
  }

  async #load(): Promise<void> {
    this.#known.clear();
    this.#lines = 0;
    for await (const lines of readLines(this.#path, LIMITS)) {
      for (const line of lines) {
        const value = line === undefined ? undefined : tryParseJson(line);
        this.#lines += 1;
        // A line that a crash has cut short belongs to a message that is still active.
        if (isObject(value) && typeof value['clientId'] === 'string' && typeof value['id'] === 'string') this.#take(value['clientId'], value['id']);
      }
    }
  }

  /** newest-kept. */
  #take(clientId: string, id: string): void {
    this.#known.delete(clientId);
    this.#known.set(clientId, id);
    if (this.#known.size <= KNOWN) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  async #shorten(): Promise<void> {
    await replaceFile(this.#path, [...this.#known].map(([clientId, id]) => `${JSON.stringify({ id, clientId })}\n`).join(''));
    this.#lines = this.#known.size;
  }
}
