// The bodies and answers of `/api` for a block and its archive. Pure: no I/O.
import type * as types from '../types.ts';
import { BLOCK_NAME_PATTERN, BlockConfigFile, BlockConfigPatch, Hook, MessageWindow } from './block-config.ts';
import { CostsFile } from './block-costs.ts';
import { Fact, MemoryFile } from './block-memory.ts';
import { PulseFile, Reason, STATES, STATUSES } from './block-pulse.ts';
import { Warning } from './chat.ts';
import { boolean, closedObject, count, listOf, money, number, object, oneOf, orNull, withDefault, string, time } from './fields.ts';

const yes = { type: 'boolean', const: true } as const;
/** The core checks the name with a rule of its own, whose message is clearer than that of a pattern. */
const blockName = { type: 'string', maxLength: 256, description: `Name that matches ${BLOCK_NAME_PATTERN} and is not reserved by Windows` } as const;
const warnings = { ...listOf(Warning), description: 'The first 20 unknown fields of the configuration; absent if there are none' } as const;

/** The body that creates a block. */
export const CreateBlock = closedObject({ name: blockName, config: { ...BlockConfigPatch, description: 'Configuration of the new block' } }, ['config']);
export type CreateBlock = types.CreateBlock;
/** A block was created; `warnings` name unknown fields of its configuration. */
export const BlockCreated = object({ success: yes, name: string, warnings }, ['warnings']);

/** The active messages that have failed and were not retried. */
export const Failures = object({
  count,
  since: { ...orNull(string), description: 'When the first of them failed; null if none failed' },
  last: { ...orNull(object({ id: string, at: string, code: string, message: string })), description: 'The message that failed last, and why' },
});
export type Failures = types.Failures;

/** An entry of the list of blocks. */
export const BlockEntry = object(
  {
    name: string,
    status: oneOf(STATUSES),
    state: oneOf(STATES),
    attention: boolean,
    config: {
      type: 'object',
      properties: { description: string, adapter: orNull(object({ provider: string, model: string })), tags: listOf(string), enabled: boolean },
    },
    costs: object({ totalInput: count, totalOutput: count, totalCost: money, calls: count, today: money }, ['today']),
    pulse: object({ status: oneOf(STATUSES), state: oneOf(STATES), lastPulse: orNull(string), nextWakeUp: orNull(string), error: orNull(string) }),
    queue: { ...count, description: 'Messages that wait for an answer' },
    failures: Failures,
    lastMessageAt: orNull(string),
    configError: { type: 'string', description: 'What is wrong with a file of this block' },
    budget: object({ dailyUsd: money, spentUsd: { type: 'number', minimum: 0 }, state: oneOf(['ok', 'warn', 'exceeded']) }),
    why: { type: 'string', description: 'Why the block needs a person, in one sentence; only with `attention`' },
    activity: { ...listOf(count), description: 'Answers in each of the last 24 hours, the present hour last' },
  },
  ['configError', 'why'],
);
export type BlockEntry = types.BlockEntry;
/** All blocks, sorted by name. */
export const BlockList = object({ blocks: listOf(BlockEntry) });

/** One block with the contents of its files. */
export const BlockDetails = object({ name: string, config: BlockConfigFile, memory: MemoryFile, costs: CostsFile, pulse: PulseFile });

/** The configuration of a block. */
export const ConfigAnswer = object({ config: BlockConfigFile });
/** The configuration after a change; `warnings` name unknown fields. */
export const ConfigChanged = object({ success: yes, config: BlockConfigFile, warnings }, ['warnings']);

/** A monitor was started or stopped; `pulse` is as it is afterwards. */
export const MonitorChanged = object({ success: yes, message: string, pulse: PulseFile });
/** A block was reset; `cleared` lists the parts that were cleared. */
export const WasReset = object({ success: yes, message: string, cleared: listOf(string) });
/** A change without any other result. */
export const Done = object({ success: yes, message: string });

/** Something that a person can do about the state of a block. */
export const Cure = object(
  {
    id: oneOf(['set-key', 'choose-model', 'raise-cap', 'start', 'unhalt', 'edit-config', 'free-disk', 'open-file', 'retry-message']),
    label: { type: 'string', description: 'The words of a button' },
    block: { type: 'string', description: 'The block that it concerns, if it is another one' },
    adapter: { type: 'string', description: 'The provider whose key is needed' },
    field: { type: 'string', description: 'The field of the configuration, or the id of the message' },
  },
  ['block', 'adapter', 'field'],
);
export type Cure = types.Cure;

