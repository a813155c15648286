// Maps the clientIds of messages in chat-archive/ to their ids, so that sending a message twice makes no second one even then.
//
// newest-kept: the newest `KNOWN` ids are known. When the file has twice as many lines, it is rewritten with the newest ones.
// never-early: an id is on disk here before its message leaves chat.json.
import { isObject, tryParseJson } from '../../../base/json.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import { replaceFile } from '../atomic-file.ts';
import { readLines } from '../regular-file.ts';
import { appendLines } from './chat-lines.ts';

/** The number of archived messages whose clientId is known. */
export const KNOWN = 20_000;
const LIMITS = { maxBytes: 256 * 1024 * 1024, maxLineBytes: 16 * 1024 } as const;

/** The clientIds of one block's archived messages. */
export class ClientIds {
  readonly #path: string;
  readonly #known = new Map<string, string>();
  #loading: Promise<void> | undefined;
  /** Lines in the file. */
  #lines = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads the file once. Rejects if it can't be read. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** The id of the archived message with this clientId. Only after `load`. */
  get(clientId: string): string | undefined {
    return this.#known.get(clientId);
  }

  /** Adds the clientIds of entries that are about to move. Resolves with true if the file is new, so that its folder still needs a sync. */
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
