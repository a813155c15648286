// The ledgers of a folder, as they are copied: what blocks have spent, and the calls of clients.
//
// whole-ledger: a ledger is written beside its place and then renamed, so a copy that is killed leaves the one before.
// newest-calls: as many calls of clients are kept as a server keeps, the newest.
// numbered: a line without an id, as old versions wrote it, is known by its number.
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createBus } from '../../../bus.ts';
import type { CopiedLine, CopiedSpend } from '../../parts/copied.ts';
import { SpendDays } from '../../parts/spend-days.ts';
import type { GatewayCall, OpenCall } from '../../port.ts';
import { syncFolder } from '../atomic-file.ts';
import { CallJournal } from '../ledger/call-journal.ts';
import { GATEWAY_FILES, GATEWAY_LIMITS, GatewayLedger, type GatewayLedgerLimits, interrupted } from '../ledger/gateway-ledger.ts';
import { lineOf } from '../ledger/gateway-lines.ts';
import { openLedger, readForward } from '../ledger/ledger-file.ts';
import { parseLine } from '../ledger/ledger-lines.ts';
import { RecentCalls } from '../ledger/ledger-reading.ts';
import { LEDGER_FILE } from '../ledger/ledger.ts';
import { fileIdOf, writeSpend } from '../ledger/spend-file.ts';

const AT_ONCE = 500;

/** The calls of blocks, the oldest first. Damaged lines are left out; `doctor` names them. */
export async function* readLedger(workspace: string): AsyncGenerator<CopiedLine> {
  const opened = await openLedger(join(workspace, LEDGER_FILE));
  if (opened === undefined) return;
  const recent = new RecentCalls();
  let number = 0;
  try {
    for await (const texts of readForward(opened)) {
      for (const text of texts) {
        number += 1;
        const line = parseLine(text);
        if (line === undefined || recent.isRepeated(line)) continue;
        const at = new Date(line.at).toISOString();
        if ('type' in line) {
          if (line.from !== line.block) yield { ...line, at };
        } else yield { ...line, at, id: line.id ?? `line-${number}` }; // numbered
      }
    }
  } finally {
    await opened.file.close();
  }
}

/** whole-ledger. */
export async function writeLedger(workspace: string, lines: AsyncIterable<CopiedLine>): Promise<void> {
  const path = join(workspace, LEDGER_FILE);
  const file = await open(`${path}.tmp`, 'w', 0o600);
  try {
    let texts: string[] = [];
    for await (const line of lines) {
      texts.push(`${JSON.stringify(line)}\n`);
      if (texts.length < AT_ONCE) continue;
      await file.appendFile(texts.join(''));
      texts = [];
    }
    await file.appendFile(texts.join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.tmp`, path);
  await syncFolder(workspace);
}

/** The calls of clients, and what keys have spent, with those that a killed server had under way. Writes nothing. */
export class ClientCalls {
  readonly #ledger: GatewayLedger;
  readonly #journal: CallJournal;
  #left: Promise<readonly OpenCall[]> | undefined;

  constructor(workspace: string) {
    this.#ledger = new GatewayLedger({ workspace, bus: createBus(), readsOnly: true });
    this.#journal = new CallJournal(join(workspace, GATEWAY_FILES.journal), () => undefined, Date.now);
  }

  /** The oldest first. */
  async *calls(): AsyncGenerator<GatewayCall> {
    yield* this.#ledger.lines();
    for (const call of await this.#leftOver()) yield interrupted(call);
  }

  /** By day. */
  async spent(): Promise<CopiedSpend[]> {
    await this.#ledger.read();
    const days = new SpendDays();
    for (const [day, account, sums] of this.#ledger.rows()) days.add(day, account, sums);
    for (const call of await this.#leftOver()) days.count(interrupted(call));
    return [...days.rows()];
  }

  /** What the journal has and the ledger has not. */
  #leftOver(): Promise<readonly OpenCall[]> {
    this.#left ??= (async () => {
      const left = new Map((await this.#journal.left()).map((call) => [call.id, call]));
      if (left.size > 0) for await (const { id } of this.#ledger.lines()) if (id !== undefined) left.delete(id);
      return [...left.values()];
    })();
    return this.#left;
  }
}

/** newest-calls. What is there before is replaced. */
export async function writeCalls(workspace: string, calls: AsyncIterable<GatewayCall>, spent: readonly CopiedSpend[], limits = GATEWAY_LIMITS): Promise<void> {
  const files = new CallFiles(workspace, limits);
  try {
    for await (const { id: _id, ...call } of calls) await files.add(lineOf(call));
    await files.finish();
  } finally {
    await files.close();
  }
  const sums = new SpendDays();
  for (const row of spent) sums.add(...row);
  await writeSpend(join(workspace, GATEWAY_FILES.spend), { spent: sums, place: files.place });
  await rm(join(workspace, GATEWAY_FILES.journal), { force: true });
}

/** The files of the calls of clients. */
class CallFiles {
  readonly #workspace: string;
  readonly #limits: GatewayLedgerLimits;
  /** The beginning of each, and its number, the newest first. */
  #files: { readonly id: string; readonly number: number }[] = [];
  #file: FileHandle | undefined;
  #texts: string[] = [];
  #bytes = 0;
  #written = 0;

  constructor(workspace: string, limits: GatewayLedgerLimits) {
    this.#workspace = workspace;
    this.#limits = limits;
  }

  get place(): { readonly files: readonly string[]; readonly bytes: number } {
    return { files: this.#files.map(({ id }) => id), bytes: this.#bytes };
  }

  async add(line: string): Promise<void> {
    if (this.#file === undefined || this.#bytes >= this.#limits.fileBytes) await this.#begin(line);
    this.#texts.push(line);
    this.#bytes += Buffer.byteLength(line);
    if (this.#texts.length >= AT_ONCE) await this.#flush();
  }

  /** Puts them in place of those that were there. */
  async finish(): Promise<void> {
    await this.close();
    for (let index = 0; index <= this.#limits.files; index += 1) {
      const name = index === 0 ? GATEWAY_FILES.ledger : GATEWAY_FILES.ledger.replace(/\.jsonl$/, `.${index}.jsonl`);
      const { number } = this.#files[index] ?? {};
      if (number === undefined) await rm(join(this.#workspace, name), { force: true });
      else await rename(this.#pathOf(number), join(this.#workspace, name));
    }
    await syncFolder(this.#workspace);
  }

  async close(): Promise<void> {
    await this.#flush();
    await this.#file?.sync();
    await this.#file?.close();
    this.#file = undefined;
  }

  async #begin(line: string): Promise<void> {
    await this.close();
    this.#file = await open(this.#pathOf(this.#written), 'w', 0o600);
    this.#files = [{ id: fileIdOf(Buffer.from(line)), number: this.#written }, ...this.#files];
    for (const { number } of this.#files.splice(this.#limits.files + 1)) await rm(this.#pathOf(number));
    this.#written += 1;
    this.#bytes = 0;
  }

  async #flush(): Promise<void> {
    await this.#file?.appendFile(this.#texts.join(''));
    this.#texts = [];
  }

  #pathOf(number: number): string {
    return join(this.#workspace, `${GATEWAY_FILES.ledger}.${number}.tmp`);
  }
}