/** Why a block is in its state, what it will do next without help, and what you can do. */
export const Explanation = object(
  {
    name: string,
    state: oneOf(STATES),
    status: oneOf(STATUSES),
    attention: boolean,
    reason: orNull(Reason),
    why: { type: 'string', description: 'Why the block is in its state, in one sentence' },
    next: { type: 'string', description: 'What the block will do next without help, and when' },
    fix: orNull(string),
    since: orNull(string),
    queue: PulseFile.properties.queue,
    failures: Failures,
    failed: { ...orNull(string), description: 'Which message failed last, why, and what to do; null if none failed' },
    notes: { ...listOf(string), description: 'What else to know, such as a schedule that was paused; absent if there is nothing' },
    lastTransitions: PulseFile.properties.transitions,
    actions: { ...listOf(Cure), description: 'What can be done, the most helpful first' },
  },
  ['reason', 'notes'],
);
export type Explanation = types.Explanation;

/** The end of one log file of a block. */
export const LogFile = object({
  file: string,
  content: { type: 'string', description: 'The last 64 KiB of the file' },
  size: count,
  modifiedAt: string,
  truncated: boolean,
});
export type LogFile = types.LogFile;
/** A part of a log file. Places are in bytes. */
export const LogPart = object({
  file: string,
  from: { ...count, description: 'Where the content begins, at the beginning of a line' },
  to: { ...count, description: 'Where it ends' },
  size: { ...count, description: 'Of the whole file' },
  content: string,
  modifiedAt: string,
});
export type LogPart = types.LogPart;
/** The newest log files, newest first. */
export const LogList = object({ logs: { ...listOf(LogFile), description: 'The 20 newest, newest first' } });
export type LogList = types.LogList;

const factText = { type: 'string', minLength: 1, maxLength: 10_000 } as const;
const pinned = { type: 'boolean', description: 'Pinned facts are in every prompt' } as const;
/** The body that adds a fact to a block's memory. */
export const AddFact = closedObject({ text: factText, pinned: withDefault(true, pinned) }, ['pinned']);
export type AddFact = types.AddFact;
/** The body that changes a fact; what is left out stays. */
export const ChangeFact = closedObject({ text: factText, pinned }, ['text', 'pinned']);
export type ChangeFact = types.ChangeFact;
/** A fact is in memory.json. */
export const FactAdded = object({ success: yes, fact: Fact });
/** The memory after a change. */
export const MemoryAnswer = object({ success: yes, message: string, memory: MemoryFile });

/** archive.json, and an entry of the list of archives. */
export const ArchiveInfo = {
  type: 'object',
  required: ['archiveName', 'originalName', 'archivedAt'],
  properties: {
    archiveName: string,
    originalName: string,
    archivedAt: time,
    description: string,
    sizeBytes: count,
    files: count,
    wasRunning: boolean,
    queuedMessages: count,
    totals: { type: 'object', properties: { totalInput: count, totalOutput: count, totalCost: money, calls: count } },
  },
} as const;
export type ArchiveInfo = types.ArchiveInfo;
/** The archived blocks, newest first. */
export const ArchiveList = object({ archives: listOf(ArchiveInfo) });
/** A block was moved to the archive. */
export const Archived = object({ success: yes, message: string, archiveName: string });
/** The body that restores an archived block. */
export const RestoreArchive = {
  type: 'object',
  additionalProperties: false,
  properties: { name: { ...blockName, description: 'New name for the restored block; by default its old name' } },
} as const;
export type RestoreArchive = types.RestoreArchive;
/** The body that renames a block. */
export const RenameBlock = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: { ...blockName, description: 'The new name' } },
} as const;
export type RenameBlock = types.RenameBlock;
/** A block was restored, imported or renamed: it is active under `name`. */
export const Restored = object({ success: yes, message: string, name: string });

/** Why runs were left out. */
export const SKIPPED = ['missed', 'overlap', 'halted', 'cap'] as const;
/** How many runs were left out, by the reason. */
export const SkippedRuns = object({
  missed: { ...count, description: 'The server or the block was stopped, or the machine slept' },
  overlap: { ...count, description: 'The message before was not answered yet' },
  halted: { ...count, description: 'All blocks were halted' },
  cap: { ...count, description: 'The budget of the block or `maxPerDay` was used up' },
});
export type SkippedRuns = types.SkippedRuns;

