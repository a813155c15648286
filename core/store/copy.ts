// Copies a workspace from one store into another, and compares two.
//
// nobody-works: neither side is used by a server meanwhile.
// earlier-copy: a target is empty, or holds an earlier copy of the same source that no server has used. So what differs from the source is an older state of it, and is replaced.
// block-by-block: each block is replaced as a whole. A copy that is killed leaves whole blocks, and the next one goes on with those that differ.
// whole-at-the-end: a server uses the target only after everything is there.
import { BlockhouseError, invalidRequest, toBlockhouseError } from '../errors.ts';
import { openFileSide } from './files/copy/file-side.ts';
import { type CopyFinding, callDifferences, differencesOf, isEqual, ledgerDigest, NEARLY_USD, settingDifferences, textOf } from './parts/copy-differences.ts';
import type { CopySource, CopyTarget } from './parts/copied.ts';
import { type BlockDigest, digestOf } from './parts/copy-digest.ts';
import { halfCopy } from './parts/copy-note.ts';
import { openPostgresSource, openPostgresTarget } from './postgres/copy/postgres-side.ts';

/** What is copied, and how. */
export interface CopyOptions {
  /** A folder, or an address such as `postgres://user@host/database?schema=bh_team`. */
  readonly from: string;
  readonly to: string;
  /** Blocks whose names fit, with `*` and `?`. */
  readonly only?: string | undefined;
  /** Only says what would be done. */
  readonly isTrial?: boolean;
  readonly signal?: AbortSignal;
  onProgress?(progress: CopyProgress): void;
}

/** Where a copy or a comparison is. */
export interface CopyProgress {
  readonly done: number;
  readonly total: number;
  /** What it works at: the place of a block, or another part of the workspace. */
  readonly at: string;
}

/** What a copy has done, or would do. */
export interface CopyReport {
  readonly from: string;
  readonly to: string;
  readonly blocks: { readonly copied: number; readonly same: number; readonly removed: number };
  /** The other parts that were copied. */
  readonly others: readonly string[];
  /** What could not be copied. */
  readonly failed: readonly CopyFinding[];
  /** What is not copied on purpose. */
  readonly left: readonly string[];
}

/** What a comparison has found. */
export interface CopyComparison {
  readonly from: string;
  readonly to: string;
  readonly compared: { readonly blocks: number; readonly messages: number; readonly ledgerLines: number; readonly clientCalls: number };
  readonly differences: readonly CopyFinding[];
}

const DATABASE = /^postgres(?:ql)?:\/\//;
const DAY_MS = 86_400_000;

/** Rejects with INVALID_REQUEST, WORKSPACE_BUSY, WORKSPACE_DAMAGED, NAME_TAKEN for a target that holds something else, CANCELLED, or what the stores reject with. */
export async function copyWorkspace(options: CopyOptions): Promise<CopyReport> {
  return withBoth(options, async (source, target) => new Copy(source, target, options).run()).catch((error: unknown) => {
    throw copyFault(error, 'What was copied stays, and the next copy goes on.');
  });
}

/** Rejects as `copyWorkspace` does. Writes nothing. */
export async function compareWorkspaces(options: CopyOptions): Promise<CopyComparison> {
  return withBoth(options, async (source, target) => {
    if (!target.isThere) throw invalidRequest('to', `has no workspace: ${target.shown}`);
    return new Comparison(source, target, options).run();
  }).catch((error: unknown) => {
    throw copyFault(error, 'Nothing was changed.');
  });
}

