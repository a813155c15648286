// The bodies of calls of keys that are debugged: `debug-bodies.jsonl`, one line for each request. Whoever holds the workspace writes it, and nobody else.
//
// never-left: the file is removed before the first line of a process, at its end, and when no key is debugged any more. Nothing makes a copy of it.
// bounded-file: of a full file, the newest half stays.
// bounded-memory: while the disk is slower than the requests, further lines are dropped.
// no-copies: who asks for one request holds its lines alone, since many may ask at once and wait for each other.
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { tryParseJson } from '../../base/json.ts';
import { undefinedFor } from '../../base/undefined-for.ts';
import { faultText } from '../../errors.ts';
import type { DebuggedBodies } from '../../types.ts';
import { readLines, readRegular, SAFELY } from './regular-file.ts';

/** The name of the file in a workspace. */
export const DEBUG_FILE = 'debug-bodies.jsonl';
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | SAFELY;
const REWRITE = constants.O_WRONLY | constants.O_TRUNC | SAFELY;

/** Limits for tests. */
export interface DebugFileOptions {
  readonly maxBytes?: number;
  /** Called when a line could not be written or a file not be read. */
  onFault(error: string): void;
}

/** The file of one workspace. */
export class DebugFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #onFault: (error: string) => void;
  readonly #queue = new PQueue({ concurrency: 1 });
  #waitingBytes = 0;

  constructor(workspace: string, { maxBytes = MAX_BYTES, onFault }: DebugFileOptions) {
    this.#path = join(workspace, DEBUG_FILE);
    this.#maxBytes = maxBytes;
    this.#onFault = onFault;
  }

  /** Never fails. */
  add(bodies: DebuggedBodies): void {
    const line = Buffer.from(`${JSON.stringify(bodies)}\n`);
    if (this.#waitingBytes + line.length > MAX_WAITING_BYTES) return; // bounded-memory
    this.#waitingBytes += line.length;
    void this.#inTurn(async () => {
      this.#waitingBytes -= line.length;
      await this.#append(line);
    });
  }

  /** Those of one request, the oldest first. */
  async of(requestId: string): Promise<readonly DebuggedBodies[]> {
    const mark = `"requestId":${JSON.stringify(requestId)}`;
    const found = await this.#inTurn(() => this.#linesWith(mark));
    return (found ?? []).flatMap(parsed).filter((each) => each.requestId === requestId);
  }

  /** Deletes all bodies but those of these keys. */
  async keepOnly(keys: Iterable<string>): Promise<void> {
    const kept = new Set(keys);
    if (kept.size === 0) return this.remove();
    await this.#inTurn(async () => this.#rewrite((await this.#lines()).filter((line) => parsed(line).some(({ key }) => kept.has(key)))));
  }

  /** never-left. */
  async remove(): Promise<void> {
    await this.#inTurn(() => unlink(this.#path).catch(undefinedFor('ENOENT')));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#queue.add(work);
    } catch (error) {
      this.#onFault(faultText(error));
      return undefined;
    }
  }

  async #append(line: Buffer): Promise<void> {
    const file = await open(this.#path, APPEND, 0o600);
    try {
      const { size } = await file.stat();
      if (size + line.length <= this.#maxBytes) {
        await file.writeFile(line);
        return;
      }
    } finally {
      await file.close();
    }
    await this.#rewrite([...newest(await this.#lines(), this.#maxBytes / 2), line.toString().trimEnd()]); // bounded-file
  }

  /** In its place: a temporary file could stay behind. A part of it that a kill leaves is removed at the next start. */
  async #rewrite(lines: readonly string[]): Promise<void> {
    const file = await open(this.#path, REWRITE).catch(undefinedFor('ENOENT'));
    if (file === undefined) return;
    try {
      await file.writeFile(lines.map((line) => `${line}\n`).join(''));
    } finally {
      await file.close();
    }
  }

  /** no-copies. */
  async #linesWith(mark: string): Promise<string[]> {
    const found: string[] = [];
    for await (const lines of readLines(this.#path, { maxBytes: this.#maxBytes * 2, maxLineBytes: MAX_WAITING_BYTES }))
      found.push(...lines.filter((line): line is string => line?.includes(mark) === true));
    return found;
  }

  async #lines(): Promise<string[]> {
    const bytes = await readRegular(this.#path, this.#maxBytes * 2);
    return (bytes?.toString() ?? '').split('\n').filter((line) => line !== '');
  }
}

/** The last lines that fit into so many bytes. */
function newest(lines: readonly string[], maxBytes: number): readonly string[] {
  let bytes = 0;
  let first = lines.length;
  while (first > 0) {
    bytes += Buffer.byteLength(lines[first - 1] ?? '') + 1;
    if (bytes > maxBytes) break;
    first -= 1;
  }
  return lines.slice(first);
}

/** None for a line that a failed write has torn. */
function parsed(line: string): DebuggedBodies[] {
  const value = tryParseJson(line);
  return value === undefined ? [] : [value as DebuggedBodies];
}