/** Who or what has paused a schedule. */
const pausedBecause = {
  ...orNull(oneOf(['person', 'failures'])),
  description: 'Somebody paused it, or five runs in a row failed; null while it runs',
} as const;

/** What schedule.json keeps of one schedule. Everything but `last` can be lost without harm. */
export const ScheduleState = object(
  {
    last: { ...time, description: 'The latest run, or when the schedule was first seen; no run at or before it ever comes again' },
    next: orNull(time),
    of: { type: 'string', description: 'The timing that `last` and `next` are of' },
    day: { type: 'string', description: 'The day of `today`' },
    today: count,
    fired: count,
    skipped: SkippedRuns,
    failures: { ...count, description: 'Failed runs in a row' },
    pausedBecause,
  },
  ['next', 'of', 'day', 'today', 'fired', 'skipped', 'failures', 'pausedBecause'],
);
export type ScheduleState = types.ScheduleState;
/** schedule.json: the state of each schedule by its id. */
export const ScheduleFile = { type: 'object', additionalProperties: ScheduleState } as const;

/** The outcome of a run. */
export const ScheduleOutcome = object({
  messageId: string,
  at: { ...time, description: 'When its message was sent' },
  status: string,
  error: orNull(string),
  costUsd: money,
});
/** A schedule as it stands. */
export const ScheduleView = {
  ...object(
    {
      id: string,
      cron: string,
      every: string,
      at: string,
      until: string,
      timezone: string,
      message: string,
      window: MessageWindow,
      catchUp: oneOf(['none', 'one', 'all']),
      graceMinutes: count,
      maxPerDay: count,
      enabled: boolean,
      state: {
        ...oneOf(['active', 'paused', 'off', 'over', 'invalid']),
        description: 'off: `enabled` is false; over: no run comes any more; invalid: `problem` says why it never runs',
      },
      problem: { ...orNull(string), description: 'What is wrong with it, or why it does not run now' },
      next: { ...listOf(time), description: 'The next three runs, UTC; empty unless it is active' },
      last: orNull(time),
      fired: count,
      skipped: SkippedRuns,
      failures: count,
      pausedBecause,
      lastOutcomes: { ...listOf(ScheduleOutcome), description: 'Of the last ten runs that chat.json has, the newest first' },
      costsAbout: {
        ...orNull(object({ perRunUsd: number, runsPerDay: number, perDayUsd: number })),
        description: 'The median of these runs, and times the runs a day; null while no price is known',
      },
    },
    ['cron', 'every', 'at', 'until'],
  ),
} as const;
export type ScheduleView = types.ScheduleView;
/** The schedules of a block. */
export const ScheduleList = object({
  schedules: listOf(ScheduleView),
  held: { ...orNull(string), description: 'Why no schedule of the block runs at this moment; null if nothing holds them up' },
});
export type ScheduleList = types.ScheduleList;
/** A schedule was paused or resumed. */
export const ScheduleChanged = object({ success: { type: 'boolean', const: true }, schedule: ScheduleView });

const { style, message: hookMessage, perHour } = Hook.properties;
/** The body that makes a hook, or changes one; what is left out stays. */
export const SetHook = closedObject(
  {
    style,
    message: { ...hookMessage, description: 'What the block is to do with what is delivered; a new hook needs it' },
    window: MessageWindow,
    perHour,
    secret: { type: 'string', minLength: 16, maxLength: 256, pattern: '^[ -~]+$', description: 'The secret of the sender; left out, a new hook gets one' },
    newSecret: { ...boolean, description: 'True makes another secret; the one before opens nothing any more' },
  },
  ['style', 'message', 'window', 'perHour', 'secret', 'newSecret'],
);
export type SetHook = types.SetHook;
/** A hook as it stands, without its secret. */
export const HookView = object({
  id: string,
  style: oneOf(['standard', 'github']),
  message: string,
  window: MessageWindow,
  perHour: count,
  path: { type: 'string', description: 'Where it takes deliveries, below the address of the server' },
  hasSecret: { ...boolean, description: 'False: nothing can be delivered until it has one' },
});
export type HookView = types.HookView;
/** The hooks of a block. */
export const HookList = object({ hooks: listOf(HookView) });
export type HookList = types.HookList;
/** A hook was made or changed. */
export const HookSet = object({ success: yes, hook: HookView, secret: { type: 'string', description: 'The secret, if one was made; it is shown this once' } }, [
  'secret',
]);
/** A delivery is a message, which is on disk. */
export const HookTaken = object({ messageId: string });