async function withBoth<T>({ from, to }: CopyOptions, work: (source: CopySource, target: CopyTarget) => Promise<T>): Promise<T> {
  if (!DATABASE.test(from) && !DATABASE.test(to))
    throw invalidRequest('to', 'must be a database, or the source must be one; copy a folder itself with `cp -a`, while no server runs');
  const source = await openSource(from);
  try {
    const target = await openTarget(to);
    try {
      if (source.id === target.id) throw invalidRequest('to', 'is the source itself');
      for (const side of [source, target]) if (side !== target || target.isThere) await side.assertUnused(); // nobody-works
      return await work(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function openSource(from: string): Promise<CopySource> {
  if (DATABASE.test(from)) return openPostgresSource(from);
  const source = await openFileSide(from);
  if (!source.isThere) throw invalidRequest('from', `has no workspace: there is no folder ${source.shown}`);
  return source;
}

async function openTarget(to: string): Promise<CopyTarget> {
  return DATABASE.test(to) ? openPostgresTarget(to) : openFileSide(to);
}

/** What both read. */
class Sides {
  protected readonly source: CopySource;
  protected readonly target: CopyTarget;
  readonly #options: CopyOptions;

  constructor(source: CopySource, target: CopyTarget, options: CopyOptions) {
    this.source = source;
    this.target = target;
    this.#options = options;
  }

  protected async places(side: CopySource): Promise<readonly string[]> {
    const fits = nameFilter(this.#options.only);
    return ('isThere' in side && side.isThere === false ? [] : await side.places()).filter(fits);
  }

  protected tell(done: number, total: number, at: string): void {
    if (this.#options.signal?.aborted) throw new BlockhouseError('CANCELLED', 'The copy was interrupted; the next one goes on.');
    this.#options.onProgress?.({ done, total, at });
  }

  protected get isTrial(): boolean {
    return this.#options.isTrial === true;
  }
}

class Copy extends Sides {
  #copied = 0;
  #same = 0;
  #removed = 0;
  readonly #others: string[] = [];
  readonly #failed: CopyFinding[] = [];
  readonly #left: string[] = [];

  async run(): Promise<CopyReport> {
    const { source, target } = this;
    const half = await source.note();
    if (half?.isWhole === false) throw halfCopy(source.shown, half);
    await this.#assertMayCopy();
    const note = { source: source.id, from: source.shown };
    if (!this.isTrial) {
      await target.setNote({ ...note, isWhole: false });
      await target.assertUnused(); // told-first
    }
    await this.#copyBlocks();
    await this.#copyOthers();
    await source.assertUnused();
    if (!this.isTrial && this.#failed.length === 0) await target.setNote({ ...note, isWhole: true }); // whole-at-the-end
    const blocks = { copied: this.#copied, same: this.#same, removed: this.#removed };
    return { from: source.shown, to: target.shown, blocks, others: this.#others, failed: this.#failed, left: this.#left };
  }

  /** earlier-copy. */
  async #assertMayCopy(): Promise<void> {
    const { source, target } = this;
    const note = target.isThere ? await target.note() : undefined;
    if (note?.source === source.id || (note === undefined && (await target.isEmpty()))) return;
    const holds = note === undefined ? 'a workspace that is no unused copy of the source' : `a copy of ${note.from}`;
    const cure = target.kind === 'files' ? 'an empty folder' : 'a schema that is empty or new (`?schema=` in the address)';
    throw new BlockhouseError('NAME_TAKEN', `${target.shown} holds ${holds}. Copy into ${cure}.`);
  }

  async #copyBlocks(): Promise<void> {
    const [here, there] = [await this.places(this.source), await this.places(this.target)];
    const before = new Set(there);
    for (const [index, place] of here.entries()) {
      this.tell(index, here.length, place);
      try {
        await this.#copyBlock(place, before.has(place));
      } catch (error) {
        const { code, message } = toBlockhouseError(error);
        if (code !== 'BLOCK_DAMAGED') throw error;
        this.#failed.push({ place, problem: message });
      }
    }
    const wanted = new Set(here);
    for (const place of there.filter((one) => !wanted.has(one))) {
      if (!this.isTrial) await this.target.remove(place);
      this.#removed += 1;
    }
  }

  async #copyBlock(place: string, isThere: boolean): Promise<void> {
    const block = await this.source.block(place);
    this.#left.push(...block.left);
    const isSame = isThere && differencesOf(await digestOf(block), await digestOf(await this.target.block(place))).length === 0;
    if (isSame) this.#same += 1;
    else this.#copied += 1;
    if (!isSame && !this.isTrial) await this.target.put(block);
  }

  async #copyOthers(): Promise<void> {
    const { source, target } = this;
    const none = !target.isThere && this.isTrial;
    const part = async (name: string, isNothing: () => Promise<boolean>, isSame: () => Promise<boolean>, put: () => Promise<void>): Promise<void> => {
      this.tell(0, 0, name);
      if (await (none ? isNothing() : isSame())) return;
      this.#others.push(name);
      if (!this.isTrial) await put();
    };
    await part(
      'ledger',
      () => isEmpty(source.ledger()),
      async () => isEqual(await ledgerDigest(source), await ledgerDigest(target)),
      () => target.putLedger(() => source.ledger()),
    );
    await part(
      'client calls',
      () => isEmpty(source.calls()),
      async () => (await callDifferences(source, target)).differences.length === 0,
      async () => target.putCalls(() => source.calls(), await source.spent()),
    );
    await part(
      'settings',
      async () => (await source.settings()).size === 0,
      async () => (await settingDifferences(source, target)).length === 0,
      async () => target.putSettings(await source.settings()),
    );
  }
}

class Comparison extends Sides {
  readonly #differences: CopyFinding[] = [];
  #messages = 0;

  async run(): Promise<CopyComparison> {
    const { source, target } = this;
    const [here, there] = [await this.places(source), await this.places(target)];
    const all = [...new Set([...here, ...there])].sort();
    const [hereToo, thereToo] = [new Set(here), new Set(there)];
    for (const [index, place] of all.entries()) {
      this.tell(index, all.length, place);
      if (!thereToo.has(place)) this.#differ(place, `is not in ${target.shown}`);
      else if (!hereToo.has(place)) this.#differ(place, `is only in ${target.shown}`);
      else for (const problem of await this.#compareBlock(place)) this.#differ(place, problem);
    }
    const ledgerLines = await this.#compareLedgers();
    this.tell(0, 0, 'client calls');
    const { differences, calls } = await callDifferences(source, target);
    this.#differences.push(...differences, ...(await settingDifferences(source, target)));
    const compared = { blocks: all.length, messages: this.#messages, ledgerLines, clientCalls: calls };
    return { from: source.shown, to: target.shown, compared, differences: this.#differences };
  }

  #differ(place: string, problem: string): void {
    this.#differences.push({ place, problem });
  }

  async #compareBlock(place: string): Promise<string[]> {
    const [here, there] = await Promise.all(
      [this.source, this.target].map(async (side): Promise<BlockDigest | string> => {
        try {
          return await digestOf(await side.block(place));
        } catch (error) {
          return `can't be read in ${side.shown}: ${toBlockhouseError(error).message}`;
        }
      }),
    );
    const problems = [here, there].filter((side) => typeof side === 'string');
    if (problems.length > 0) return problems;
    this.#messages += ['messages', 'waiting messages'].reduce((sum, part) => sum + ((here as BlockDigest)[part]?.count ?? 0), 0);
    return differencesOf(here as BlockDigest, there as BlockDigest);
  }

  async #compareLedgers(): Promise<number> {
    const { source, target } = this;
    this.tell(0, 0, 'ledger');
    const blocks = new Set<string>();
    const [here, there] = [await ledgerDigest(source, blocks), await ledgerDigest(target, blocks)];
    if (!isEqual(here, there)) this.#differ('ledger', textOf(here, there));
    const names = [...blocks].sort();
    for (const days of [1, 31]) {
      const since = Date.now() - days * DAY_MS;
      const [ours, theirs] = [await source.spends(names, since), await target.spends(names, since)];
      for (const [index, name] of names.entries()) {
        const [a, b] = [ours[index] ?? { usd: 0, tokens: 0 }, theirs[index] ?? { usd: 0, tokens: 0 }];
        if (Math.abs(a.usd - b.usd) > NEARLY_USD || a.tokens !== b.tokens)
          this.#differ('ledger', `${name} has spent ${a.usd} USD and ${a.tokens} tokens in ${days * 24} h, and ${b.usd} USD and ${b.tokens} tokens there`);
      }
    }
    return here.count;
  }
}

/** The faults of a disk, in the words of a copy. Unlike a single write, it may have changed something: `changed` says what. */
function copyFault(error: unknown, changed: string): unknown {
  if (error instanceof BlockhouseError)
    return error.code === 'STORAGE_FULL' ? new BlockhouseError(error.code, error.message.replace('Nothing was changed.', changed), { cause: error }) : error;
  const { code, errno, path } = error as NodeJS.ErrnoException;
  if (code === undefined || errno === undefined) return error; // A database has a code, and no number of the system.
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new BlockhouseError('STORAGE_FULL', `The disk is full. ${changed} Free some space and try again.`, { cause: error });
  return new BlockhouseError('STORAGE_FAILED', `${path ?? 'A file'} can't be read or written (${code}). ${changed}`, { cause: error });
}

async function isEmpty(all: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _one of all) return false;
  return true;
}

function nameFilter(only: string | undefined): (place: string) => boolean {
  if (only === undefined) return () => true;
  const pattern = only
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const name = new RegExp(`^${pattern}$`);
  return (place) => name.test(place.replace(/^(?:blocks|archive)\//, '').replace(/_[^_]*$/, ''));
}
