// A block in a database, as it is copied out of it and into it.
//
// whole-block: a block is written in one transaction.
import { parseConfig } from '../../../block/documents/document-codecs.ts';
import { bytesOf } from '../../../block/conversation/chat-file.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { ArchiveInfo } from '../../../schemas/block-api.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import { blockNotFound } from '../../../schemas/names.ts';
import type { CopiedBlock, CopiedLog } from '../../parts/copied.ts';
import { DOCUMENTS, SCHEDULES } from '../../parts/documents.ts';
import { endOfPiece } from '../../parts/log-lines.ts';
import type { Entries } from '../../port.ts';
import { infoOf } from '../archive.ts';
import { listColumns } from '../documents.ts';
import { entryOf, type MessageRow, valuesOf, waitingOf } from '../message-row.ts';
import { makeParts } from '../partitions.ts';
import type { Database, Run } from '../pool.ts';
import { addRunFile, runFilesOf } from '../run-files.ts';
import { ADD_MESSAGES, COUNT_MESSAGES, REMOVE_LINES, REMOVE_MESSAGES } from '../sql/archive.ts';
import { AFTER } from '../sql/conversation.ts';
import * as sql from '../sql/copy.ts';
import { ADD, NAMES } from '../sql/logs.ts';

type Documents = CopiedBlock['documents'];
interface BlockRow {
  readonly block: number;
  readonly name: string;
  readonly archived_at: Date | null;
  readonly archive: Omit<ArchiveInfo, 'archiveName' | 'originalName' | 'archivedAt'> | null;
  readonly documents: Readonly<Record<string, unknown>> | null;
}

const ENTRIES_AT_ONCE = 200;
const MOST_BYTES = 4 * 1024 * 1024;

/** Rejects with BLOCK_NOT_FOUND, or with BLOCK_DAMAGED, which names the document. */
export async function readBlock(run: Run, place: string): Promise<CopiedBlock> {
  const [row] = await run<BlockRow>(sql.BLOCK, namesOf(place));
  if (row === undefined) throw blockNotFound(place);
  const { block, name, archived_at, archive, documents } = row;
  const of = <K extends keyof Documents>(kind: K, parse: (value: unknown) => Documents[K]): Documents[K] => {
    try {
      return parse(documents?.[kind]);
    } catch (error) {
      const text = `${kind}.json can't be used: ${(error as Error).message.replace(/\.$/, '')}. Repair it in the database.`;
      throw new BlockhouseError('BLOCK_DAMAGED', text, { cause: error });
    }
  };
  const [, archiveName] = namesOf(place);
  const files = await run<{ file: string; at: Date }>(NAMES, [block]);
  return {
    place,
    left: [],
    documents: {
      config: of('config', (value) => parseConfig(value, name, new Date(0).toISOString())),
      memory: of('memory', DOCUMENTS.memory.parse),
      costs: of('costs', DOCUMENTS.costs.parse),
      pulse: of('pulse', DOCUMENTS.pulse.parse),
      ...(documents?.['schedule'] !== undefined && { schedule: of('schedule', (value) => SCHEDULES.parse(value)) }),
    },
    archived: archiveName === null || archived_at === null ? undefined : infoOf({ archive_name: archiveName, name, archived_at, archive }),
    logs: files.map(({ file, at }) => ({ file, at, pieces: () => piecesOf(run, block, file) })),
    runs: await runFilesOf(run, block),
    entries: () => entriesOf(run, block),
  };
}

async function* entriesOf(run: Run, block: number): AsyncGenerator<Entries> {
  for (let after = -1; ; ) {
    const rows = await run<MessageRow>(AFTER, [block, after, ENTRIES_AT_ONCE]);
    if (rows.length > 0) yield rows.map(entryOf);
    after = rows.at(-1)?.seq ?? after;
    if (rows.length < ENTRIES_AT_ONCE) return;
  }
}

async function* piecesOf(run: Run, block: number, file: string): AsyncGenerator<Buffer> {
  for (let after = -1; ; ) {
    const rows = await run<{ place: number; bytes: Buffer }>(sql.LOG_AFTER, [block, file, after]);
    for (const { bytes } of rows) yield bytes;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.place;
  }
}

/** whole-block. What is at its place goes. `parts` has the parts of the log that are known to be there. */
export async function putBlock(database: Database, block: CopiedBlock, parts: Set<string>): Promise<void> {
  const known = new Set(parts);
  const times = block.logs.map(({ at }) => at);
  if (times.length > 0) await database.transaction((run) => makeParts(run, 'log_line', times, known));
  for (const part of known) parts.add(part);
  await database.transaction(async (run) => {
    await run(sql.PATIENT);
    await removeBlock(run, block.place);
    const [row] = await run<{ block: number }>(sql.CREATE, valuesOfBlock(block));
    if (row === undefined) throw new Error('the block was not made');
    let seq = 1;
    for await (const entries of block.entries()) {
      for (const some of inPieces(entries)) {
        await addEntries(run, row.block, seq, some);
        seq += some.length;
      }
    }
    await run(COUNT_MESSAGES, [row.block]);
    for (const log of block.logs) await addLog(run, row.block, log);
    for (const file of block.runs) await addRunFile(run, row.block, file);
  });
}

/** Within a transaction. */
export async function removeBlock(run: Run, place: string): Promise<void> {
  const [row] = await run<{ block: number }>(sql.REMOVE, namesOf(place));
  if (row === undefined) return;
  await run(REMOVE_MESSAGES, [row.block]);
  await run(REMOVE_LINES, [row.block]);
}

function valuesOfBlock({ place, documents, archived }: CopiedBlock): unknown[] {
  const { config, costs, pulse } = documents;
  const [description, provider, model, tags] = listColumns(config);
  const texts = Object.values(documents).map((value) => JSON.stringify(value));
  const { archiveName: _place, originalName = config.name, archivedAt = null, ...facts } = archived ?? {};
  return [
    ...[originalName, config.enabled, Object.keys(documents), texts, description, provider, model, tags],
    ...[pulse.state, pulse.status, costs.totalCost, namesOf(place)[1], archivedAt, archived === undefined ? null : JSON.stringify(facts)],
  ];
}

/** The name of a block, and its name in the archive; one of them is null. */
function namesOf(place: string): [name: string | null, archiveName: string | null] {
  const [kind, name = ''] = place.split('/');
  return kind === 'archive' ? [null, name] : [name, null];
}

function* inPieces(entries: Entries): Generator<Entries> {
  let piece: ChatEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (piece.length > 0 && bytes + bytesOf(entry) > MOST_BYTES) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(entry);
    bytes += bytesOf(entry);
  }
  if (piece.length > 0) yield piece;
}

async function addEntries(run: Run, block: number, seq: number, entries: Entries): Promise<void> {
  const rows = entries.map((entry, index) => [seq + index, ...valuesOf(entry), waitingOf(entry)]);
  const columns = rows[0]?.map((_, column) => rows.map((row) => row[column])) ?? [];
  await run(ADD_MESSAGES, [block, ...columns]);
}

async function addLog(run: Run, block: number, { file, at, pieces }: CopiedLog): Promise<void> {
  let place = 0;
  for await (const bytes of pieces()) {
    for (let from = 0; from < bytes.length; ) {
      const to = endOfPiece(bytes, from);
      await run(ADD, ['', [at.toISOString()], [block], [file], [place + from], [bytes.subarray(from, to)]]);
      from = to;
    }
    place += bytes.length;
  }
}
