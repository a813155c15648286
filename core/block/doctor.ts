// Checks that every file of a workspace is valid, and that every message has exactly one outcome. Reads only.
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject, tryParseJson } from '../base/json.ts';
import { BlockhouseError } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import { isBlockName } from '../schemas/names.ts';
import type { DoctorReport, Finding } from '../schemas/workspace-api.ts';
import { isTemporaryName } from '../store/files/atomic-file.ts';
import { BlockFolders } from '../store/files/block/block-folders.ts';
import { FILE_NAMES } from '../store/files/block/files.ts';
import { ARCHIVE_LIMITS } from '../store/files/chat/chat-archive.ts';
import { readFault, readLines } from '../store/files/regular-file.ts';
import type { BlockContents, Entries, LedgerStore, ScheduleStates } from '../store/port.ts';
import type { Store } from '../store/store.ts';
import { failuresIn } from './conversation/counts.ts';
import { examineArchives, examineWorkspace, foreignFolders, itemsOf, warning } from './doctor-workspace.ts';
import { scheduleFindings } from './schedule-notes.ts';
import { type Candidate, candidatesOf } from './status/candidates.ts';
import { unknownFields } from './status/config-warnings.ts';

/** What is examined. */
export interface Examined {
  readonly workspace: string;
  readonly ledger: LedgerStore;
  readonly adapters: readonly Adapter[];
  /** Whether calls of a model count towards a cap in USD. */
  isPriceKnown(candidate: Candidate): Promise<boolean>;
  /** The files of a block. Throws BLOCK_DAMAGED. */
  read(name: string): Promise<BlockContents>;
  /** What is remembered of its schedules. Throws BLOCK_DAMAGED. */
  schedules(name: string): Promise<ScheduleStates>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Examines every file and reports what it finds. Throws only if the workspace itself can't be read. */
export async function examine({ workspace, ledger, adapters, isPriceKnown, read, schedules, now }: Examined): Promise<DoctorReport> {
  const findings = await examineWorkspace(workspace, ledger, adapters);
  const folders = new BlockFolders(workspace);
  const checked = { blocks: 0, files: 0, messages: 0 };
  for (const item of itemsOf(folders.blocks)) {
    if (isTemporaryName(item.name)) continue;
    if (!item.isDirectory() || !isBlockName(item.name)) {
      findings.push(warning(`blocks/${item.name}`, 'it is not a folder with a valid block name, so it is ignored', 'Move it elsewhere or rename it.'));
      continue;
    }
    checked.blocks += 1;
    checked.files += FILE_NAMES.length;
    const folder = join(folders.blocks, item.name);
    try {
      findings.push(...foreignFolders(folder, `blocks/${item.name}`), ...strayFiles(folder, `blocks/${item.name}`));
      const { chat, config } = await read(item.name);
      findings.push(
        ...unknown(config),
        ...(await uncountedCalls(config, isPriceKnown)),
        ...(await scheduleFindings(config, () => schedules(item.name), now())),
      );
      checked.messages += chat.length;
      const { ids, findings: unread } = await archivedIds(folder, `blocks/${item.name}/chat-archive`);
      findings.push(...unread, ...outcomes(chat, ids, `blocks/${item.name}/chat.json`), ...failed(chat, item.name), ...undecided(chat, item.name));
    } catch (error) {
      findings.push(unreadable(item.name, error));
    }
    await nextTurn();
  }
  findings.push(...(await examineArchives(folders)));
  return reportOf(findings, checked);
}

/** The same of blocks that a database keeps, where nobody edits by hand: this machine's folder has the rest. */
export async function examineStored(
  { workspace, ledger, adapters, isPriceKnown, read, schedules, now, check }: Examined & Pick<Store, 'check'>,
  names: readonly string[],
): Promise<DoctorReport> {
  const findings = [...(await examineWorkspace(workspace, ledger, adapters)), ...(await check())];
  const checked = { blocks: names.length, files: 0, messages: 0 };
  for (const name of names) {
    try {
      const { chat, config } = await read(name);
      checked.messages += chat.length;
      findings.push(
        ...(await uncountedCalls(config, isPriceKnown)),
        ...outcomes(chat, undefined, `blocks/${name}/chat.json`),
        ...failed(chat, name),
        ...undecided(chat, name),
      );
      findings.push(...(await scheduleFindings(config, () => schedules(name), now())));
    } catch (error) {
      findings.push(unreadable(name, error));
    }
  }
  return reportOf(findings, checked);
}

function unreadable(name: string, error: unknown): Finding {
  const problem = error instanceof BlockhouseError ? error.message : readFault(error as Error);
  return { severity: 'error', place: `blocks/${name}`, problem, fix: 'Repair the file by hand or archive the block.' };
}

function reportOf(findings: readonly Finding[], checked: DoctorReport['checked']): DoctorReport {
  return { ok: !findings.some(({ severity }) => severity === 'error'), checked, findings: [...findings] };
}

/** A cap in USD does not count the calls of a model without a known price. */
async function uncountedCalls(config: BlockConfig, isPriceKnown: Examined['isPriceKnown']): Promise<Finding[]> {
  const { name, budget } = config;
  if ((budget.dailyUsd === null && budget.monthlyUsd === null) || budget.dailyTokens !== null) return [];
  const findings: Finding[] = [];
  for (const candidate of candidatesOf(config)) {
    if (await isPriceKnown(candidate)) continue;
    const problem = `the cap in USD does not count calls of ${candidate.provider}/${candidate.model}, because their price is not known`;
    findings.push(warning(`blocks/${name}/config.json`, problem, `Set a cap in tokens as well: \`blockhouse config set ${name} budget.dailyTokens=<n>\`.`));
  }
  return findings;
}

/** A person who edits the file is not told by an answer. */
function unknown(config: BlockConfig): Finding[] {
  return unknownFields(config).map(({ field, meant }) => {
    const fix = meant === undefined ? 'Correct its name, or remove it.' : `Did you mean ${meant}? Correct the name in the file, or remove it.`;
    return warning(`blocks/${config.name}/config.json`, `${field.slice(0, 128)} is unknown to this version, so it has no effect`, fix);
  });
}

function strayFiles(folder: string, place: string): Finding[] {
  return readdirSync(folder)
    .filter((name) => /\.json\.corrupt-/.test(name))
    .map((name) => warning(`${place}/${name}`, 'it is a copy of a damaged file', 'Copy what you need from it, then delete it.'));
}

/** The ids of messages that are answered in chat-archive/, and findings about its files. */
async function archivedIds(folder: string, place: string): Promise<{ readonly ids: ReadonlySet<string>; readonly findings: Finding[] }> {
  const ids = new Set<string>();
  const findings: Finding[] = [];
  const archive = join(folder, 'chat-archive');
  const names = lstatSync(archive, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(archive) : [];
  for (const name of names.filter((one) => one.endsWith('.jsonl'))) {
    try {
      let strange = 0;
      for await (const lines of readLines(join(archive, name), ARCHIVE_LIMITS)) strange += takeAnswered(lines, ids);
      const problem = strange === 1 ? 'one line is not a message' : `${strange} lines are not messages`;
      if (strange > 0) findings.push(warning(`${place}/${name}`, problem, 'Remove the lines that are not messages.'));
    } catch (error) {
      findings.push(warning(`${place}/${name}`, readFault(error as Error), 'Make it readable or move it elsewhere.'));
    }
  }
  return { ids, findings };
}

/** Adds the ids of answered messages. Returns how many lines are not messages. */
function takeAnswered(lines: readonly (string | undefined)[], ids: Set<string>): number {
  let strange = 0;
  for (const line of lines) {
    if (line === '') continue;
    const entry = line === undefined ? undefined : tryParseJson(line);
    if (!isObject(entry)) strange += 1;
    else if (typeof entry['replyTo'] === 'string') ids.add(entry['replyTo']);
  }
  return strange;
}

/** Reports messages that failed and were not retried, so that a person notices them. */
function failed(chat: Entries, name: string): Finding[] {
  const { count, last } = failuresIn(chat);
  if (last === null) return [];
  const many = count === 1 ? `message ${last.id} has failed` : `${count} messages have failed, most recently ${last.id}`;
  const id = /^[\w-]+$/.test(last.id) ? last.id : '<id>'; // a file that was changed by hand may have anything here
  const fix = `Retry it with \`blockhouse queue ${name} --retry ${id}\`, or cancel it with \`blockhouse queue ${name} --cancel ${id}\`.`;
  return [warning(`blocks/${name}/chat.json`, `${many} (${last.code}: ${last.message})`, fix)];
}

/** Reports messages that wait for a person: they do so also while nobody looks. */
function undecided(chat: Entries, name: string): Finding[] {
  const waiting = chat.filter(({ status, waitingFor = [] }) => status === 'waiting-approval' && waitingFor.length > 0);
  if (waiting.length === 0) return [];
  const calls = waiting.flatMap(({ waitingFor = [] }) => waitingFor).length;
  const fix = 'Decide: `blockhouse approvals` lists them, while the server runs.';
  return [warning(`blocks/${name}/chat.json`, `${calls === 1 ? 'a call of a tool waits' : `${calls} calls of tools wait`} for your decision`, fix)];
}

/** `archived` contains the ids of messages with an archived answer; undefined where they are not known. */
function outcomes(chat: Entries, archived: ReadonlySet<string> | undefined, place: string): Finding[] {
  const answers = new Map<string, number>();
  for (const { replyTo } of chat) if (replyTo !== undefined) answers.set(replyTo, (answers.get(replyTo) ?? 0) + 1);
  return chat.flatMap((entry): Finding[] => {
    const { id, role, status, processed } = entry;
    const found: Finding[] = [];
    const fault = (problem: string): void => void found.push({ severity: 'error', place, problem: `${id}: ${problem}`, fix: 'Repair the entry by hand.' });
    if (role !== 'user' || id === undefined) return found;
    const count = answers.get(id) ?? 0;
    if (count > 1) fault(`it has ${count} answers`);
    if (status === 'done' && count === 0 && archived?.has(id) === false) {
      found.push(warning(place, `${id}: it is done but has no answer`, 'If it was written by hand, nothing needs to be done.'));
    }
    if (count === 1 && (status === 'queued' || status === 'processing' || status === 'waiting-approval'))
      fault(`it has an answer, but its status is ${status}`);
    if (processed === (status === 'queued' || status === 'processing' || status === 'waiting-approval'))
      fault(`processed is ${processed}, but its status is ${status}`);
    return found;
  });
}
