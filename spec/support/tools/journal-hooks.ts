// Watches, or breaks, what a process writes into journals, at the level of the file handle: the product's code is as it is.
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

/** What happens around the writes of records. What `onWrite` throws, or its torn part, is what the disk does. */
export interface JournalHooks {
  /** Called before a write of text that has records. Returns how much of it is written before the process goes on to `onTorn`; undefined for all. */
  onWrite?(text: string): number | undefined;
  onTorn?(): void;
  /** Called before a sync of a file whose last write had records, with that text. May throw. */
  onSync?(text: string): void;
  /** Called after it. */
  onSynced?(text: string): void;
}

interface Proto {
  writeFile(this: FileHandle, data: unknown, ...rest: unknown[]): Promise<void>;
  sync(this: FileHandle): Promise<void>;
}

/** Returns a function that takes the hooks away. */
export async function hookJournals(hooks: JournalHooks): Promise<() => void> {
  const path = join(tmpdir(), `hook-${process.pid}`);
  const handle = await open(path, 'w');
  const proto = Object.getPrototypeOf(handle) as Proto;
  await handle.close();
  await rm(path, { force: true });
  const { writeFile, sync } = proto;
  const written = new WeakMap<FileHandle, string>();
  proto.writeFile = async function (data, ...rest) {
    const text = Buffer.isBuffer(data) ? data.toString() : String(data);
    if (!text.startsWith('{"t":"')) return writeFile.call(this, data, ...rest);
    const torn = hooks.onWrite?.(text);
    if (torn === undefined) await writeFile.call(this, data, ...rest);
    else {
      await writeFile.call(this, text.slice(0, torn), ...rest);
      hooks.onTorn?.();
    }
    written.set(this, text);
  };
  proto.sync = async function () {
    const text = written.get(this);
    if (text !== undefined) hooks.onSync?.(text);
    await sync.call(this);
    if (text !== undefined) hooks.onSynced?.(text);
  };
  return () => Object.assign(proto, { writeFile, sync });
}
