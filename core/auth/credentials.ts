// The stored credentials: `auth.json`, one object per adapter, mode 0600, read again when it changes.
//
// C1 A damaged file never counts as an empty one: the last good content stays in use and the damage is told;
//    where there never was a good one, every use fails and names the file.
// C2 Secrets leave this module only towards the settings resolution.
// C3 Changes are made one after the other, so that none is lost to another one made at the same time.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';
import { replaceFile } from '../workspace/atomic-file.ts';
import { closeToOthers, type FileState, FreshFile } from '../workspace/fresh-file.ts';

/** The stored settings of one adapter, as `auth.json` holds them. */
export type StoredSettings = Readonly<Record<string, string>>;
type Stored = ReadonlyMap<string, StoredSettings>;

export class CredentialStore {
  readonly #file: FreshFile;
  readonly #bus: CoreBus;
  readonly #workspace: string;
  #good: Stored | undefined;
  #fault: string | undefined;
  #content: string | undefined;
  #lastRewrite: Promise<void> = Promise.resolve();

  /** `now` in monotonic milliseconds. */
  constructor(workspace: string, bus: CoreBus, now?: () => number) {
    this.#workspace = workspace;
    this.#bus = bus;
    this.#file = new FreshFile(join(workspace, 'auth.json'), (state) => this.#take(state), now);
  }

  /** The settings stored for an adapter. Throws ADAPTER_NOT_CONFIGURED when the file is damaged and never was good (C1). */
  read(adapterId: string): StoredSettings | undefined {
    return this.#current().get(adapterId);
  }

  /** Ids that have an entry. Same failure as `read`. */
  ids(): string[] {
    return [...this.#current().keys()];
  }

  /** Changes fields of one adapter's entry and keeps the rest of the file. Throws as `read` does, also for a file damaged later. */
  async update(adapterId: string, fields: Readonly<Record<string, string>>): Promise<void> {
    await this.#rewrite((all) => all.set(adapterId, { ...all.get(adapterId), ...fields }));
  }

  /** Removes an adapter's entry; false when there was none. */
  async remove(adapterId: string): Promise<boolean> {
    let existed = false;
    await this.#rewrite((all) => {
      existed = all.delete(adapterId);
    });
    return existed;
  }

  /** C3. */
  #rewrite(change: (all: Map<string, StoredSettings>) => void): Promise<void> {
    const rewrite = this.#lastRewrite.then(() => this.#rewriteNow(change));
    this.#lastRewrite = rewrite.catch(() => undefined); // its caller has the failure; the next change is not concerned
    return rewrite;
  }

  async #rewriteNow(change: (all: Map<string, StoredSettings>) => void): Promise<void> {
    this.#file.refresh(true);
    // Writing over a file that can't be read would throw away what is in it.
    if (this.#fault !== undefined) throw this.#damage();
    const all = new Map(this.#good);
    change(all);
    await mkdir(this.#workspace, { recursive: true, mode: 0o700 });
    await replaceFile(this.#file.path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    this.#file.refresh(true);
  }

  #current(): Stored {
    this.#file.refresh();
    if (this.#good === undefined) throw this.#damage();
    return this.#good;
  }

  #damage(): BlockhouseError {
    return new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${this.#file.path} can't be used: ${this.#fault}. Repair it or remove it.`);
  }

  #take(state: FileState): void {
    closeToOthers(this.#file.path, state); // before it is parsed: a damaged file holds keys too
    const content = state.kind === 'text' ? `text ${state.text}` : state.kind;
    if (content === this.#content) return; // a new mode or time alone is no change
    const first = this.#content === undefined;
    this.#content = content;
    try {
      this.#good = parseStored(state);
      this.#fault = undefined;
    } catch (error) {
      this.#fault = (error as Error).message;
      this.#bus.emit('credentials.damaged', { file: this.#file.path, reason: this.#fault });
      return;
    }
    if (!first) this.#bus.emit('credentials.changed', { file: this.#file.path });
  }
}

function parseStored(state: FileState): Stored {
  if (state.kind === 'missing') return new Map();
  if (state.kind === 'unreadable') throw new Error(state.reason);
  const json = parseWithoutEcho(state.text);
  if (!isObject(json)) throw new Error('it must hold a JSON object with one entry for each adapter');
  return new Map(Object.entries(json).map(([id, entry]) => [id, parseEntry(id, entry)]));
}

/** V8 quotes the text around a syntax error, and here that text may be a key. */
function parseWithoutEcho(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Error('it is not valid JSON');
  }
}

function parseEntry(id: string, entry: unknown): StoredSettings {
  if (!isObject(entry)) throw new Error(`the entry ${id} must be an object`);
  for (const [name, value] of Object.entries(entry)) {
    if (typeof value !== 'string') throw new Error(`${id}.${name} must be a string`);
  }
  return entry as Record<string, string>;
}
