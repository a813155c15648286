// One block that is open: its files, its log, and the watch of its folder.
import { join } from 'node:path';
import type { Timing } from '../../../bus.ts';
import { formatFile } from '../../../block/documents/document-codecs.ts';
import type { BlockContents, ScheduleStates } from '../../port.ts';
import type { BlockListener, StoredBlock } from '../../store.ts';
import { measure } from '../folder-size.ts';
import type { ContentRoom } from '../../parts/content-room.ts';
import { BlockLog } from '../logs/block-log.ts';
import type { JsonFile } from '../json-file.ts';
import type { FolderWatches } from '../watch.ts';
import { type BlockFileSet, FILE_NAMES, openFiles, openSchedules, readContents } from './files.ts';

/** Names that have a watch of their own, or that are temporary. */
const OWN_FILE = /^$|^(config|memory|costs|pulse|chat|schedule)\.json$|\.tmp$|^logs$|^chat-archive$|^runs$/;

/** What an open block works with. */
export interface FileBlockOptions {
  readonly name: string;
  readonly folder: string;
  readonly watches: FolderWatches;
  readonly listener: BlockListener;
  /** For its conversation. */
  readonly room?: ContentRoom;
  /** Measures the writes of its files. */
  readonly timing?: Timing | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/** A block in its folder. */
export class FileBlock implements StoredBlock {
  readonly documents: BlockFileSet;
  readonly schedules: JsonFile<ScheduleStates>;
  readonly log: BlockLog;
  readonly #options: FileBlockOptions;

  constructor(options: FileBlockOptions) {
    const { name, folder, listener, now, timing, room } = options;
    this.#options = options;
    this.documents = openFiles(folder, name, listener, () => new Date(now()).toISOString(), { timing, ...(room && { room }) });
    this.schedules = openSchedules(folder, () => listener.onOther());
    this.log = new BlockLog(join(folder, 'logs'), {
      limits: () => listener.logLimits(),
      onFault: (error) => listener.onLogFault(error),
      onWritten: (file, offset, text) => listener.onLogged(file, offset, text),
      now,
    });
  }

  async standing(): Promise<undefined> {
    await Promise.resolve();
  }

  get isQuiet(): boolean {
    return !this.#files.some(({ isBusy }) => isBusy);
  }

  contents(): Promise<BlockContents> {
    return readContents(this.documents);
  }

  watch(): () => void {
    const { watches, folder } = this.#options;
    return watches.watch(folder, (fileName) => this.#touched(fileName));
  }

  measure(): ReturnType<StoredBlock['measure']> {
    return measure(this.#options.folder);
  }

  async pack(): Promise<Uint8Array> {
    const { name, folder } = this.#options;
    const { packFolder } = await import('../bundle/bundle.ts'); // its packages are loaded with the first export
    // The checked content, because the file on disk may be replaced meanwhile by one with a key in it.
    return packFolder(folder, name, { 'config.json': formatFile(await this.documents.config.read()) });
  }

  async close(): Promise<void> {
    await Promise.all(this.#files.map((file) => file.close()));
    await this.log.close();
  }

  reopen(): void {
    for (const file of this.#files) file.reopen();
    this.log.reopen();
  }

  get #files(): readonly Pick<JsonFile<unknown>, 'isBusy' | 'close' | 'reopen'>[] {
    return [...FILE_NAMES.map((file) => this.documents[file]), this.schedules];
  }

  #touched(fileName: string): void {
    for (const file of FILE_NAMES) {
      if (fileName === '' || fileName === `${file}.json`) void this.documents[file].refresh();
    }
    if (fileName === 'schedule.json') void this.schedules.refresh();
    // We don't use other files, but followers may show them.
    if (!OWN_FILE.test(fileName)) this.#options.listener.onOther();
  }
}
