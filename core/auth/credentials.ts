// The stored credentials: `auth.json`, one object per adapter, mode 0600, read again when it changes.
//
// C1 A damaged file never counts as an empty one: the last good content stays in use and the damage is told;
//    where there never was a good one, every use fails and names the file.
// C2 An entry of the wrong form concerns its adapter alone, and is kept as it stands.
// C3 Secrets leave this module only towards the settings resolution.
// C4 Changes are made one after the other, so that none is lost to another one made at the same time.
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';
import { ensureFolder, replaceFile } from '../workspace/atomic-file.ts';
import { closeToOthers, type FileState, FreshFile } from '../workspace/fresh-file.ts';

/** The stored settings of one adapter, as `auth.json` holds them. */
export type StoredSettings = Readonly<Record<string, string>>;
/** As they stand in the file; each is checked when it is used (C2). */
type Stored = ReadonlyMap<string, unknown>;

export class CredentialStore {
  readonly #file: FreshFile;
  readonly #bus: CoreBus;
  readonly #workspace: string;
  #good: Stored | undefined;
  /** Entries that were found to have the right form: each is asked for with every request. */
  readonly #sound = new WeakSet<object>();
  #fault: string | undefined;
  #content: string | undefined;
  /** one-change-at-a-time. */
  readonly #rewrites = new PQueue({ concurrency: 1 });

  /** `now` in monotonic milliseconds. */
  constructor(workspace: string, bus: CoreBus, now?: () => number) {
    this.#workspace = workspace;
    this.#bus = bus;
    this.#file = new FreshFile(join(workspace, 'auth.json'), (state) => this.#take(state), now);
  }

  /** The settings stored for an adapter. Throws ADAPTER_NOT_CONFIGURED for a bad entry, or when the file is damaged and never was good (C1, C2). */
  read(adapterId: string): StoredSettings | undefined {
    return this.#entry(this.#current(), adapterId);
  }

  /** Looks at the file, for those who wait for the bus to tell of a change. */
  refresh(): void {
    this.#file.refresh();
  }

  /** Ids that have an entry. Same failure as `read`. */
  ids(): string[] {
    return [...this.#current().keys()];
  }

  /** Changes fields of one adapter's entry and keeps the rest of the file. Throws as `read` does, also for a file damaged later. */
  async update(adapterId: string, fields: Readonly<Record<string, string>>): Promise<void> {
    await this.#rewrites.add(() => this.#rewrite((all) => all.set(adapterId, { ...this.#entry(all, adapterId), ...fields })));
  }

  /** Removes an adapter's entry; false when there was none. */
  async remove(adapterId: string): Promise<boolean> {
    let existed = false;
    await this.#rewrites.add(() =>
      this.#rewrite((all) => {
        existed = all.delete(adapterId);
      }),
    );
    return existed;
  }

  async #rewrite(change: (all: Map<string, unknown>) => void): Promise<void> {
    this.#file.refresh(true);
    // Writing over a file that can't be read would throw away what is in it.
    if (this.#fault !== undefined) throw this.#damage();
    const all = new Map(this.#good);
    change(all);
    await ensureFolder(this.#workspace);
    await replaceFile(this.#file.path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    this.#file.refresh(true);
  }

  #current(): Stored {
    this.#file.refresh();
    if (this.#good === undefined) throw this.#damage();
    return this.#good;
  }

  /** C2. */
  #entry(all: Stored, id: string): StoredSettings | undefined {
    const entry = all.get(id);
    if (entry === undefined) return undefined;
    if (!this.#sound.has(entry as object)) {
      const fault = faultOfEntry(id, entry);
      if (fault !== undefined) throw this.#damage(fault);
      this.#sound.add(entry as StoredSettings);
    }
    return entry as StoredSettings;
  }

  #damage(fault = this.#fault): BlockhouseError {
    return new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${this.#file.path} can't be used: ${fault}. Repair it or remove it.`);
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
  return new Map(Object.entries(json));
}

/** V8 quotes the text around a syntax error, and here that text may be a key. */
function parseWithoutEcho(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Error('it is not valid JSON');
  }
}

function faultOfEntry(id: string, entry: unknown): string | undefined {
  if (!isObject(entry)) return `the entry ${id} must be an object`;
  const wrong = Object.entries(entry).find(([, value]) => typeof value !== 'string');
  return wrong === undefined ? undefined : `${id}.${wrong[0]} must be a string`;
}
