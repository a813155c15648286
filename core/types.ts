// The types of the resources, which `npm run generate` makes from the schemas in core/schemas. Change the schema, not this file. Pure: types only.
import type { AdapterId } from './adapter-id.ts';

/** GET `/v1/adapters/{id}`, and an entry of the list. */
export interface AdapterInfo {
  readonly id: string;
  readonly displayName: string;
  readonly authRequired: boolean;
  readonly defaultModel: string;
  readonly defaultBaseURL?: string;
  readonly supportsStreaming: boolean;
  readonly envVars: readonly string[];
}

/** GET `/v1/adapters`. */
export interface AdapterList {
  readonly adapters: readonly AdapterInfo[];
}

/** An adapter, and whether it can be used at this moment. */
export interface AdapterStatus {
  readonly id: string;
  readonly displayName: string;
  readonly authRequired: boolean;
  readonly defaultModel: string;
  readonly defaultBaseURL?: string;
  readonly supportsStreaming: boolean;
  readonly envVars: readonly string[];
  readonly ready: boolean;
  /** True if auth.json or the environment has a key */
  readonly hasSecret: boolean;
  /** Why the provider is not ready: no credential, no answer, invalid settings, or a credential that was not looked for */
  readonly problem?: 'credential' | 'unreachable' | 'settings' | 'unchecked';
  readonly detail?: string;
}

/** GET `/api/adapters`. */
export interface AdapterStatusList {
  readonly adapters: readonly AdapterStatus[];
}

/** GET `/api/auth/status`. */
export interface AuthStatus {
  readonly authenticated: boolean;
}

/** GET `/v1/health?deep`. */
export interface DeepHealth {
  /** Failing without the disk or the database, or while blocks wait for the disk; degraded while a provider fails */
  readonly status: 'ok' | 'degraded' | 'failing';
  readonly version: string;
  readonly disk: {
    readonly freeBytes: number | null;
    readonly writeMs: number | null;
    readonly error: string | null;
  };
  /** The database; absent for a folder */
  readonly store?: {
    readonly latencyMs: number;
    readonly isAway: boolean;
    readonly node: string;
    readonly nodes: number;
  };
  readonly providers: readonly {
    readonly name: string;
    /** By the last call; unknown without one */
    readonly state: 'ok' | 'failing' | 'paused' | 'unknown' | 'not-set';
    readonly lastOkAt: string | null;
    readonly lastFailureAt: string | null;
    /** Of the last failure */
    readonly lastCode: string | null;
  }[];
}

/** GET `/v1/health`. */
export interface GatewayHealth {
  readonly status: 'ok';
  readonly version: string;
  readonly adapters: readonly string[];
  /** What keeps the workspace */
  readonly store?: {
    readonly kind: 'files' | 'postgres';
    /** Of a database: how long its last answer to this server took */
    readonly latencyMs?: number;
    /** Of a database: the id of this server */
    readonly node?: string;
    /** Of a database: how many servers share it */
    readonly nodes?: number;
    /** Of a database: whether this server is drained */
    readonly draining?: boolean;
  };
  /** True for a server without blocks; otherwise absent */
  readonly gatewayOnly?: true;
}

/** GET `/v1/adapters/{id}/models`. */
export interface ModelList {
  readonly provider: string;
  readonly models: readonly string[];
  readonly count: number;
}

/** GET `/api/health`. */
export interface ServerHealth {
  readonly status: 'ok';
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly blocks: number;
  readonly monitorsRunning: number;
  /** True for a server without blocks; otherwise absent */
  readonly gatewayOnly?: true;
  /** The model of a block that answers without a model; absent if this server has none */
  readonly standIn?: {
    readonly provider: string;
    readonly model: string;
  };
}

/** GET `/api/settings`. */
export interface SettingList {
  readonly settings: readonly ShownSetting[];
  /** What is wrong with auth.json, whose last good content is used; absent if nothing is */
  readonly fault?: string;
}

/** A value in auth.json or the environment; a secret is masked. `source` is `auth.json` or the name of the variable. */
export interface ShownSetting {
  readonly adapter: string;
  readonly field: string;
  readonly value: string;
  readonly source: string;
}

/** The body of POST `/v1/adapters/{id}/verify`. */
export interface VerifyRequest {
  /** Provider id; must be the one in the URL */
  readonly provider?: string;
  /** Settings for this request. They override auth.json, the environment and the defaults */
  readonly config?: ChatConfig;
}

/** The answer of POST `/v1/adapters/{id}/verify`. */
export interface VerifyResult {
  readonly provider: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** The body that adds a fact to a block's memory. */
export interface AddFact {
  readonly text: string;
  /** Pinned facts are in every prompt; default true */
  readonly pinned?: boolean;
}

/** archive.json, and an entry of the list of archives. */
export interface ArchiveInfo {
  readonly archiveName: string;
  readonly originalName: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly archivedAt: string;
  readonly description?: string;
  readonly sizeBytes?: number;
  readonly files?: number;
  readonly wasRunning?: boolean;
  readonly queuedMessages?: number;
  readonly totals?: {
    readonly totalInput?: number;
    readonly totalOutput?: number;
    readonly totalCost?: number | null;
    readonly calls?: number;
  };
}

/** The archived blocks, newest first. */
export interface ArchiveList {
  readonly archives: readonly ArchiveInfo[];
}

/** A block was moved to the archive. */
export interface Archived {
  readonly success: true;
  readonly message: string;
  readonly archiveName: string;
}

/** A block was created; `warnings` name unknown fields of its configuration. */
export interface BlockCreated {
  readonly success: true;
  readonly name: string;
  /** The first 20 unknown fields of the configuration; absent if there are none */
  readonly warnings?: readonly Warning[];
}

/** One block with the contents of its files. */
export interface BlockDetails {
  readonly name: string;
  readonly config: BlockConfigFile;
  readonly memory: MemoryFile;
  readonly costs: CostsFile;
  readonly pulse: PulseFile;
}

/** An entry of the list of blocks. */
export interface BlockEntry {
  readonly name: string;
  readonly status: BlockStatus;
  readonly state: BlockState;
  readonly attention: boolean;
  readonly config: {
    readonly description?: string;
    readonly adapter?: {
      readonly provider: string;
      readonly model: string;
    } | null;
    readonly tags?: readonly string[];
    readonly enabled?: boolean;
  };
  readonly costs: {
    readonly totalInput: number;
    readonly totalOutput: number;
    readonly totalCost: number | null;
    readonly calls: number;
    readonly today?: number | null;
  };
  readonly pulse: {
    readonly status: BlockStatus;
    readonly state: BlockState;
    readonly lastPulse: string | null;
    readonly nextWakeUp: string | null;
    readonly error: string | null;
  };
  /** Messages that wait for an answer */
  readonly queue: number;
  readonly failures: Failures;
  readonly lastMessageAt: string | null;
  /** What is wrong with a file of this block */
  readonly configError?: string;
  readonly budget: {
    readonly dailyUsd: number | null;
    readonly spentUsd: number;
    readonly state: 'ok' | 'warn' | 'exceeded';
  };
  /** Why the block needs a person, in one sentence; only with `attention` */
  readonly why?: string;
  /** Answers in each of the last 24 hours, the present hour last */
  readonly activity: readonly number[];
}

/** All blocks, sorted by name. */
export interface BlockList {
  readonly blocks: readonly BlockEntry[];
}

/** The body that changes a fact; what is left out stays. */
export interface ChangeFact {
  readonly text?: string;
  /** Pinned facts are in every prompt */
  readonly pinned?: boolean;
}

/** The configuration of a block. */
export interface ConfigAnswer {
  readonly config: BlockConfigFile;
}

/** The configuration after a change; `warnings` name unknown fields. */
export interface ConfigChanged {
  readonly success: true;
  readonly config: BlockConfigFile;
  /** The first 20 unknown fields of the configuration; absent if there are none */
  readonly warnings?: readonly Warning[];
}

/** The body that creates a block. */
export interface CreateBlock {
  /** Name that matches ^[a-z0-9][a-z0-9-]{0,31}$ and is not reserved by Windows */
  readonly name: string;
  /** Configuration of the new block */
  readonly config?: BlockConfigPatch;
}

/** Something that a person can do about the state of a block. */
export interface Cure {
  readonly id: 'set-key' | 'choose-model' | 'raise-cap' | 'start' | 'unhalt' | 'edit-config' | 'free-disk' | 'open-file' | 'retry-message';
  /** The words of a button */
  readonly label: string;
  /** The block that it concerns, if it is another one */
  readonly block?: string;
  /** The provider whose key is needed */
  readonly adapter?: string;
  /** The field of the configuration, or the id of the message */
  readonly field?: string;
}

/** A change without any other result. */
export interface Done {
  readonly success: true;
  readonly message: string;
}

/** Why a block is in its state, what it will do next without help, and what you can do. */
export interface Explanation {
  readonly name: string;
  readonly state: BlockState;
  readonly status: BlockStatus;
  readonly attention: boolean;
  readonly reason?: Reason | null;
  /** Why the block is in its state, in one sentence */
  readonly why: string;
  /** What the block will do next without help, and when */
  readonly next: string;
  readonly fix: string | null;
  readonly since: string | null;
  readonly queue: QueueCounts;
  readonly failures: Failures;
  /** Which message failed last, why, and what to do; null if none failed */
  readonly failed: string | null;
  /** What else to know, such as a schedule that was paused; absent if there is nothing */
  readonly notes?: readonly string[];
  /** The last 50 transitions */
  readonly lastTransitions: readonly Transition[];
  /** What can be done, the most helpful first */
  readonly actions: readonly Cure[];
}

/** A fact is in memory.json. */
export interface FactAdded {
  readonly success: true;
  readonly fact: Fact;
}

/** The active messages that have failed and were not retried. */
export interface Failures {
  readonly count: number;
  /** When the first of them failed; null if none failed */
  readonly since: string | null;
  /** The message that failed last, and why */
  readonly last: {
    readonly id: string;
    readonly at: string;
    readonly code: string;
    readonly message: string;
  } | null;
}

/** The hooks of a block. */
export interface HookList {
  readonly hooks: readonly HookView[];
}

/** A hook was made or changed. */
export interface HookSet {
  readonly success: true;
  readonly hook: HookView;
  /** The secret, if one was made; it is shown this once */
  readonly secret?: string;
}

/** A delivery is a message, which is on disk. */
export interface HookTaken {
  readonly messageId: string;
}

/** A hook as it stands, without its secret. */
export interface HookView {
  readonly id: string;
  readonly style: 'standard' | 'github';
  readonly message: string;
  /** How many earlier exchanges the model sees, or "all"; 3 if it is left out */
  readonly window: MessageWindow;
  readonly perHour: number;
  /** Where it takes deliveries, below the address of the server */
  readonly path: string;
  /** False: nothing can be delivered until it has one */
  readonly hasSecret: boolean;
}

/** The end of one log file of a block. */
export interface LogFile {
  readonly file: string;
  /** The last 64 KiB of the file */
  readonly content: string;
  readonly size: number;
  readonly modifiedAt: string;
  readonly truncated: boolean;
}

/** The newest log files, newest first. */
export interface LogList {
  /** The 20 newest, newest first */
  readonly logs: readonly LogFile[];
}

/** A part of a log file. Places are in bytes. */
export interface LogPart {
  readonly file: string;
  /** Where the content begins, at the beginning of a line */
  readonly from: number;
  /** Where it ends */
  readonly to: number;
  /** Of the whole file */
  readonly size: number;
  readonly content: string;
  readonly modifiedAt: string;
}

/** The memory after a change. */
export interface MemoryAnswer {
  readonly success: true;
  readonly message: string;
  readonly memory: MemoryFile;
}

/** A monitor was started or stopped; `pulse` is as it is afterwards. */
export interface MonitorChanged {
  readonly success: true;
  readonly message: string;
  readonly pulse: PulseFile;
}

/** The body that renames a block. */
export interface RenameBlock {
  /** The new name */
  readonly name: string;
}

/** The body that restores an archived block. */
export interface RestoreArchive {
  /** New name for the restored block; by default its old name */
  readonly name?: string;
}

/** A block was restored, imported or renamed: it is active under `name`. */
export interface Restored {
  readonly success: true;
  readonly message: string;
  readonly name: string;
}

/** A schedule was paused or resumed. */
export interface ScheduleChanged {
  readonly success: true;
  readonly schedule: ScheduleView;
}

/** schedule.json: the state of each schedule by its id. */
export type ScheduleFile = Readonly<Record<string, ScheduleState>>;

/** The schedules of a block. */
export interface ScheduleList {
  readonly schedules: readonly ScheduleView[];
  /** Why no schedule of the block runs at this moment; null if nothing holds them up */
  readonly held: string | null;
}

/** The outcome of a run. */
export interface ScheduleOutcome {
  readonly messageId: string;
  /** When its message was sent */
  readonly at: string;
  readonly status: string;
  readonly error: string | null;
  readonly costUsd: number | null;
}

/** What schedule.json keeps of one schedule. Everything but `last` can be lost without harm. */
export interface ScheduleState {
  /** The latest run, or when the schedule was first seen; no run at or before it ever comes again */
  readonly last: string;
  readonly next?: string | null;
  /** The timing that `last` and `next` are of */
  readonly of?: string;
  /** The day of `today` */
  readonly day?: string;
  readonly today?: number;
  readonly fired?: number;
  readonly skipped?: SkippedRuns;
  /** Failed runs in a row */
  readonly failures?: number;
  /** Somebody paused it, or five runs in a row failed; null while it runs */
  readonly pausedBecause?: 'person' | 'failures' | null;
}

/** A schedule as it stands. */
export interface ScheduleView {
  readonly id: string;
  readonly cron?: string;
  readonly every?: string;
  readonly at?: string;
  readonly until?: string;
  readonly timezone: string;
  readonly message: string;
  /** How many earlier exchanges the model sees, or "all"; 3 if it is left out */
  readonly window: MessageWindow;
  readonly catchUp: 'none' | 'one' | 'all';
  readonly graceMinutes: number;
  readonly maxPerDay: number;
  readonly enabled: boolean;
  /** off: `enabled` is false; over: no run comes any more; invalid: `problem` says why it never runs */
  readonly state: 'active' | 'paused' | 'off' | 'over' | 'invalid';
  /** What is wrong with it, or why it does not run now */
  readonly problem: string | null;
  /** The next three runs, UTC; empty unless it is active */
  readonly next: readonly string[];
  readonly last: string | null;
  readonly fired: number;
  readonly skipped: SkippedRuns;
  readonly failures: number;
  /** Somebody paused it, or five runs in a row failed; null while it runs */
  readonly pausedBecause: 'person' | 'failures' | null;
  /** Of the last ten runs that chat.json has, the newest first */
  readonly lastOutcomes: readonly ScheduleOutcome[];
  /** The median of these runs, and times the runs a day; null while no price is known */
  readonly costsAbout: {
    readonly perRunUsd: number;
    readonly runsPerDay: number;
    readonly perDayUsd: number;
  } | null;
}

/** The body that makes a hook, or changes one; what is left out stays. */
export interface SetHook {
  /** How deliveries are signed: as Standard Webhooks says, as if it is left out, or as GitHub does */
  readonly style?: 'standard' | 'github';
  /** What the block is to do with what is delivered; a new hook needs it */
  readonly message?: string;
  /** How many earlier exchanges the model sees, or "all"; 3 if it is left out */
  readonly window?: MessageWindow;
  /** The most deliveries an hour; 60 if it is left out */
  readonly perHour?: number;
  /** The secret of the sender; left out, a new hook gets one */
  readonly secret?: string;
  /** True makes another secret; the one before opens nothing any more */
  readonly newSecret?: boolean;
}

/** How many runs were left out, by the reason. */
export interface SkippedRuns {
  /** The server or the block was stopped, or the machine slept */
  readonly missed: number;
  /** The message before was not answered yet */
  readonly overlap: number;
  /** All blocks were halted */
  readonly halted: number;
  /** The budget of the block or `maxPerDay` was used up */
  readonly cap: number;
}

/** A block was reset; `cleared` lists the parts that were cleared. */
export interface WasReset {
  readonly success: true;
  readonly message: string;
  readonly cleared: readonly string[];
}

/** The model of a block and its settings, without keys. Settings have the names and meanings of `ChatConfig`; `candidatesOf` sends all of them. */
export interface BlockAdapter {
  /** Provider id */
  readonly provider: AdapterId;
  /** Model id of the provider: at most 2048 characters of printable ASCII without spaces, and no . or .. between slashes */
  readonly model: string;
  /** API endpoint, if not the default (all but bedrock) */
  readonly baseURL?: string;
  /** AWS region (bedrock), such as us-east-1 */
  readonly region?: string;
  /** Most tokens in an answer; default 4096 */
  readonly maxTokens?: number;
  /** Sampling temperature */
  readonly temperature?: number;
  /** Nucleus sampling */
  readonly topP?: number;
  /** Sampling from the k most likely tokens (not openai) */
  readonly topK?: number;
  /** How much the model thinks before it answers */
  readonly reasoning?: {
    readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
    /** The most tokens of reasoning, for models with a budget */
    readonly budgetTokens?: number;
  };
  /** Enable prompt caching (anthropic, bedrock) */
  readonly cacheControl?: boolean;
}

/** The model of a block and its settings, in a change: the region must be one of AWS. */
export interface BlockAdapterPatch {
  /** Provider id */
  readonly provider: AdapterId;
  /** Model id of the provider: at most 2048 characters of printable ASCII without spaces, and no . or .. between slashes */
  readonly model: string;
  /** API endpoint, if not the default (all but bedrock) */
  readonly baseURL?: string;
  /** Region override (bedrock), such as us-east-1 */
  readonly region?: string;
  /** Most tokens in an answer; default 4096 */
  readonly maxTokens?: number;
  /** Sampling temperature */
  readonly temperature?: number;
  /** Nucleus sampling */
  readonly topP?: number;
  /** Sampling from the k most likely tokens (not openai) */
  readonly topK?: number;
  /** How much the model thinks before it answers */
  readonly reasoning?: {
    readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
    /** The most tokens of reasoning, for models with a budget */
    readonly budgetTokens?: number;
  };
  /** Enable prompt caching (anthropic, bedrock) */
  readonly cacheControl?: boolean;
}

/** config.json on disk. Missing fields get their defaults when it is read. */
export interface BlockConfigFile {
  readonly name: string;
  /** What the block is for */
  readonly description?: string;
  readonly adapter?: BlockAdapter | null;
  /** Models to try in this order if the first one fails permanently */
  readonly fallbacks?: readonly {
    /** Provider id */
    readonly provider: AdapterId;
    /** Model id of the provider: at most 2048 characters of printable ASCII without spaces, and no . or .. between slashes */
    readonly model: string;
  }[];
  /** Instructions for the model */
  readonly systemPrompt?: string;
  /** Goals that are added to every prompt */
  readonly goals?: readonly string[];
  /** Words to find the block by */
  readonly tags?: readonly string[];
  readonly memory?: {
    /** Most tokens of a prompt; default 100000 */
    readonly maxContextTokens?: number;
    /** How full the window is when older messages are summarised; default 80 */
    readonly thresholdPercent?: number;
    /** Number of newest messages that are not summarised; default 20 */
    readonly keepMessages?: number;
  };
  readonly pulse?: {
    /** Seconds between two heartbeats, which never call a model; default 30 */
    readonly intervalSeconds?: number;
  };
  readonly retry?: {
    /** Most attempts to answer a message; default 4 */
    readonly maxAttempts?: number;
    /** Milliseconds before the second attempt; each further wait is twice as long; default 1000 */
    readonly baseMs?: number;
    /** Longest wait between two attempts, in milliseconds; default 300000 */
    readonly maxDelayMs?: number;
    /** A message that waits longer than this many milliseconds expires; default 86400000 */
    readonly staleAfterMs?: number;
  };
  readonly budget?: {
    /** Most USD to spend in a day; null for no cap */
    readonly dailyUsd?: number | null;
    /** Most USD to spend in a month; null for no cap */
    readonly monthlyUsd?: number | null;
    /** Most tokens to use in a day; null for no cap */
    readonly dailyTokens?: number | null;
    /** Share of a cap at which the budget state becomes warn; default 0.8 */
    readonly warnAt?: number;
    /** IANA time zone that decides when a day begins; default UTC */
    readonly timezone?: string;
  };
  readonly queue?: {
    /** Most messages that can wait; default 100 */
    readonly cap?: number;
  };
  readonly logs?: {
    /** Size at which a new log file is started; default 5242880 */
    readonly maxFileBytes?: number;
    /** Number of log files to keep; default 50 */
    readonly maxFiles?: number;
  };
  /** Messages that are sent at certain times */
  readonly schedule?: readonly Schedule[];
  /** Doors for other programs, each with a secret in auth.json */
  readonly hooks?: readonly Hook[];
  readonly tools?: BlockTools | null;
  /** Names of skills that it may read, or `*` for all that are there */
  readonly skills?: readonly string[];
  /** True if a new message starts a stopped monitor; default false */
  readonly autoStart?: boolean;
  /** True if the monitor is to start with the server. `start` sets it and `stop` clears it */
  readonly enabled?: boolean;
  /** ISO 8601, UTC, with milliseconds */
  readonly createdAt?: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly updatedAt?: string;
  readonly rev?: number;
}

/** A change of config.json. The merge is shallow: each given field replaces the old one as a whole, so a missing one has no default. */
export interface BlockConfigPatch {
  /** What the block is for */
  readonly description?: string;
  readonly adapter?: BlockAdapterPatch | null;
  /** Models to try in this order if the first one fails permanently */
  readonly fallbacks?: readonly {
    /** Provider id */
    readonly provider: AdapterId;
    /** Model id of the provider: at most 2048 characters of printable ASCII without spaces, and no . or .. between slashes */
    readonly model: string;
  }[];
  /** Instructions for the model */
  readonly systemPrompt?: string;
  /** Goals that are added to every prompt */
  readonly goals?: readonly string[];
  /** Words to find the block by */
  readonly tags?: readonly string[];
  readonly memory?: {
    /** Most tokens of a prompt; default 100000 */
    readonly maxContextTokens?: number;
    /** How full the window is when older messages are summarised; default 80 */
    readonly thresholdPercent?: number;
    /** Number of newest messages that are not summarised; default 20 */
    readonly keepMessages?: number;
  };
  readonly pulse?: {
    /** Seconds between two heartbeats, which never call a model; default 30 */
    readonly intervalSeconds?: number;
  };
  readonly retry?: {
    /** Most attempts to answer a message; default 4 */
    readonly maxAttempts?: number;
    /** Milliseconds before the second attempt; each further wait is twice as long; default 1000 */
    readonly baseMs?: number;
    /** Longest wait between two attempts, in milliseconds; default 300000 */
    readonly maxDelayMs?: number;
    /** A message that waits longer than this many milliseconds expires; default 86400000 */
    readonly staleAfterMs?: number;
  };
  readonly budget?: {
    /** Most USD to spend in a day; null for no cap */
    readonly dailyUsd?: number | null;
    /** Most USD to spend in a month; null for no cap */
    readonly monthlyUsd?: number | null;
    /** Most tokens to use in a day; null for no cap */
    readonly dailyTokens?: number | null;
    /** Share of a cap at which the budget state becomes warn; default 0.8 */
    readonly warnAt?: number;
    /** IANA time zone that decides when a day begins; default UTC */
    readonly timezone?: string;
  };
  readonly queue?: {
    /** Most messages that can wait; default 100 */
    readonly cap?: number;
  };
  readonly logs?: {
    /** Size at which a new log file is started; default 5242880 */
    readonly maxFileBytes?: number;
    /** Number of log files to keep; default 50 */
    readonly maxFiles?: number;
  };
  /** Messages that are sent at certain times */
  readonly schedule?: readonly Schedule[];
  /** Doors for other programs, each with a secret in auth.json */
  readonly hooks?: readonly Hook[];
  readonly tools?: BlockTools | null;
  /** Names of skills that it may read, or `*` for all that are there */
  readonly skills?: readonly string[];
  /** True if a new message starts a stopped monitor; default false */
  readonly autoStart?: boolean;
  /** True if the monitor is to start with the server. `start` sets it and `stop` clears it */
  readonly enabled?: boolean;
}

/** The tools of a block. */
export interface BlockTools {
  /** Names of the servers whose tools it may call */
  readonly servers?: readonly string[];
  /** Tools that it may never call, and does not see */
  readonly deny?: readonly string[];
  /** Tools whose calls wait for a person */
  readonly ask?: readonly string[];
  /** Tools that it may call */
  readonly allow?: readonly (string | ToolRule)[];
  /** What happens to calls of tools that no list names; default ask */
  readonly default?: 'ask' | 'deny';
  /** Tools that are offered even if the definitions are many */
  readonly always?: readonly string[];
  /** Whether calls that write or send wait for a person once the run has read output of a tool that reads the open world; default ask */
  readonly taint?: 'ask' | 'ignore';
  /** Who learns first that the outcome of a call is not known: the model, or a person; default tell */
  readonly onUnknown?: 'tell' | 'ask';
  readonly limits?: ToolLimits;
  readonly approvals?: {
    /** How long a call waits for a person, in milliseconds; default 86400000 */
    readonly timeoutMs?: number;
    /** What happens when nobody has decided; default deny */
    readonly onTimeout?: 'deny' | 'fail';
  };
  readonly send?: {
    /** The blocks that it may write to */
    readonly to?: readonly string[];
    /** Most blocks in a row that a message goes through; default 4 */
    readonly hops?: number;
    /** Most messages to other blocks for one message; default 5 */
    readonly perMessage?: number;
    /** Most messages to other blocks in an hour; default 30 */
    readonly perHour?: number;
  };
}

/** A hook in config.json. Its secret is in auth.json. */
export interface Hook {
  /** Name of the hook, once in a block: up to 32 lower-case letters, digits and `-` */
  readonly id: string;
  /** How deliveries are signed: as Standard Webhooks says, as if it is left out, or as GitHub does */
  readonly style?: 'standard' | 'github';
  /** What the block is to do with what is delivered */
  readonly message: string;
  /** How many earlier exchanges the model sees, or "all"; 3 if it is left out */
  readonly window?: MessageWindow;
  /** The most deliveries an hour; 60 if it is left out */
  readonly perHour?: number;
}

/** How many earlier exchanges the model sees with the message. */
export type MessageWindow = number | 'all';

/** A schedule in config.json. It has one of `cron`, `every` and `at`. */
export interface Schedule {
  /** Name of the schedule, once in a block: up to 32 lower-case letters, digits and `-` */
  readonly id: string;
  /** Five fields, such as `0 8 * * 1-5`, or @hourly, @daily, @weekly, @monthly */
  readonly cron?: string;
  /** A time span, such as `30m`, `6h` or `2d`; one minute at least */
  readonly every?: string;
  /** Once: ISO 8601 with `Z` or an offset, such as `2026-12-24T09:00:00+01:00` */
  readonly at?: string;
  /** IANA time zone of `cron`, `until` and the days of `maxPerDay`; the block's `budget.timezone` if it is left out */
  readonly timezone?: string;
  /** What is sent to the block */
  readonly message: string;
  /** How many earlier exchanges the model sees, or "all"; 3 if it is left out */
  readonly window?: MessageWindow;
  /** What becomes of runs that were missed: none is made up for, the latest one (one, as if it is left out), or all of them, 24 at most */
  readonly catchUp?: 'none' | 'one' | 'all';
  /** How old a missed run may be that `catchUp: one` makes up for; 60 if it is left out */
  readonly graceMinutes?: number;
  /** The most runs a day; 48 if it is left out */
  readonly maxPerDay?: number;
  /** The last day on which it runs */
  readonly until?: string;
  /** False turns it off */
  readonly enabled?: boolean;
}

/** The most that one message may use. */
export interface ToolLimits {
  /** Most calls of the model; default 25 */
  readonly steps?: number;
  /** Most calls of tools; default 50 */
  readonly calls?: number;
  /** Most seconds of work; waiting for people does not count; default 900 */
  readonly seconds?: number;
  /** Most tokens of all calls of the model; default null */
  readonly tokens?: number | null;
  /** Most USD for all calls of the model; default null */
  readonly usd?: number | null;
  /** Most calls of tools at a time; default 4 */
  readonly parallel?: number;
  /** Most tokens of one result that the model sees; default 8000 */
  readonly resultTokens?: number;
  /** Most tokens of the definitions of tools in a prompt; default 10000 */
  readonly definitionTokens?: number;
  /** The equal call of a message that is refused first; default 3 */
  readonly sameCall?: number;
}

/** A rule that allows some calls of a tool. */
export interface ToolRule {
  /** server/tool; * means any text */
  readonly tool: string;
  /** Arguments that must be there, each a path that fits this pattern; ~ is the home folder, ** any folders */
  readonly where?: Readonly<Record<string, string>>;
  /** Allows calls with exactly these arguments */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Allows the tool only while its definition has this hash */
  readonly pin?: string;
  /** Allows the call also after the run has read output of a tool that reads the open world */
  readonly evenTainted?: boolean;
}

/** What was spent today and this month, and whether a cap is near or reached. */
export interface BudgetStand {
  readonly day: {
    readonly usd: number;
    readonly tokens: number;
    readonly key?: string;
  };
  readonly month: {
    readonly usd: number;
    readonly tokens: number;
    readonly key?: string;
  };
  readonly state: 'ok' | 'warn' | 'exceeded';
}

/** Sums of calls: tokens, USD, and the number of calls. */
export interface CostBucket {
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Cost in USD; null if no call has a known price */
  readonly costUsd: number | null;
  readonly unpricedCalls: number;
}

/** costs.json: counts of a block's calls, derived from the ledger. */
export interface CostsFile {
  readonly totalInput: number;
  readonly totalOutput: number;
  /** Cost in USD; null if no call has a known price */
  readonly totalCost: number | null;
  /** Input tokens since the monitor was last started */
  readonly sessionInput?: number;
  readonly sessionOutput?: number;
  readonly sessionCost?: number | null;
  readonly currency?: 'USD';
  readonly calls: number;
  readonly failedCalls?: number;
  readonly unpricedCalls?: number;
  readonly byModel?: Readonly<Record<string, CostBucket>>;
  /** Sums of each of the last 90 days (UTC) */
  readonly byDay?: Readonly<Record<string, CostBucket>>;
  readonly byPurpose?: Readonly<Record<string, CostBucket>>;
  /** How many answers the newest hours (UTC, `2026-11-20T14`) had; hours without answers are left out */
  readonly answersByHour?: Readonly<Record<string, number>>;
  readonly lastCall?: {
    /** ISO 8601, UTC, with milliseconds */
    readonly at: string;
    readonly messageId?: string | null;
    readonly provider: string;
    readonly model: string;
    readonly usage?: Usage | null;
    readonly costUsd?: number | null;
    readonly latencyMs?: number | null;
    readonly ttftMs?: number | null;
  } | null;
  readonly budget?: BudgetStand;
  readonly lastUpdated?: string | null;
  readonly lastReset?: string | null;
}

/**
 * One compaction of a block's memory. It starts when the window passes its threshold or its limit, or when a person asks for it. It writes a new
 * summary, or moves the window without one (`evicted`), or moves nothing (`failed`).
 */
export interface Compaction {
  readonly id: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly trigger: 'threshold' | 'overflow' | 'manual';
  readonly outcome: 'summarized' | 'evicted' | 'failed';
  /** Number of entries that left the window */
  readonly messages?: number;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  readonly model?: string | null;
  readonly costUsd?: number | null;
  /** The summary that this compaction replaced; undo restores it */
  readonly previousSummary?: string;
  readonly previousTaint?: readonly Taint[];
  readonly previousFirstKeptId?: string | null;
  readonly undone?: boolean;
}

/** One fact in memory.json; pinned facts are in every prompt. */
export interface Fact {
  readonly id: string;
  readonly text: string;
  readonly pinned: boolean;
  /** ISO 8601, UTC, with milliseconds */
  readonly createdAt?: string;
  /** `block` where the block has kept it itself with `block/remember` */
  readonly by?: string;
  readonly taint?: readonly Taint[];
  /** The message in whose run it was kept */
  readonly messageId?: string;
}

/** memory.json: facts, summary and window. Tokens are estimates. */
export interface MemoryFile {
  readonly summary: string;
  readonly summaryUpdatedAt?: string | null;
  /** What of somebody outside was read for what the summary sums up; the first ten */
  readonly taint?: readonly Taint[];
  readonly facts: readonly Fact[];
  readonly window: {
    /** Id of the first entry that the model sees; null if it sees all */
    readonly firstKeptId: string | null;
    readonly messages: number;
    readonly tokens: number;
    readonly maxTokens: number;
    readonly percent: number;
  };
  /** The last 20 compactions */
  readonly compactions: readonly Compaction[];
  readonly compactionCount: number;
}

/** The message that is being answered, or the compaction under way. */
export interface CurrentTask {
  readonly messageId: string | null;
  /** ISO 8601, UTC, with milliseconds */
  readonly startedAt: string;
  readonly attempt: number;
  readonly phase: 'waiting-model' | 'streaming' | 'checking' | 'calling-tool' | 'concluding' | 'saving' | 'compacting';
  readonly outputChars: number;
  /** With tools: which call of the model this is */
  readonly step?: number;
  /** With tools: how many there may be */
  readonly steps?: number;
  /** The tool that is called */
  readonly tool?: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly toolSince?: string;
}

/** pulse.json: what the monitor does and has done. */
export interface PulseFile {
  readonly status: BlockStatus;
  readonly state: BlockState;
  readonly reason?: Reason | null;
  readonly desired?: 'running' | 'stopped';
  /** True if the block needs a person */
  readonly attention?: boolean;
  readonly lastPulse?: string | null;
  /** When the last reply ended */
  readonly lastRun?: string | null;
  readonly nextWakeUp?: string | null;
  readonly error?: string | null;
  readonly currentTask?: CurrentTask | null;
  readonly startedAt?: string | null;
  readonly stoppedAt?: string | null;
  readonly uptimeSeconds?: number;
  readonly restarts?: number;
  readonly consecutiveFailures?: number;
  readonly queue?: QueueCounts;
  /** The last 50 transitions */
  readonly transitions?: readonly Transition[];
}

/** How many messages are waiting, are being answered, or have failed. */
export interface QueueCounts {
  readonly queued: number;
  readonly processing: number;
  readonly failed: number;
  readonly oldestQueuedAt: string | null;
}

/** Why a block is in its state, and the command or edit that changes it. */
export interface Reason {
  readonly code: string;
  readonly message: string;
  readonly fix: string | null;
}

/** The states of a block. docs/architecture.md explains them. */
export type BlockState = 'unconfigured' | 'stopped' | 'starting' | 'idle' | 'working' | 'compacting' | 'backoff' | 'paused' | 'waiting-approval' | 'stopping' | 'failed';

/** The coarse status of a block; `statusOf` maps the states to it. */
export type BlockStatus = 'SLEEPING' | 'ACTIVE' | 'BUSY' | 'ERROR';

/** One change of a block's state. */
export interface Transition {
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly from: BlockState;
  readonly to: BlockState;
  readonly cause: string;
  readonly actor: 'user' | 'monitor' | 'server' | 'budget';
}

/** The query of a request that waits for an answer. */
export interface AnswerWait {
  /** The longest wait for the answer, in seconds; without it, the request does not wait */
  readonly wait?: number;
  /** With `wait` and a stream: true for the events `run` and `approval` besides, which show the calls of tools and those that wait for people. Such a stream goes on while a call waits. Default false */
  readonly steps?: boolean;
}

/** One approval. */
export interface ApprovalFound {
  readonly approval: ShownApproval;
}

/** A page of approvals: pending ones with the next deadline first, others with the newest decision first. */
export interface ApprovalList {
  readonly approvals: readonly ShownApproval[];
  /** For the next page; null at the end */
  readonly cursor: string | null;
}

/** Which approvals are listed. */
export interface ApprovalQuery {
  /** Those in this state; pending if it is left out. Of the others, those since the server has started */
  readonly state?: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';
  /** Those of this block */
  readonly block?: string;
  /** That of the page before */
  readonly cursor?: string;
  /** Most approvals of a page; 100 if it is left out */
  readonly limit?: number;
}

/** The body that asks the last message of a conversation again. */
export interface AskAgain {
  /** The message as it should have been; left out: as it is */
  readonly message?: string;
  /** The provider or connection of `model`; left out: the one before its first `/`, or else the block's */
  readonly provider?: string;
  /** The model to ask this time, and no fallback; left out: the block's */
  readonly model?: string;
  /** Your own id for the message. Sending the same id again does not create a second message */
  readonly clientId?: string;
}

/** The result of waiting for an answer. */
export interface AwaitedMessage {
  readonly entry: ChatEntry;
  /** The newest answer to the entry; null if there is none */
  readonly answer: ChatEntry | null;
  /** Whether the monitor is running */
  readonly running: boolean;
  /** Why the message is not finished yet; null if it is */
  readonly note: string | null;
}

/** The receipt of a message. After a wait it also has the finished message and its answer. */
export interface ChatAnswer {
  readonly queued: true;
  readonly block: string;
  /** Id of the message; its answer has it in replyTo */
  readonly id: string;
  /** Number of messages before this one, including those being answered; also 0 if it has already been answered */
  readonly position: number;
  /** True if the monitor is running and will answer */
  readonly running: boolean;
  readonly note: string;
  readonly entry?: ChatEntry;
  /** The newest answer to the entry; null if there is none */
  readonly answer?: ChatEntry | null;
}

/** Entries of a conversation, oldest first. */
export interface ChatHistory {
  readonly messages: readonly ChatEntry[];
  /** Number of the last step of a reply, as in the `stream` frames of the WebSocket, that the messages are at least as new as */
  readonly seq: number;
}

/** A message is queued and on disk. */
export interface ChatReceipt {
  readonly queued: true;
  readonly block: string;
  /** Id of the message; its answer has it in replyTo */
  readonly id: string;
  /** Number of messages before this one, including those being answered; also 0 if it has already been answered */
  readonly position: number;
  /** True if the monitor is running and will answer */
  readonly running: boolean;
  readonly note: string;
}

/** A decision about a call that waits. */
export interface Decide {
  /** `ran`, `not-ran` and `tell` are for a call whose outcome is not known */
  readonly decision: 'approve' | 'deny' | 'ran' | 'not-ran' | 'tell';
  /** That of the approval, as it was shown */
  readonly digest: string;
  /** With `approve`: `always` and `same-arguments` also write a rule into the configuration of the block; `once` if it is left out */
  readonly scope?: 'once' | 'always' | 'same-arguments';
  /** For the model */
  readonly note?: string;
  /** With `approve`, for the kind input: an answer for each form, by its name. `deny` declines all */
  readonly input?: Readonly<Record<string, InputAnswer>>;
}

/** A page of a conversation, including archived entries. */
export interface HistoryPage {
  /** Most entries to return; 100 by default, and fewer if they are larger than 8 MiB together */
  readonly limit?: number;
  /** Id of an entry; the page ends right before it */
  readonly before?: string;
  /** Id of an entry; the page starts right after it */
  readonly since?: string;
}

/** A message was cancelled or retried. */
export interface MessageChanged {
  readonly success: true;
  readonly message: string;
  readonly entry: ChatEntry;
}

/** One entry and its answer, active or archived. */
export interface MessageFound {
  readonly entry: ChatEntry;
  /** The newest answer to the entry; null if there is none */
  readonly answer: ChatEntry | null;
}

/** All versions of a message, the oldest first. */
export interface MessageVersions {
  readonly versions: readonly MessageFound[];
}

/** The body that queues a message. */
export interface PostMessage {
  readonly message: string;
  /** Your own id for the message. Sending the same id again does not create a second message */
  readonly clientId?: string;
}

/** Which characters of a whole result are wanted, counted in UTF-16 units. */
export interface ResultPage {
  /** The first character of the text; 0 by default. Behind the end, the text is empty */
  readonly offset?: number;
  /** Most characters to return; 8,000 by default if there is an `offset` */
  readonly limit?: number;
}

/** A call that waits for a person. */
export interface Approval {
  readonly id: string;
  readonly block: string;
  readonly messageId: string;
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  /** unknown: whether a call ran whose outcome is not known */
  readonly kind: 'call' | 'unknown' | 'input';
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Of tool, arguments and definition. A decision names it */
  readonly digest: string;
  readonly because: 'rule' | 'default' | 'tainted' | 'repeat' | 'unknown' | 'input';
  readonly marks: ToolMarks;
  /** Tools whose output the run has read */
  readonly readBefore: readonly string[];
  /** What the run, its message or what it remembers has read of somebody outside; the first ten */
  readonly taint?: readonly Taint[];
  /** The hash of the definition of the tool */
  readonly pin?: string;
  /** For the kind input: the forms that the server asks for, by the names that it gives them */
  readonly request?: Readonly<Record<string, InputForm>>;
  /** ISO 8601, UTC, with milliseconds */
  readonly createdAt: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly expiresAt: string;
}

/** A model that one message asks. */
export interface AskedModel {
  readonly provider: string;
  readonly model: string;
}

/** What a client may say of where its message comes from. */
export type Channel = 'web' | 'cli' | 'api';

/** How a message came: one step of its way. */
export interface ChainLink {
  readonly via: 'api' | 'key' | 'hook' | 'mcp' | 'block';
  /** The name of the key with which it was sent */
  readonly key?: string;
  /** The key was trusted when the message came, so it does not taint */
  readonly trusted?: boolean;
  /** The id of the hook that took it */
  readonly hook?: string;
  /** The name of the block that has sent it with a call of `block/send` */
  readonly block?: string;
  /** How many messages in a row came from `block/later` before, without a person or a schedule */
  readonly links?: number;
}

/** An entry of chat.json. */
export interface ChatEntry {
  /** Id of the entry; ids sort by time of arrival */
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly timestamp: string;
  /** False while a user message is waiting or being answered */
  readonly processed: boolean;
  readonly status: 'queued' | 'processing' | 'waiting-approval' | 'done' | 'failed' | 'cancelled' | 'expired' | 'interrupted';
  readonly channel: 'web' | 'cli' | 'api' | 'schedule' | 'hook' | 'mcp' | 'block';
  /** On an answer: id of the message that it answers */
  readonly replyTo?: string;
  /** On a message that was asked again: id of the message whose place it takes. Once it is answered, models see it and no longer the other one */
  readonly replaces?: string;
  /** On a message: the model that is asked in place of the block's */
  readonly asks?: AskedModel;
  /** On a message from a hook, from an agent over MCP, from another block, or from a program that asks the block as a model: how it came, and with which key */
  readonly chain?: readonly ChainLink[];
  /** On a message: how many earlier exchanges the model sees with it; left out: all that fit */
  readonly window?: number;
  /** The sender's own id. Sending the same id again does not create a second message */
  readonly clientId?: string;
  readonly attempts?: number;
  /** ISO 8601, UTC, with milliseconds */
  readonly nextAttemptAt?: string;
  readonly error?: EntryError | null;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: Usage | null;
  readonly costUsd?: number | null;
  readonly latencyMs?: number | null;
  readonly ttftMs?: number | null;
  readonly stopReason?: StopReason;
  /** On an answer: the calls of tools that it took */
  readonly steps?: readonly EntryStep[];
  /** On an answer: what of somebody outside was read for it, or for what the model saw with it. On a message that is asked again: what has tainted it before. The first ten */
  readonly taint?: readonly Taint[];
  /** How many times the message was begun with tools */
  readonly run?: number;
  /** On a message that waits for a person: ids of what is to be decided */
  readonly waitingFor?: readonly string[];
  readonly startedAt?: string | null;
  readonly finishedAt?: string | null;
}

/** Who decided. */
export interface Decider {
  readonly channel: 'cli' | 'web' | 'api' | 'link' | 'clock';
  readonly name: string;
}

/** Why a message failed or waits for another attempt. */
export interface EntryError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** A call of a tool, as an answer shows it. The journal of the run has all of it. */
export interface EntryStep {
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  readonly tool: string;
  /** JSON, the first 2,048 characters */
  readonly arguments: string;
  /** done, unknown, or why it was refused */
  readonly outcome: string;
  readonly isError: boolean;
  readonly ms: number | null;
  readonly approvedBy?: string;
  /** The first 500 characters of the result */
  readonly preview: string;
}

/** The answer to it: `content` has the values by the names of the fields. */
export interface InputAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** A field of a form that a server asks a person to fill in. */
export interface InputField {
  readonly name: string;
  /** choice: one of `options`; choices: a list of them */
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  readonly title?: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  readonly options?: readonly {
    readonly value: string;
    readonly title: string;
  }[];
  /** The least value, or number of characters or choices */
  readonly min?: number;
  /** The largest */
  readonly max?: number;
  /** What the form begins with */
  readonly default?: unknown;
}

/** What a server asks a person. All of its words are those of the server. */
export interface InputForm {
  readonly message: string;
  readonly fields: readonly InputField[];
}

/** A call as the model asked for it. */
export interface RunCall {
  readonly n: number;
  readonly id: string;
  readonly tool: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** The journal of a message. */
export interface RunJournal {
  readonly messageId: string;
  readonly records: readonly RunRecord[];
}

/** One line of a journal. */
export type RunRecord = {
  readonly t: 'run';
  readonly run: number;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly cause: string;
  readonly tools: readonly string[];
  /** Those in the prompt, with the hash of each: `invoice#77ab…` */
  readonly skills?: readonly string[];
  readonly limits: Readonly<Record<string, unknown>>;
  readonly taint?: readonly Taint[];
} | {
  readonly t: 'resume';
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly attempt: number;
} | {
  readonly t: 'model';
  /** Counts the answers of the model, over all runs of the message */
  readonly step: number;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly provider: string;
  readonly model: string;
  readonly tokens: number;
} | {
  readonly t: 'answer';
  /** Counts the answers of the model, over all runs of the message */
  readonly step: number;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly text: string;
  readonly calls: readonly RunCall[];
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  /** USD that it costs at least, where only that is known */
  readonly leastUsd?: number;
  readonly latencyMs: number;
  readonly ttftMs: number | null;
  readonly stopReason: string;
  /** Opaque state of the provider */
  readonly state?: Readonly<Record<string, unknown>>;
} | {
  readonly t: 'ask';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  readonly approval: Approval;
} | {
  readonly t: 'decision';
  readonly approval: string;
  readonly decision: 'approve' | 'deny' | 'expire' | 'cancel' | 'ran' | 'not-ran' | 'tell';
  readonly by: Decider;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly note?: string;
  readonly scope?: 'once' | 'always' | 'same-arguments';
  readonly input?: Readonly<Record<string, InputAnswer>>;
} | {
  readonly t: 'call';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly try: number;
  readonly pin: string;
  /** What the call costs by `usdPerCall`, in USD */
  readonly usd?: number;
} | {
  readonly t: 'task';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  /** Under which its server goes on with the call by itself */
  readonly taskId: string;
  /** How long the server keeps the task; null: for ever */
  readonly ttlMs: number | null;
  /** How often the server wants to be asked for it */
  readonly pollMs: number;
} | {
  readonly t: 'cancel';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
} | {
  readonly t: 'input';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  /** What the server asks a person before it goes on */
  readonly requests: Readonly<Record<string, InputForm>>;
  /** Goes back to the server as it is */
  readonly requestState?: string;
} | {
  readonly t: 'result';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly ms: number;
  readonly isError: boolean;
  readonly text: string;
  /** What is left out of the text, as the model reads it before the text */
  readonly notice?: string;
  /** The whole result is kept under it */
  readonly ref?: string;
  readonly chars?: number;
  /** How many images of the whole result a model may see */
  readonly images?: number;
  /** What the calls of models of another block have used for it, which counts for `limits.tokens` */
  readonly tokens?: number;
  /** Who says so, where it was not the tool: person or probe */
  readonly by?: string;
  /** Whether the tool reads what anybody may have written */
  readonly open?: boolean;
} | {
  readonly t: 'found';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  readonly query: string;
  /** They are in the list of tools from here on */
  readonly tools: readonly string[];
} | {
  readonly t: 'refused';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  readonly code: 'denied' | 'expired' | 'invalid-arguments' | 'not-offered' | 'server-failed' | 'changed' | 'not-run' | 'limit' | 'same-call';
  readonly note: string;
  /** Whether it may quote a server that reads what anybody may have written */
  readonly open?: boolean;
} | {
  readonly t: 'unknown';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  readonly why: string;
  /** Whether it may quote a server that reads what anybody may have written */
  readonly open?: boolean;
} | {
  readonly t: 'end';
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly status: 'done' | 'failed' | 'cancelled';
  readonly content?: string;
  readonly stopReason?: string;
  readonly code?: string;
};

/** A whole result that was too long for the model, or with an offset or a limit some of its text. */
export interface RunResult {
  readonly isError: boolean;
  readonly parts: readonly ContentPart[];
  /** With `offset` or `limit`: how many characters the whole text has */
  readonly chars?: number;
}

/** A call that waits, or has waited, for a person, as people see it. */
export interface ShownApproval {
  readonly id: string;
  readonly block: string;
  readonly messageId: string;
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  /** unknown: whether a call ran whose outcome is not known */
  readonly kind: 'call' | 'unknown' | 'input';
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Of tool, arguments and definition. A decision names it */
  readonly digest: string;
  readonly because: 'rule' | 'default' | 'tainted' | 'repeat' | 'unknown' | 'input';
  readonly marks: ToolMarks;
  /** Tools whose output the run has read */
  readonly readBefore: readonly string[];
  /** What the run, its message or what it remembers has read of somebody outside; the first ten */
  readonly taint?: readonly Taint[];
  /** The hash of the definition of the tool */
  readonly pin?: string;
  /** For the kind input: the forms that the server asks for, by the names that it gives them */
  readonly request?: Readonly<Record<string, InputForm>>;
  /** ISO 8601, UTC, with milliseconds */
  readonly createdAt: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly expiresAt: string;
  /** approved also stands for a person who has said what became of a call whose outcome is not known */
  readonly state: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';
  /** How it may be approved now */
  readonly scopes: readonly ('once' | 'always' | 'same-arguments')[];
  readonly decision?: 'approve' | 'deny' | 'expire' | 'cancel' | 'ran' | 'not-ran' | 'tell';
  readonly decidedBy?: Decider;
  /** ISO 8601, UTC, with milliseconds */
  readonly decidedAt?: string;
  readonly note?: string;
  readonly scope?: 'once' | 'always' | 'same-arguments';
}

/** What makes a run tainted: somebody outside may have written what it reads. */
export interface Taint {
  /** The message whose run has read it, or which came in this way */
  readonly messageId: string;
  /** The tool whose output was read */
  readonly tool?: string;
  /** How the message came */
  readonly via?: 'key' | 'hook' | 'block' | 'mcp';
}

/** What a tool is known to do; each mark holds only if the server and the user say the same. */
export interface ToolMarks {
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly closedWorld: boolean;
}

/** Settings of one chat request, which override the stored ones. */
export interface ChatConfig {
  /** Maximum output tokens; default 4096 */
  readonly maxTokens?: number;
  /** Sampling temperature */
  readonly temperature?: number;
  /** Enable prompt caching (anthropic, bedrock) */
  readonly cacheControl?: boolean;
  /** Requests with the same key share a prompt cache (openai) */
  readonly cacheKey?: string;
  /** Nucleus sampling */
  readonly topP?: number;
  /** Sampling from the k most likely tokens (not openai) */
  readonly topK?: number;
  /** Texts that end the answer */
  readonly stop?: readonly string[];
  /** Makes answers more alike (openai, google, ollama) */
  readonly seed?: number;
  /** Against the repetition of topics (openai, google, ollama) */
  readonly presencePenalty?: number;
  /** Against the repetition of words (openai, google, ollama) */
  readonly frequencyPenalty?: number;
  /** False for at most one tool call in an answer (openai, anthropic; through the compatible endpoints, every provider) */
  readonly parallelToolCalls?: boolean;
  /** True to get the log probability of each token of the answer (openai, google, ollama) */
  readonly logprobs?: boolean;
  /** So many of the likeliest tokens at each place, with logprobs */
  readonly topLogprobs?: number;
  /** The provider's own name of a processing tier (openai, anthropic, bedrock) */
  readonly serviceTier?: string;
  /** An id of the end user for the provider (openai, anthropic) */
  readonly user?: string;
  /** Labels for the provider (openai, bedrock) */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The form of the answer. Without a schema, any JSON object */
  readonly output?: OutputFormat;
  /** How much the model thinks before it answers */
  readonly reasoning?: Reasoning;
  /** Region override (bedrock), such as us-east-1 */
  readonly region?: string;
  /** API endpoint override (all but bedrock) */
  readonly baseURL?: string;
  /** API key for this request only: printable ASCII without spaces */
  readonly apiKey?: string;
  /** Access key for this request only (bedrock): printable ASCII without spaces */
  readonly accessKeyId?: string;
  /** Secret key for this request only (bedrock): printable ASCII without spaces */
  readonly secretAccessKey?: string;
  /** Session token that belongs to temporary keys (bedrock): printable ASCII without spaces */
  readonly sessionToken?: string;
}

/** Data of the SSE event `content`. */
export interface ChatContent {
  readonly text: string;
}

/** Data of the SSE event `done`. */
export interface ChatDone {
  readonly usage: Usage;
  readonly stopReason: StopReason;
  /** The text of config.stop that ended the answer, if the provider reports that one did (anthropic, bedrock) and it is known which */
  readonly stopSequence?: string;
  readonly toolCalls?: readonly ToolCall[];
  /** Opaque state of the provider. Send it back unchanged with the message or tool call that it came with. */
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  /** The tokens of the text, if config.logprobs asked for them and the provider gives them */
  readonly logprobs?: readonly TokenLogprob[];
  /** What was not sent, or was changed, because the provider or model does not support it */
  readonly warnings?: readonly Warning[];
}

/** Data of the SSE event `reasoning`. */
export interface ChatReasoning {
  readonly text: string;
}

/** The body of POST `/v1/chat`. */
export interface ChatRequest {
  /** Provider id */
  readonly adapter: AdapterId;
  /** Model id of the provider: at most 2048 characters of printable ASCII without spaces, and no . or .. between slashes */
  readonly model: string;
  readonly messages: readonly Message[];
  /** True to get the answer as server-sent events. An object to get further events as well: reasoning, and the pieces of tool calls */
  readonly stream?: boolean | StreamOptions;
  /** Settings for this request. They override auth.json, the environment and the defaults */
  readonly config?: ChatConfig;
  readonly tools?: readonly (Tool | NestedTool)[];
  /** Whether the model may, must or must not call tools, or the one tool that it must call */
  readonly toolChoice?: 'auto' | 'none' | 'required' | {
    /** At most 64 letters, digits, _ and -, starting with a letter or _ */
    readonly name: string;
  };
}

/** The answer of POST `/v1/chat` without `stream`. */
export interface ChatResponse {
  readonly provider: string;
  readonly model: string;
  readonly message: {
    readonly role: 'assistant';
    readonly content: string;
    readonly toolCalls?: readonly ToolCall[];
    /** Opaque state of the provider. Send it back unchanged with the message or tool call that it came with. */
    readonly providerMetadata?: Readonly<Record<string, unknown>>;
  };
  readonly usage: Usage;
  readonly stopReason: StopReason;
  /** The text of config.stop that ended the answer, if the provider reports that one did (anthropic, bedrock) and it is known which */
  readonly stopSequence?: string;
  /** The tokens of the text, if config.logprobs asked for them and the provider gives them */
  readonly logprobs?: readonly TokenLogprob[];
  /** What was not sent, or was changed, because the provider or model does not support it */
  readonly warnings?: readonly Warning[];
}

/** Data of the SSE event `start`. */
export interface ChatStart {
  readonly provider: string;
  readonly model: string;
}

/** Data of the SSE event `toolCallDelta`. */
export interface ChatToolCallDelta {
  /** The index of its toolCallStart */
  readonly index: number;
  /** The next piece of the arguments; together, the pieces of a call are JSON */
  readonly text: string;
}

/** Data of the SSE event `toolCallStart`. */
export interface ChatToolCallStart {
  /** Counts the tool calls of the answer from 0 */
  readonly index: number;
  /** The id that the call has in toolCalls of the event done */
  readonly id: string;
  /** Name of the tool */
  readonly name: string;
}

/** A part of a message. Which fields belong to which type: docs/http.md. `core/gateway/parts.ts` refuses the others. */
export interface ContentPart {
  readonly type: 'text' | 'image' | 'document' | 'audio' | 'reasoning';
  /** Of a text, a reasoning, or a document that is plain text */
  readonly text?: string;
  /** Such as image/png */
  readonly mediaType?: string;
  /** Base64 */
  readonly data?: string;
  /** An http or https URL that the provider fetches; Blockhouse never does */
  readonly url?: string;
  /** How closely an image is looked at (openai) */
  readonly detail?: 'low' | 'high' | 'auto';
  /** File name of a document */
  readonly name?: string;
  /** Everything up to here may be cached for this long (anthropic, bedrock) */
  readonly cache?: '5m' | '1h';
  /** Opaque state of the provider. Send it back unchanged with the message or tool call that it came with. */
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** A message of role `system`. */
export interface SystemMessage {
  readonly role: 'system';
  /** Text, or a list of parts. May be left out only with toolCalls or toolResults */
  readonly content: string | readonly ContentPart[];
  /** Opaque state of the provider. Send it back unchanged with the message or tool call that it came with. */
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** A message of role `user`. */
export interface UserMessage {
  readonly role: 'user';
  /** Text, or a list of parts. May be left out only with toolCalls or toolResults */
  readonly content: string | readonly ContentPart[];
  /** Opaque state of the provider. Send it back unchanged with the message or tool call that it came with. */
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** A message of role `assistant`. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** Text, or a list of parts. May be left out only with toolCalls or toolResults */
  readonly content?: string | readonly ContentPart[];
  /** Only on role assistant */
  readonly toolCalls?: readonly ToolCall[];
  /** Opaque state of the provider. Send it back unchanged with the message or tool call that it came with. */
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** A message of role `tool`. */
export interface ToolMessage {
  readonly role: 'tool';
  /** Only on role tool */
  readonly toolResults: readonly ToolResult[];
  /** Text, or a list of parts. May be left out only with toolCalls or toolResults */
  readonly content?: string | readonly ContentPart[];
  /** Opaque state of the provider. Send it back unchanged with the message or tool call that it came with. */
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** One message of a conversation. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** OpenAI's nested form of a tool, accepted as well as the flat one. */
export interface NestedTool {
  readonly type: 'function';
  readonly function: Tool;
}

/** The form of the answer's text. */
export interface OutputFormat {
  readonly type: 'json' | 'json_schema';
  /** JSON Schema; required for json_schema */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Name of the schema */
  readonly name?: string;
  /** OpenAI's strict mode */
  readonly strict?: boolean;
}

/** Settings of a model that reasons. */
export interface Reasoning {
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** The most tokens of reasoning, for models with a budget */
  readonly budgetTokens?: number;
  /** True to get the reasoning, or a summary of it, where the provider shows it */
  readonly summary?: boolean;
}

/** Why an answer ended. `unknown` if the provider gave no reason that Blockhouse knows. */
export type StopReason = 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'content_filter' | 'refusal' | 'unknown';

/** What a stream shows besides the text of the answer. */
export interface StreamOptions {
  /** True for the events reasoning: the text of the reasoning, where the provider shows it */
  readonly reasoning?: boolean;
  /** True for the events toolCallStart and toolCallDelta: tool calls while they are written */
  readonly toolDeltas?: boolean;
}

/** The probability of one token of an answer. */
export interface TokenLogprob {
  readonly token: string;
  /** Natural logarithm of its probability */
  readonly logprob: number;
  /** UTF-8 of the token, which may be a part of a character */
  readonly bytes?: readonly number[];
  /** The likeliest tokens at this place */
  readonly topLogprobs?: readonly {
    readonly token: string;
    /** Natural logarithm of its probability */
    readonly logprob: number;
    /** UTF-8 of the token, which may be a part of a character */
    readonly bytes?: readonly number[];
  }[];
}

/** A tool that the model may call. */
export interface Tool {
  /** At most 64 letters, digits, _ and -, starting with a letter or _ */
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments; its type must be object */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Accepted because OpenAI's SDKs send it */
  readonly type?: 'function';
  /** Everything up to here may be cached for this long (anthropic, bedrock) */
  readonly cache?: '5m' | '1h';
  /** Accepted because OpenAI's SDKs send it, but never passed on */
  readonly strict?: boolean;
}

/** A tool call of the model, in answers and in the history of requests. */
export interface ToolCall {
  readonly id: string;
  /** At most 64 letters, digits, _ and -, starting with a letter or _ */
  readonly name: string;
  /** Arguments as a JSON object */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** In requests: everything up to here may be cached for this long (anthropic, bedrock) */
  readonly cache?: '5m' | '1h';
  /** Opaque state of the provider. Send it back unchanged with the message or tool call that it came with. */
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** The result of a tool call, in a message with role `tool`. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly content: string | readonly ContentPart[];
  readonly isError?: boolean;
}

/** Token counts of one call. */
export interface Usage {
  /** Tokens of the prompt, including cached ones */
  readonly inputTokens: number;
  /** Tokens of the answer, including reasoning */
  readonly outputTokens: number;
  /** inputTokens + outputTokens */
  readonly totalTokens: number;
  /** Part of inputTokens that was read from a cache */
  readonly cacheReadTokens?: number;
  /** Part of inputTokens that was written to a cache */
  readonly cacheWriteTokens?: number;
  /** Part of cacheWriteTokens that the cache keeps for an hour, which costs more than the usual five minutes */
  readonly cacheWrite1hTokens?: number;
  /** Part of inputTokens that is audio */
  readonly inputAudioTokens?: number;
  /** Part of outputTokens that is audio */
  readonly outputAudioTokens?: number;
  /** Part of outputTokens that is pictures */
  readonly outputImageTokens?: number;
  /** Part of outputTokens spent on reasoning */
  readonly reasoningTokens?: number;
  /** What the provider says that the call costs, in USD; only where its connection reads it (`costField`) */
  readonly costUsd?: number;
  /** True if the provider reported no usage, so the counts are estimated from the length of the text */
  readonly estimated?: boolean;
  /** True if the provider reports a processing tier or place whose price is not known, such as a priority tier: the call has no price then */
  readonly unpricedTier?: boolean;
}

/** A note about a field that was not sent or was changed. The call itself succeeded. */
export interface Warning {
  /** The field of the request or of the answer that the warning is about */
  readonly field: string;
  readonly message: string;
}

/** PATCH `/api/connections/:name/keys/:label`: what changes; null removes it. */
export interface ChangeEntryKey {
  readonly label?: string | null;
  readonly weight?: number | null;
  readonly inFlight?: number | null;
  /** Its place in the order of the keys, from 1 */
  readonly place?: number;
}

/** An entry of auth.json. */
export interface ConnectionEntry {
  /** The protocol: one of the five adapters. From the preset if it is missing */
  readonly adapter?: string;
  /** The preset to build on; the entry's own name if there is one */
  readonly preset?: string;
  /** The name of an environment variable */
  readonly apiKeyEnv?: string;
  /** Several keys */
  readonly keys?: readonly EntryKey[];
  /** A program with its arguments, run without a shell, whose first line is the key. By hand only */
  readonly keyCommand?: readonly string[];
  /** How long a key of keyCommand is used; default 300 */
  readonly keyTtlSeconds?: number;
  /** The header for the key instead of `authorization: Bearer` */
  readonly keyHeader?: string;
  /** `none`: no key is needed */
  readonly auth?: 'none';
  /** Sent with every request; kept secret like keys */
  readonly headers?: Readonly<Record<string, string>>;
  /** Facts about models, by id; one * may stand at the end */
  readonly models?: Readonly<Record<string, ModelFacts>>;
  /** The models that lists show; all without it */
  readonly offer?: readonly string[];
  readonly limits?: EntryLimits;
  readonly timeouts?: EntryTimeouts;
  readonly quirks?: Quirks;
}

/** GET `/api/connections`. */
export interface ConnectionList {
  readonly connections: readonly ShownConnection[];
}

/** POST `/api/connections/detect`. */
export interface DetectedList {
  readonly servers: readonly DetectedServer[];
}

/** A local server that has answered. */
export interface DetectedServer {
  readonly preset: string;
  readonly baseURL: string;
  /** The connection that leads there already */
  readonly connection: string | null;
}

/** One of several keys of a connection. */
export interface EntryKey {
  /** 1 to 16 characters of a-z, 0-9 and - */
  readonly label?: string;
  /** A key: ASCII without blanks */
  readonly apiKey?: string;
  /** The name of an environment variable */
  readonly apiKeyEnv?: string;
  /** How many conversations it takes compared with the others */
  readonly weight?: number;
  /** The most calls at a time with this key */
  readonly inFlight?: number;
}

/** The most calls of a connection. */
export interface EntryLimits {
  /** The most calls at a time */
  readonly inFlight?: number;
  /** The most calls that wait */
  readonly waiting?: number;
}

/** Time limits of a connection. */
export interface EntryTimeouts {
  /** Milliseconds; 0 for no limit */
  readonly connectMs?: number;
  /** Milliseconds; 0 for no limit */
  readonly firstByteMs?: number;
  /** Milliseconds; 0 for no limit */
  readonly idleMs?: number;
}

/** What an entry says of a model. */
export interface ModelFacts {
  /** 0, rates, or the provider/model of the price data that costs as much */
  readonly price?: 0 | OwnRates | string;
  /** The most tokens of a prompt and its answer together */
  readonly contextWindow?: number;
  /** The most tokens of an answer */
  readonly maxOutput?: number;
  /** False for a model that takes no images */
  readonly images?: boolean;
}

/** USD for a million tokens. */
export interface OwnRates {
  /** USD for a million tokens */
  readonly input: number;
  /** USD for a million tokens */
  readonly output: number;
  /** USD for a million tokens */
  readonly cacheRead?: number;
  /** USD for a million tokens */
  readonly cacheWrite?: number;
  /** The same for an hour in the cache */
  readonly cacheWrite1h?: number;
}

/** A preset of presets.json. It has no secrets, and no command. */
export interface PresetFields {
  readonly adapter?: string;
  readonly baseURL?: string;
  /** The name of an environment variable */
  readonly variable?: string;
  /** The provider in the price data */
  readonly prices?: string;
  readonly api?: 'responses' | 'chat';
  readonly auth?: 'none';
  /** True for a server that people run themselves */
  readonly isLocal?: boolean;
  /** The header for the key instead of `authorization: Bearer` */
  readonly keyHeader?: string;
  /** Facts about models, by id; one * may stand at the end */
  readonly models?: Readonly<Record<string, ModelFacts>>;
  /** The models that lists show; all without it */
  readonly offer?: readonly string[];
  readonly limits?: EntryLimits;
  readonly timeouts?: EntryTimeouts;
  readonly quirks?: Quirks;
}

/** GET `/api/presets`. */
export interface PresetList {
  readonly presets: readonly ShownPreset[];
}

/** How a server differs from others of its protocol. */
export interface Quirks {
  /** The name of the token limit */
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens';
  /** False for a server that refuses `stream_options` */
  readonly streamUsage?: boolean;
  /** How reasoning is asked for */
  readonly reasoning?: 'effort' | 'openrouter' | 'thinking' | 'thinking_effort' | 'enabled' | 'enable_thinking' | 'template' | 'none';
  /** The efforts that the server takes; the nearest is sent in place of another */
  readonly efforts?: readonly ('none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max')[];
  /** The field of every assistant message in which its reasoning goes back */
  readonly reasoningBack?: 'none' | 'reasoning_content';
  /** Options that are left out, each with a warning */
  readonly drop?: readonly ('cacheKey' | 'topP' | 'topK' | 'stop' | 'seed' | 'presencePenalty' | 'frequencyPenalty' | 'parallelToolCalls' | 'logprobs' | 'topLogprobs' | 'serviceTier' | 'user' | 'metadata' | 'output' | 'temperature' | 'store')[];
  /** False for a server that refuses `strict` in tools */
  readonly strictTools?: boolean;
  /** False for a server without the role `developer` */
  readonly developerRole?: boolean;
  /** False for a server that refuses `name` in messages */
  readonly messageNames?: boolean;
  /** True for a server that wants messages of the user and of the assistant in turn; neighbours are joined */
  readonly alternatingRoles?: boolean;
  /** The word for a tool choice that makes the model call a tool */
  readonly toolChoiceRequired?: 'required' | 'any' | 'auto';
  /** `alnum9`: ids of calls have nine letters or digits */
  readonly callIds?: 'any' | 'alnum9';
  /** False for a server that takes no images */
  readonly images?: boolean;
  /** Where an answer tells its cost in USD, such as usage.cost */
  readonly costField?: string;
  /** The path of the list of models; false if there is none */
  readonly list?: string | false;
  /** The header in which the cache key of a conversation goes */
  readonly sessionHeader?: string;
}

/** One connection, without secrets. An adapter is the connection of its own name. */
export interface ShownConnection {
  readonly name: string;
  /** The protocol that it speaks */
  readonly adapter: string;
  readonly preset: string | null;
  /** Where it is; null for an adapter whose hosts follow from a region */
  readonly baseURL: string | null;
  /** True if it could be called now, as far as its settings tell, and its credential if that is searched for elsewhere */
  readonly ready: boolean;
  /** What is missing or wrong */
  readonly detail: string | null;
  /** True for this machine and for local servers */
  readonly isLocal: boolean;
  /** What the entry says of models */
  readonly models: Readonly<Record<string, ModelFacts>>;
  readonly limits: {
    readonly inFlight: number;
    readonly waiting: number;
  };
  readonly atWork: number;
  readonly waiting: number;
  readonly breaker: 'closed' | 'open' | 'trying';
  /** Cached of all input tokens; null while nothing is known */
  readonly cachedShare: number | null;
  readonly keys: readonly ShownConnectionKey[];
}

/** One key of a connection, without the key. */
export interface ShownConnectionKey {
  /** `the only key` where the entry has no list of keys */
  readonly label: string;
  /** auth.json, the variable that has it, or keyCommand */
  readonly source: string;
  /** Whether calls may use it now; unset for a variable that this server does not have, and elsewhere for one that does not go to this address */
  readonly state: 'ready' | 'cooling' | 'refused' | 'empty' | 'unset' | 'elsewhere';
  /** When it may be used again; null if it may now, or nobody knows */
  readonly until: string | null;
  /** The models that it pauses for; empty for all, and where it does not */
  readonly models: readonly string[];
  /** How many conversations it takes compared with the others */
  readonly weight: number;
  /** The most calls at a time; null for no limit */
  readonly maxInFlight: number | null;
  /** Calls under way in this process */
  readonly inFlight: number;
  /** Attempts since this process has started */
  readonly calls: number;
  /** Cached of all input tokens; null while nothing is known */
  readonly cachedShare: number | null;
}

/** A preset of GET `/api/presets`. */
export interface ShownPreset {
  readonly name: string;
  readonly adapter: string;
  /** Null where every account has an address of its own */
  readonly baseURL: string | null;
  /** What such an address looks like */
  readonly baseURLForm: string | null;
  /** The variable that its key may be in */
  readonly variable: string | null;
  /** True if this server has the variable */
  readonly isSet: boolean;
  readonly isLocal: boolean;
  /** The provider in the price data */
  readonly prices: string | null;
  /** Where its facts were read */
  readonly source: string;
}

/** Where a provider's key comes from. */
export interface Credential {
  readonly adapter: string;
  /** True if everything that a call needs is set */
  readonly configured: boolean;
  /** Where the key is; `chain` for a chain of the provider; null for none */
  readonly source: CredentialSource;
  /** The environment variable that has the key */
  readonly variable?: string;
  /** The last four characters of a key of 20 or more */
  readonly hint: string | null;
  /** The address, if it is not the default */
  readonly baseURL: string | null;
}

/** GET `/api/credentials`. */
export interface CredentialList {
  readonly credentials: readonly Credential[];
}

/** Where the key of an adapter is. */
export type CredentialSource = 'auth.json' | 'env' | 'chain' | null;

/** The body of PUT `/api/credentials/:adapter`: fields of the adapter, such as apiKey or baseURL. */
export type SetCredential = Readonly<Record<string, string>>;

/** What is to be embedded, and by whom. */
export interface EmbedRequest {
  /** Provider id */
  readonly adapter: AdapterId;
  /** Model id of the provider: at most 2048 characters of printable ASCII without spaces, and no . or .. between slashes */
  readonly model: string;
  /** Texts. Lists of token ids only for a provider that takes them (openai) */
  readonly inputs: readonly (string | readonly number[])[];
  /** The length of the vectors, for models that can shorten them */
  readonly dimensions?: number;
  /** An id of the end user for the provider (openai, anthropic) */
  readonly user?: string;
}

/** One vector for each input, in the order of the inputs. */
export interface EmbedResponse {
  readonly provider: string;
  readonly model: string;
  readonly vectors: readonly (readonly number[])[];
  readonly usage: Usage;
}

/** The body of PATCH `/api/keys/{name}`: what changes. */
export interface ChangeKey {
  /** USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls */
  readonly usdPerDay?: number | null;
  /** USD a week, from Monday 00:00 UTC */
  readonly usdPerWeek?: number | null;
  /** USD a month (UTC) */
  readonly usdPerMonth?: number | null;
  /** Input and output tokens a day (UTC) */
  readonly tokensPerDay?: number | null;
  /** Input and output tokens a month (UTC) */
  readonly tokensPerMonth?: number | null;
  /** The most calls that run at the same time; further ones wait */
  readonly inFlight?: number | null;
  /** Requests a minute; beyond, they are answered with KEY_RATE_LIMITED */
  readonly requestsPerMinute?: number | null;
  /** Input and output tokens a minute, by estimate until a call has ended */
  readonly tokensPerMinute?: number | null;
  /** What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed */
  readonly unpriced?: 'allow' | 'refuse';
  /** The group of keys to which it belongs. The limits of the group hold as well */
  readonly group?: string | null;
  /** The models that it may use, as clients name them; * stands for any characters */
  readonly models?: readonly string[] | null;
  /** What it may do besides asking models: `blocks` lets it ask every block as the model `block/<name>`, and `mcp` lets it list, write to and read every block over /mcp; or those of `blocks` if there is a list */
  readonly rights?: readonly ('blocks' | 'mcp')[];
  /** The blocks that its rights are for; * stands for any characters. Null: all. Without any right, it may ask these as models */
  readonly blocks?: readonly string[] | null;
  /** Messages that come with it do not taint: what they say may make a block call tools that write or send, as far as its rules allow them */
  readonly trusted?: boolean;
  /** From then on the key is refused */
  readonly expiresAt?: string | null;
}

/** The body of POST `/api/keys`. */
export interface CreateKey {
  /** 1 to 64 characters of a-z, 0-9, ".", "_" and "-" */
  readonly name: string;
  /** USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls */
  readonly usdPerDay?: number | null;
  /** USD a week, from Monday 00:00 UTC */
  readonly usdPerWeek?: number | null;
  /** USD a month (UTC) */
  readonly usdPerMonth?: number | null;
  /** Input and output tokens a day (UTC) */
  readonly tokensPerDay?: number | null;
  /** Input and output tokens a month (UTC) */
  readonly tokensPerMonth?: number | null;
  /** The most calls that run at the same time; further ones wait */
  readonly inFlight?: number | null;
  /** Requests a minute; beyond, they are answered with KEY_RATE_LIMITED */
  readonly requestsPerMinute?: number | null;
  /** Input and output tokens a minute, by estimate until a call has ended */
  readonly tokensPerMinute?: number | null;
  /** What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed */
  readonly unpriced?: 'allow' | 'refuse';
  /** The group of keys to which it belongs. The limits of the group hold as well */
  readonly group?: string | null;
  /** The models that it may use, as clients name them; * stands for any characters */
  readonly models?: readonly string[] | null;
  /** What it may do besides asking models: `blocks` lets it ask every block as the model `block/<name>`, and `mcp` lets it list, write to and read every block over /mcp; or those of `blocks` if there is a list */
  readonly rights?: readonly ('blocks' | 'mcp')[];
  /** The blocks that its rights are for; * stands for any characters. Null: all. Without any right, it may ask these as models */
  readonly blocks?: readonly string[] | null;
  /** Messages that come with it do not taint: what they say may make a block call tools that write or send, as far as its rules allow them */
  readonly trusted?: boolean;
  /** From then on the key is refused */
  readonly expiresAt?: string | null;
}

/** The body of POST `/api/keys/{name}/debug`. */
export interface DebugKey {
  /** How long the bodies of its calls are kept; default 15 */
  readonly minutes?: number;
}

/** The answer of PATCH `/api/keys/{name}`. */
export interface KeyChanged {
  readonly success: true;
  readonly key: ShownKey;
  /** Limits that do not count everything; absent if there are none */
  readonly warnings?: readonly Warning[];
}

/** The answer of POST `/api/keys`: the only time that the key is shown. */
export interface KeyCreated {
  readonly success: true;
  readonly name: string;
  readonly key: string;
  /** Limits that do not count everything; absent if there are none */
  readonly warnings?: readonly Warning[];
}

/** The answer of POST `/api/keys/{name}/debug`. */
export interface KeyDebugged {
  readonly success: true;
  readonly name: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly debugUntil: string;
}

/** GET `/api/key-groups`. */
export interface KeyGroupList {
  readonly groups: readonly {
    readonly name: string;
    /** USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls */
    readonly usdPerDay: number | null;
    /** USD a week, from Monday 00:00 UTC */
    readonly usdPerWeek: number | null;
    /** USD a month (UTC) */
    readonly usdPerMonth: number | null;
    /** Input and output tokens a day (UTC) */
    readonly tokensPerDay: number | null;
    /** Input and output tokens a month (UTC) */
    readonly tokensPerMonth: number | null;
    /** The most calls that run at the same time; further ones wait */
    readonly inFlight: number | null;
    /** Requests a minute; beyond, they are answered with KEY_RATE_LIMITED */
    readonly requestsPerMinute: number | null;
    /** Input and output tokens a minute, by estimate until a call has ended */
    readonly tokensPerMinute: number | null;
    /** What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed */
    readonly unpriced: 'allow' | 'refuse';
    /** The keys that are in it now */
    readonly keys: readonly string[];
    readonly spentToday: {
      /** Of the calls whose price is known */
      readonly usd: number;
      readonly tokens: number;
      readonly calls: number;
      /** Calls that `usd` does not count, because their price is not known */
      readonly unpricedCalls: number;
    };
    readonly spentThisWeek: {
      /** Of the calls whose price is known */
      readonly usd: number;
      readonly tokens: number;
      readonly calls: number;
      /** Calls that `usd` does not count, because their price is not known */
      readonly unpricedCalls: number;
    };
    readonly spentThisMonth: {
      /** Of the calls whose price is known */
      readonly usd: number;
      readonly tokens: number;
      readonly calls: number;
      /** Calls that `usd` does not count, because their price is not known */
      readonly unpricedCalls: number;
    };
    /** The newest day (UTC, such as 2026-11-27) with a call that used tokens, as far back as sums are kept; null without one */
    readonly lastUsedOn: string | null;
  }[];
}

/** The answer of PUT `/api/key-groups/{name}`. */
export interface KeyGroupSet {
  readonly success: true;
  readonly group: ShownKeyGroup;
}

/** GET `/api/keys`. */
export interface KeyList {
  readonly keys: readonly {
    readonly name: string;
    /** ISO 8601, UTC, with milliseconds */
    readonly createdAt: string;
    /** USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls */
    readonly usdPerDay: number | null;
    /** USD a week, from Monday 00:00 UTC */
    readonly usdPerWeek: number | null;
    /** USD a month (UTC) */
    readonly usdPerMonth: number | null;
    /** Input and output tokens a day (UTC) */
    readonly tokensPerDay: number | null;
    /** Input and output tokens a month (UTC) */
    readonly tokensPerMonth: number | null;
    /** The most calls that run at the same time; further ones wait */
    readonly inFlight: number | null;
    /** Requests a minute; beyond, they are answered with KEY_RATE_LIMITED */
    readonly requestsPerMinute: number | null;
    /** Input and output tokens a minute, by estimate until a call has ended */
    readonly tokensPerMinute: number | null;
    /** What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed */
    readonly unpriced: 'allow' | 'refuse';
    /** The group of keys to which it belongs. The limits of the group hold as well */
    readonly group: string | null;
    /** The models that it may use, as clients name them; * stands for any characters */
    readonly models: readonly string[] | null;
    /** What it may do besides asking models: `blocks` lets it ask every block as the model `block/<name>`, and `mcp` lets it list, write to and read every block over /mcp; or those of `blocks` if there is a list */
    readonly rights: readonly ('blocks' | 'mcp')[];
    /** The blocks that its rights are for; * stands for any characters. Null: all. Without any right, it may ask these as models */
    readonly blocks: readonly string[] | null;
    /** Messages that come with it do not taint: what they say may make a block call tools that write or send, as far as its rules allow them */
    readonly trusted?: boolean;
    /** From then on the key is refused */
    readonly expiresAt: string | null;
    /** Stands for these limits of this key: for `If-Match` of a change, in quotes */
    readonly rev: string;
    readonly spentToday: {
      /** Of the calls whose price is known */
      readonly usd: number;
      readonly tokens: number;
      readonly calls: number;
      /** Calls that `usd` does not count, because their price is not known */
      readonly unpricedCalls: number;
    };
    readonly spentThisWeek: {
      /** Of the calls whose price is known */
      readonly usd: number;
      readonly tokens: number;
      readonly calls: number;
      /** Calls that `usd` does not count, because their price is not known */
      readonly unpricedCalls: number;
    };
    readonly spentThisMonth: {
      /** Of the calls whose price is known */
      readonly usd: number;
      readonly tokens: number;
      readonly calls: number;
      /** Calls that `usd` does not count, because their price is not known */
      readonly unpricedCalls: number;
    };
    /** The newest day (UTC, such as 2026-11-27) with a call that used tokens, as far back as sums are kept; null without one */
    readonly lastUsedOn: string | null;
    /** Until when the bodies of its calls are kept, ISO 8601; absent unless it is debugged */
    readonly debugUntil?: string;
  }[];
}

/** GET `/api/models`. */
export interface ModelNames {
  readonly defaultProvider: string | null;
  readonly aliases: readonly {
    readonly name: string;
    readonly targets: readonly string[];
    readonly weights?: readonly (number | null)[];
    /** The failures after which the next model is asked; all but content without it */
    readonly on?: readonly ('rate' | 'down' | 'key' | 'context' | 'content')[];
  }[];
  readonly models: readonly {
    readonly id: string;
    readonly adapter: string;
  }[];
}

/** GET `/api/models/{name}`: what the name means, the model that is asked first coming first. */
export interface ModelResolved {
  readonly name: string;
  readonly by: 'alias' | 'block' | 'provider' | 'list' | 'prefix' | 'default';
  readonly rule?: string;
  readonly targets: readonly {
    readonly adapter: string;
    readonly model: string;
    /** How often it is drawn among its neighbours with a weight */
    readonly weight?: number;
  }[];
  /** The failures after which the next model is asked; all but content without it */
  readonly on?: readonly ('rate' | 'down' | 'key' | 'context' | 'content')[];
}

/** The body of PUT `/api/models/{name}`. */
export interface SetAlias {
  /** provider/model each, or an object with its weight; the next is asked when the one before it fails */
  readonly targets: readonly (string | {
    readonly model: string;
    /** How often it is drawn among its neighbours with a weight */
    readonly weight?: number;
  })[];
  /** The failures after which the next model is asked; all but content without it */
  readonly on?: readonly ('rate' | 'down' | 'key' | 'context' | 'content')[];
}

/** The body of PUT `/api/models`. */
export interface SetDefaultProvider {
  /** Provider id; null for none */
  readonly defaultProvider: string | null;
}

/** The body of PUT `/api/key-groups/{name}`: what changes, or what a new group begins with. */
export interface SetKeyGroup {
  /** USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls */
  readonly usdPerDay?: number | null;
  /** USD a week, from Monday 00:00 UTC */
  readonly usdPerWeek?: number | null;
  /** USD a month (UTC) */
  readonly usdPerMonth?: number | null;
  /** Input and output tokens a day (UTC) */
  readonly tokensPerDay?: number | null;
  /** Input and output tokens a month (UTC) */
  readonly tokensPerMonth?: number | null;
  /** The most calls that run at the same time; further ones wait */
  readonly inFlight?: number | null;
  /** Requests a minute; beyond, they are answered with KEY_RATE_LIMITED */
  readonly requestsPerMinute?: number | null;
  /** Input and output tokens a minute, by estimate until a call has ended */
  readonly tokensPerMinute?: number | null;
  /** What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed */
  readonly unpriced?: 'allow' | 'refuse';
}

/** A key of an application. Null means that there is no limit. */
export interface ShownKey {
  readonly name: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly createdAt: string;
  /** USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls */
  readonly usdPerDay: number | null;
  /** USD a week, from Monday 00:00 UTC */
  readonly usdPerWeek: number | null;
  /** USD a month (UTC) */
  readonly usdPerMonth: number | null;
  /** Input and output tokens a day (UTC) */
  readonly tokensPerDay: number | null;
  /** Input and output tokens a month (UTC) */
  readonly tokensPerMonth: number | null;
  /** The most calls that run at the same time; further ones wait */
  readonly inFlight: number | null;
  /** Requests a minute; beyond, they are answered with KEY_RATE_LIMITED */
  readonly requestsPerMinute: number | null;
  /** Input and output tokens a minute, by estimate until a call has ended */
  readonly tokensPerMinute: number | null;
  /** What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed */
  readonly unpriced: 'allow' | 'refuse';
  /** The group of keys to which it belongs. The limits of the group hold as well */
  readonly group: string | null;
  /** The models that it may use, as clients name them; * stands for any characters */
  readonly models: readonly string[] | null;
  /** What it may do besides asking models: `blocks` lets it ask every block as the model `block/<name>`, and `mcp` lets it list, write to and read every block over /mcp; or those of `blocks` if there is a list */
  readonly rights: readonly ('blocks' | 'mcp')[];
  /** The blocks that its rights are for; * stands for any characters. Null: all. Without any right, it may ask these as models */
  readonly blocks: readonly string[] | null;
  /** Messages that come with it do not taint: what they say may make a block call tools that write or send, as far as its rules allow them */
  readonly trusted?: boolean;
  /** From then on the key is refused */
  readonly expiresAt: string | null;
  /** Stands for these limits of this key: for `If-Match` of a change, in quotes */
  readonly rev: string;
}

/** A group of keys: what its keys may spend together. Null means that there is no limit. */
export interface ShownKeyGroup {
  readonly name: string;
  /** USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls */
  readonly usdPerDay: number | null;
  /** USD a week, from Monday 00:00 UTC */
  readonly usdPerWeek: number | null;
  /** USD a month (UTC) */
  readonly usdPerMonth: number | null;
  /** Input and output tokens a day (UTC) */
  readonly tokensPerDay: number | null;
  /** Input and output tokens a month (UTC) */
  readonly tokensPerMonth: number | null;
  /** The most calls that run at the same time; further ones wait */
  readonly inFlight: number | null;
  /** Requests a minute; beyond, they are answered with KEY_RATE_LIMITED */
  readonly requestsPerMinute: number | null;
  /** Input and output tokens a minute, by estimate until a call has ended */
  readonly tokensPerMinute: number | null;
  /** What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed */
  readonly unpriced: 'allow' | 'refuse';
  /** The keys that are in it now */
  readonly keys: readonly string[];
}

/** What was sent and answered for one request of a key that is debugged. */
export interface DebuggedBodies {
  readonly requestId: string;
  /** When its answer had ended. ISO 8601, UTC */
  readonly at: string;
  readonly key: string;
  readonly path: string;
  /** Of the answer; 0 if the client left before it */
  readonly status: number;
  readonly request: {
    /** Secrets in it are replaced by [redacted] */
    readonly text: string;
    /** Of the whole body */
    readonly bytes: number;
    /** True if `text` is its beginning alone */
    readonly cut: boolean;
  };
  readonly answer: {
    /** Secrets in it are replaced by [redacted] */
    readonly text: string;
    /** Of the whole body */
    readonly bytes: number;
    /** True if `text` is its beginning alone */
    readonly cut: boolean;
  };
}

/** GET `/api/gateway`. */
export interface GatewayFigures {
  readonly window: '15m' | '90m' | '24h';
  /** The adapters, and after them the connections of auth.json whose entry can be used */
  readonly adapters: readonly {
    readonly id: string;
    readonly displayName: string;
    readonly defaultModel: string;
    readonly ready: boolean;
    /** Where the key is; `chain` for a chain of the provider; null for none */
    readonly source: CredentialSource;
    readonly detail?: string;
    /** open while it is not called, because its calls failed; trying while a caller tries it */
    readonly breaker: 'closed' | 'open' | 'trying';
    /** Models that are paused for everybody, and callers that are paused on their own, because their calls failed */
    readonly paused: readonly {
      /** Everybody's calls to the model; a caller's calls; one prompt of programs with the token */
      readonly scope: 'model' | 'caller' | 'prompt';
      /** The block whose calls fail */
      readonly block?: string;
      /** The key of the application whose calls fail; with neither, they are of programs with the token */
      readonly key?: string;
      /** Absent for a caller whose calls to several models failed */
      readonly model?: string;
      /** When the next call is tried */
      readonly until: string;
    }[];
    /** When the next caller may try it */
    readonly openUntil: string | null;
    /** Requests at the provider now */
    readonly atWork: number;
    /** Requests that wait for a place */
    readonly waiting: number;
    readonly limits: {
      readonly concurrency: number;
      readonly waiting: number;
    };
    /** Oldest first; empty if it was not called */
    readonly series: readonly GatewayPoint[];
  }[];
}

/** Counts and sums of one step of time; percentiles in milliseconds. */
export interface GatewayPoint {
  /** ISO 8601, UTC, with milliseconds */
  readonly at: string;
  readonly requests: number;
  readonly errors: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly firstTextP50: number | null;
  readonly firstTextP95: number | null;
  readonly durationP50: number | null;
  readonly durationP95: number | null;
}

/** A request to a model, under way or ended. */
export interface GatewayRequest {
  readonly requestId: string;
  readonly adapter: string;
  readonly model: string;
  /** The block that makes it */
  readonly block?: string;
  /** The key of the application that makes it */
  readonly key?: string;
  /** The label of the key of its connection, where that has several */
  readonly credential?: string;
  /** Waits for a place; waits for the first text; its text comes; it has ended */
  readonly phase: 'waiting' | 'sent' | 'streaming' | 'ended';
  /** ISO 8601, UTC, with milliseconds */
  readonly startedAt: string;
  readonly queuedMs: number | null;
  readonly firstTextMs: number | null;
  readonly durationMs: number;
  readonly usage: Usage | null;
  /** Why it failed */
  readonly code?: string;
}

/** GET `/api/gateway/requests/{id}`. */
export interface GatewayRequestDetail {
  readonly requestId: string;
  /** With a database, the id of the server that answers; it knows the requests of its own machine alone */
  readonly node?: string;
  /** Oldest first: one for each model that was asked. Clients may choose ids, so there may be calls of several requests */
  readonly calls: readonly {
    readonly requestId: string;
    readonly adapter: string;
    readonly model: string;
    /** The block that makes it */
    readonly block?: string;
    /** The key of the application that makes it */
    readonly key?: string;
    /** The label of the key of its connection, where that has several */
    readonly credential?: string;
    /** Waits for a place; waits for the first text; its text comes; it has ended */
    readonly phase: 'waiting' | 'sent' | 'streaming' | 'ended';
    /** ISO 8601, UTC, with milliseconds */
    readonly startedAt: string;
    readonly queuedMs: number | null;
    readonly firstTextMs: number | null;
    readonly durationMs: number;
    readonly usage: Usage | null;
    /** Why it failed */
    readonly code?: string;
    /** `forward`: in the protocol of the provider, whose bytes go through */
    readonly kind: 'chat' | 'embeddings' | 'forward';
    /** The model as the client named it */
    readonly asked: string;
    /** The path that the client called, which says its protocol; absent for blocks */
    readonly path?: string;
    /** The first 20, and the last; empty while it waits for its place */
    readonly attempts: readonly {
      readonly sentMs: number;
      /** Null while it is under way */
      readonly endedMs: number | null;
      /** When the first part of its answer came */
      readonly firstTextMs: number | null;
      /** The label of its key, where the connection has several */
      readonly credential?: string;
      /** Why it failed */
      readonly code?: string;
      /** The HTTP status with which the provider refused it */
      readonly upstreamStatus?: number;
      /** What followed: the same once more, or another key */
      readonly next?: 'repeat' | 'key';
      /** The wait before that */
      readonly delayMs?: number;
    }[];
    /** Null until it has ended, without usage, and if its price is not known */
    readonly costUsd: number | null;
  }[];
  /** What was sent and answered while the key was debugged, the oldest first */
  readonly bodies: readonly DebuggedBodies[];
}

/** GET `/api/gateway/requests`. */
export interface GatewayRequests {
  /** Under way, newest first */
  readonly live: readonly GatewayRequest[];
  /** The last 500, newest first */
  readonly ended: readonly GatewayRequest[];
}

/** The content of prices.json. */
export interface PriceDocument {
  readonly source?: PriceOrigin;
  /** USD for a million tokens, by connection/model */
  readonly models: Readonly<Record<string, OwnRates>>;
}

/** GET `/api/prices`. */
export interface PriceList {
  readonly prices: readonly ShownPrice[];
  /** What prices.json was made of */
  readonly source: PriceOrigin | null;
}

/** What prices.json was made of. */
export interface PriceOrigin {
  /** The name of the file that `prices update` has read */
  readonly file: string;
  /** The hash of that file */
  readonly sha256: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly date: string;
}

/** PUT `/api/prices/:model`. */
export interface SetPrice {
  /** 0, rates, or the provider/model of the price data that costs as much */
  readonly price: 0 | OwnRates | string;
}

/** What a call of a model costs, and where that comes from. */
export interface ShownPrice {
  /** connection/model; a * at the end stands for all that begin so */
  readonly model: string;
  /** provider: the answer tells it; own: the entry in auth.json, or a server of your own; file: prices.json; data: the price data; null: not known */
  readonly from: 'provider' | 'own' | 'file' | 'data' | null;
  /** Null if it is not known, or not one price for all calls */
  readonly price: OwnRates | null;
  /** The model of the price data that costs as much */
  readonly like: string | null;
  /** The most tokens of a prompt and its answer together; absent where it is not known */
  readonly contextWindow?: number;
  /** USD of a call with the tokens that the query names; null if that is not known. Absent without inputTokens */
  readonly costUsd?: number | null;
}

/** The answer of POST `/api/session/code`. */
export interface SessionCode {
  /** A code that signs in once */
  readonly code: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly expiresAt: string;
  /** The address of the page, to which `#code=` is added: a path, or a URL with the public origin; null without a page */
  readonly page: string | null;
}

/** The answer of POST `/api/session`. */
export interface SessionKey {
  /** A session key. It is accepted wherever the token is, for 30 days */
  readonly key: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly expiresAt: string;
}

/** The answer of POST `/api/session/ticket`. */
export interface SessionTicket {
  /** Opens one WebSocket: /api/ws?ticket= */
  readonly ticket: string;
  /** ISO 8601, UTC, with milliseconds */
  readonly expiresAt: string;
}

/** Body of POST `/api/session` without a bearer. */
export interface SignIn {
  /** The one-time code of `blockhouse open` */
  readonly code: string;
}

/** The body that approves a skill. */
export interface ApproveSkill {
  /** The hash of the skill that was shown */
  readonly hash: string;
}

/** The body that approves a server and tools of it. */
export interface ApproveToolServer {
  /** The definition that was shown */
  readonly definition: string;
  /** The hashes that were shown, by the names of the tools */
  readonly tools: Readonly<Record<string, string>>;
}

/** The body that begins to sign in to a server. */
export interface BeginToolSignIn {
  /** Where the browser is led at the end: a port of the machine with the browser, where the caller listens */
  readonly redirectURI: string;
  /** The id of a client that was registered at the authorization server, or the https address of its document */
  readonly clientId?: string;
  /** The only authorization server that is taken. Needed where the client has a secret, or is in a private network */
  readonly issuer?: string;
  /** What is asked for; left out, what the server says that it needs */
  readonly scope?: string;
}

/** The tools of a block. */
export interface BlockToolList {
  readonly servers: readonly {
    readonly name: string;
    /** held: its definition is not approved. changed: it is not the approved one any more. failed: it does not start, or its entry can not be used */
    readonly state: 'idle' | 'starting' | 'ready' | 'stopping' | 'failed' | 'held' | 'changed';
    /** Why tools of it are missing */
    readonly problem?: string;
  }[];
  readonly tools: readonly BlockToolView[];
}

/** A tool, as the rules of a block have it. */
export interface BlockToolView {
  readonly server: string;
  readonly tool: string;
  /** Only approved ones of a server that can be called are offered */
  readonly state: 'approved' | 'changed' | 'new' | 'unusable' | 'gone';
  /** What becomes of a call */
  readonly rule: 'allow' | 'ask' | 'deny';
  /** The pattern that says so, or `default` */
  readonly by: string;
  /** Calls with some arguments are allowed, which the rule does not say */
  readonly allowsSome: boolean;
  /** A rule allows it also in a tainted run */
  readonly evenTainted: boolean;
  /** In a tainted run it waits for a person, although it is allowed */
  readonly asksTainted: boolean;
  readonly marks: ToolMarks;
  /** Of its definition, by estimate */
  readonly tokens: number;
  /** Calls of the block that were made today, in the timezone of its budget */
  readonly callsToday: number;
  /** A new run does not offer it: the model must find it with block__find_tool */
  readonly mustBeFound: boolean;
}

/** The body that makes one call of a tool. */
export interface CallTool {
  /** Its name, as the server says it */
  readonly tool: string;
  /** Its definition that was shown and approved */
  readonly hash: string;
  /** As its schema wants them */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The body that finishes a sign-in. */
export interface FinishToolSignIn {
  /** The query with which the browser was led to `redirectURI` */
  readonly query: string;
}

/** The body that makes or replaces a server. */
export interface PutToolServer {
  /** The entry as `mcpServers` of other programs has it: `command`, `args`, `env`, or `url`, `headers` */
  readonly server: Readonly<Record<string, unknown>>;
  /** Settings beside it; left out, they stay */
  readonly settings?: ToolServerSettings;
}

/** The body that stores a secret of a server. */
export interface SetToolSecret {
  readonly value: string | null;
}

/** A skill was approved. */
export interface SkillChanged {
  readonly success: true;
  readonly skill: SkillView;
}

/** Skills, with those that can not be used. */
export interface SkillList {
  readonly skills: readonly SkillView[];
}

/** A skill with its texts. */
export interface SkillShown {
  readonly skill: SkillView;
}

/** A skill of a block or of the workspace. */
export interface SkillView {
  /** The block, or `_` for the workspace */
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  /** sha256 over the paths and contents of all its files; empty where they can not be read */
  readonly hash: string;
  /** Only approved ones are offered. unusable: it is no skill as it is; `problem` says why */
  readonly state: 'approved' | 'changed' | 'new' | 'unusable';
  /** Of its SKILL.md, by estimate */
  readonly tokens: number;
  /** The paths of its files */
  readonly files: readonly string[];
  /** Why it is unusable: the file, the line, and what helps */
  readonly problem?: string;
  readonly approvedAt?: string;
  readonly approvedBy?: string;
  /** Its files by their paths; only where one skill is asked for */
  readonly now?: Readonly<Record<string, string>>;
  /** The approved files, of a skill that has changed; missing where they were too long to keep */
  readonly was?: Readonly<Record<string, string>>;
}

/** The body that starts a server once, to look at it. */
export interface TestToolServer {
  /** The definition that was shown */
  readonly definition: string;
}

/** A tool was called for a person. */
export interface ToolCalled {
  readonly success: true;
  readonly result: {
    /** The tool has said that it failed */
    readonly isError: boolean;
    /** What a model would read of it, whole */
    readonly text: string;
    /** The JSON that the tool gives beside or instead of its text */
    readonly structuredContent?: unknown;
    /** Images that a model would see */
    readonly images: number;
    readonly ms: number;
    /** Of all parts */
    readonly bytes: number;
    /** The marks of the tool that hold */
    readonly marks: ToolMarks;
  };
}

/** A server was changed, looked at or approved. */
export interface ToolServerChanged {
  readonly success: true;
  readonly server: ToolServerView;
}

/** All servers. */
export interface ToolServerList {
  readonly servers: readonly ToolServerView[];
}

/** `blockhouse.<server>` of mcp.json: our settings beside the entry that other programs know. */
export interface ToolServerSettings {
  /** One process for all blocks, or one for each; default workspace */
  readonly share?: 'workspace' | 'block';
  /** How long it may take to start; default 20000, or 120000 where it may have to be downloaded first, as with npx */
  readonly startTimeoutMs?: number;
  /** How long a call may take; default 60000 */
  readonly callTimeoutMs?: number;
  /** The most that progress extends a call to; default 600000 */
  readonly maxCallMs?: number;
  /** After so long without a call it is ended; default 300000 */
  readonly idleStopMs?: number;
  /** Calls side by side; default 4 */
  readonly concurrency?: number;
  /** A longer result fails its call; default 8388608 */
  readonly maxResultBytes?: number;
  /** Your half of a mark: it holds only where the annotation of the tool says the same */
  readonly marks?: {
    /** Patterns of tool names with `*` */
    readonly readOnly?: readonly string[];
    /** Patterns of tool names with `*` */
    readonly idempotent?: readonly string[];
    /** Patterns of tool names with `*` */
    readonly closedWorld?: readonly string[];
  };
  /** The argument of a tool that gets the id of the call */
  readonly keyArguments?: Readonly<Record<string, string | {
    readonly argument: string;
    readonly repeatable: boolean;
  }>>;
  /** By the name of a tool: which other one says whether a call of it ran whose outcome is not known */
  readonly probe?: Readonly<Record<string, {
    /** A tool of the same server with the mark readOnly */
    readonly tool: string;
    /** Its arguments: JSON pointers into those that were sent */
    readonly with: Readonly<Record<string, string>>;
    /** JSON pointer into its result: the call ran if something stands there that is neither null nor empty */
    readonly found: string;
  }>>;
  /** Of a server at an address: how it is signed in to. It is part of what is approved */
  readonly oauth?: {
    /** A person signs in (`blockhouse tools login`), or Blockhouse for itself; default authorization_code */
    readonly grant?: 'authorization_code' | 'client_credentials';
    /** The id of the client at the authorization server */
    readonly clientId?: string;
    /** The only authorization server that is taken, letter by letter as it names itself */
    readonly issuer?: string;
    /** What is asked for; left out, what the server says that it needs */
    readonly scope?: string;
    /** How the client proves who it is: with the secret `<server>.client_secret`, or with a signature of a private key (RFC 7523), which needs clientId and issuer; default client_secret */
    readonly method?: 'client_secret' | 'private_key_jwt';
    /** With private_key_jwt: the file of the private key (PEM or JWK); left out, the secret `<server>.client_key` */
    readonly keyFile?: string;
    /** With private_key_jwt: the name of the key at the authorization server (kid) */
    readonly keyId?: string;
  };
  /** What one call of a tool costs, in USD, by its name or a pattern; it is in the ledger and counts for caps */
  readonly usdPerCall?: Readonly<Record<string, number>>;
  /** Linux: without network and home, or with the network */
  readonly sandbox?: 'bwrap' | 'bwrap+net';
  /** What happens to tools that appear after the approval: they wait for a person, or are offered at first sight; default hold */
  readonly newTools?: 'hold' | 'offer';
}

/** A server with the whole definitions of its tools. */
export interface ToolServerShown {
  readonly server: ToolServerView;
}

/** A server of tools, without any secret. */
export interface ToolServerView {
  readonly name: string;
  /** held: its definition is not approved. changed: it is not the approved one any more. failed: it does not start, or its entry can not be used */
  readonly state: 'idle' | 'starting' | 'ready' | 'stopping' | 'failed' | 'held' | 'changed';
  /** Why it is failed, held or changed, and the command that helps */
  readonly problem?: string;
  /** sha256 of what is started */
  readonly definition: string;
  /** The entry as mcp.json has it: `${…}` is not resolved, literal secrets are masked */
  readonly server: Readonly<Record<string, unknown>>;
  /** Any object */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Of its protocol; null for a server that was never started, whose tools nobody knows yet */
  readonly era: 'legacy' | 'modern' | null;
  readonly tools: readonly ToolView[];
  /** Of a server that is signed in to: how, never with what */
  readonly signIn?: {
    /** signed-in: it renews itself, or has a token that holds. The others need a person: `blockhouse tools login` */
    readonly state: 'signed-in' | 'expired' | 'ended' | 'needed';
    readonly grant: 'authorization_code' | 'client_credentials';
    readonly issuer: string | null;
    readonly scope: string | null;
    /** When the token ends; a sign-in that renews itself goes on then */
    readonly expiresAt: string | null;
  };
  /** The secrets that it gets, such as `github.token`, and whether auth.json has them */
  readonly secrets?: readonly {
    readonly name: string;
    readonly isStored: boolean;
  }[];
}

/** A sign-in that has begun. */
export interface ToolSignInBegun {
  /** What the browser must open; null if Blockhouse has signed in for itself */
  readonly url: string | null;
  /** The authorization server */
  readonly issuer: string;
  /** Until when it can be finished */
  readonly expiresAt: string | null;
}

/** A tool of a server. */
export interface ToolView {
  readonly name: string;
  /** Only approved ones are offered. unusable: its schema is beyond the bounds. gone: the server does not list it any more */
  readonly state: 'approved' | 'changed' | 'new' | 'unusable' | 'gone';
  /** Of its definition as the server showed it last */
  readonly hash: string;
  /** Of its definition, by estimate */
  readonly tokens: number;
  readonly description: string;
  /** What the server says of it, which alone counts for nothing */
  readonly annotations: Readonly<Record<string, unknown>>;
  /** Those that hold: annotation and settings say the same */
  readonly marks: ToolMarks;
  /** Its definition, as the server showed it last; only where one server is asked for */
  readonly now?: Readonly<Record<string, unknown>>;
  /** The approved definition, of a tool that has changed */
  readonly was?: Readonly<Record<string, unknown>>;
  /** Why it is unusable */
  readonly problem?: string;
}

/** A provider's bill beside the ledgers of blocks and of clients: the days and models that agree, and each on which they don't. */
export interface BillComparison {
  /** The provider or connection whose calls were compared */
  readonly connection: string;
  /** The days and models that agree */
  readonly matched: number;
  readonly differs: readonly {
    /** A UTC day, such as 2026-11-27 */
    readonly date: string;
    /** * if the bill names no models */
    readonly model: string;
    readonly ours: {
      readonly usd?: number;
      readonly input?: number;
      readonly output?: number;
      readonly calls: number;
      readonly unpricedCalls: number;
    } | null;
    readonly theirs: {
      readonly usd?: number;
      readonly input?: number;
      readonly output?: number;
    } | null;
  }[];
}

/** Sums of the ledger by block, model, UTC day and so on, or by two of these (`2026-11-27 provider/model`); of the gateway's ledger by key in place of block. */
export interface CostsReport {
  readonly by: 'block' | 'key' | 'connection' | 'credential' | 'model' | 'purpose' | 'day' | 'day-block' | 'day-key' | 'day-connection' | 'day-model';
  readonly rows: readonly {
    readonly key: string;
    readonly calls: number;
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    /** Cost in USD; null if no call has a known price */
    readonly costUsd: number | null;
    readonly unpricedCalls: number;
  }[];
  readonly total: CostBucket;
}

/** What the doctor has examined and found. */
export interface DoctorReport {
  /** False if a finding is an error */
  readonly ok: boolean;
  readonly checked: {
    readonly blocks: number;
    readonly files: number;
    readonly messages: number;
  };
  readonly findings: readonly Finding[];
}

/** A problem that the doctor found, with its place and its fix. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** Path inside the workspace */
  readonly place: string;
  readonly problem: string;
  readonly fix: string;
}

/** The kill switch: whether it is set, since when and why. */
export interface HaltState {
  readonly halted: boolean;
  readonly since: string | null;
  readonly reason: string | null;
}

/** What was decided with it. */
export interface LinkDecided {
  readonly success: true;
  readonly block: string;
  readonly tool: string;
  readonly decision: 'approve' | 'deny';
}

/** The form of a decision link. */
export interface LinkDecision {
  readonly decision: 'approve' | 'deny';
}

/** What a decision link shows. */
export interface LinkedApproval {
  readonly approval: Approval;
}

/** The servers of the workspace, the oldest first. */
export interface NodeList {
  readonly nodes: readonly ServerNode[];
}

/** The targets by name. */
export interface NotifyList {
  readonly targets: readonly NotifyTarget[];
}

/** A target was made or replaced. */
export interface NotifySet {
  readonly success: true;
  readonly target: NotifyTarget;
  /** The secret, if one was made; it is shown this once */
  readonly secret?: string;
}

/** A target of notifications as it stands, without its secret. */
export interface NotifyTarget {
  readonly name: string;
  /** Its origin; a path is shown as …, because it may be a secret */
  readonly url: string;
  readonly events: readonly ('approval.asked' | 'message.failed' | 'cap.reached' | 'message.done')[];
  readonly blocks: readonly string[] | null;
  readonly links: boolean;
  readonly publicURL: string | null;
  /** off: it has answered 410, and gets nothing until it is set again */
  readonly state: 'on' | 'off';
  /** Notices that were not delivered yet */
  readonly pending: number;
  /** Notices that were given up, because there were too many or after a day of tries */
  readonly dropped: number;
  /** The last try */
  readonly last: {
    /** ISO 8601, UTC, with milliseconds */
    readonly at: string;
    /** HTTP status; null without an answer */
    readonly status: number | null;
  } | null;
}

/** What became of a notice that was sent to try a target. */
export interface NotifyTest {
  readonly delivered: boolean;
  /** HTTP status; null without an answer */
  readonly status: number | null;
  /** Why there was no answer */
  readonly problem: string | null;
  readonly ms: number;
}

/** A text that fits. */
export interface SearchHit {
  /** Name of the block; of an archived one, the name that it had */
  readonly block: string;
  /** Name in the archive; null for an active block */
  readonly archive: string | null;
  /** Whose words they are: the last two are of the memory of the block */
  readonly by: 'message' | 'answer' | 'summary' | 'fact';
  /** Id of the message, the answer or the fact; null for the summary */
  readonly id: string | null;
  readonly at: string | null;
  /** The text around the first word that was found, with … where it is cut */
  readonly excerpt: string;
  /** Where the words stand in the excerpt: the index of the first character, and of the one after the last, in UTF-16 */
  readonly marks: readonly (readonly number[])[];
}

/** A search in what was said to blocks. */
export interface SearchQuery {
  /** Words, and texts between quotation marks, at most eight. A text fits that has them all, also within longer words, in any case */
  readonly q: string;
  /** Most texts to return, the newest first; default 20 */
  readonly limit?: number;
  /** Only what was said to this block */
  readonly block?: string;
}

/** What was found. */
export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** How many texts fit in all */
  readonly total: number;
  /** False if there may be more: a block can't be read, or there are too many to look at */
  readonly complete: boolean;
  /** Blocks whose texts can't be read, some of them */
  readonly unreadable: readonly string[];
}

/** A server of the workspace. */
export interface ServerNode {
  /** Made for each start, and after a server was given up; never used again */
  readonly id: string;
  /** True for the server that answers */
  readonly self: boolean;
  readonly version: string;
  /** Where it answers; null while it starts */
  readonly url: string | null;
  /** Since when it shares the workspace */
  readonly startedAt: string;
  /** Its last sign of life */
  readonly seenAt: string;
  /** False for a server that gives no sign of life; others take its blocks */
  readonly alive: boolean;
  /** True for a server that takes no blocks, and gives away those that it has */
  readonly draining: boolean;
  /** Blocks that it has: those that have something to do, or had a moment ago */
  readonly blocks: number;
}

/** The body that sets the kill switch. */
export interface SetHalt {
  readonly reason?: string;
}

/** The body that makes a target of notifications, or replaces one. Its secret stays. */
export interface SetNotifyTarget {
  /** Where notices are sent by POST; http: only for loopback and private addresses */
  readonly url: string;
  /** Default approval.asked, message.failed, cap.reached */
  readonly events?: readonly ('approval.asked' | 'message.failed' | 'cap.reached' | 'message.done')[];
  /** Names, or beginnings such as team-*; without it, all blocks */
  readonly blocks?: readonly string[];
  /** Whether notices of approvals have a link that decides; default false. Needs publicURL */
  readonly links?: boolean;
  /** Where people reach this server: the beginning of links in notices */
  readonly publicURL?: string;
  /** True makes another secret */
  readonly newSecret?: boolean;
}

/** From the server: a call waits for a person, or does not wait any more. */
export interface ApprovalFrame {
  readonly type: 'approval';
  /** Id of the approval */
  readonly id: string;
  /** Name of the block */
  readonly block: string;
  readonly state: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';
}

/** From the server: something has happened; docs/events.md lists the events. With `missed`, that many were lost. */
export interface EventFrame {
  readonly type: 'event';
  /** A number that only grows. Subscribe with the last one that you saw to get what came after it */
  readonly seq?: number;
  /** ISO 8601, UTC, with milliseconds */
  readonly at?: string;
  readonly name?: string;
  /** The fields of the event */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly missed?: number;
}

/** From the server: what has changed in the list of blocks, at most twice a second and at most 200 entries in a frame. */
export interface FleetFrame {
  readonly type: 'fleet';
  /** A number that only grows. Subscribe with the last one that you saw to get what came after it */
  readonly seq: number;
  /** True if changes were missed: read the list */
  readonly reset: boolean;
  /** Blocks that are new or other than before */
  readonly changed: readonly BlockEntry[];
  /** Names of blocks that were archived or renamed */
  readonly gone: readonly string[];
}

/** From the server: the block is gone (archived or renamed); the subscription has ended. */
export interface GoneFrame {
  readonly type: 'gone';
  /** Name of the block */
  readonly block: string;
}

/** From the server: lines of the block's log. A client that reads slowly misses some: a larger offset than expected says so, also without text. */
export interface LogFrame {
  readonly type: 'log';
  /** Name of the block */
  readonly block: string;
  /** Name of the log file */
  readonly file: string;
  /** Where the text begins in the file, in bytes */
  readonly offset: number;
  /** Whole lines; empty if they were left out */
  readonly text: string;
}

/** From the client: asks for a `pong`. */
export interface PingFrame {
  readonly type: 'ping';
}

/** From the server: the answer to `ping`. */
export interface PongFrame {
  readonly type: 'pong';
}

/** From the server: a file of the block has changed; read it again. */
export interface RefreshFrame {
  readonly type: 'refresh';
  /** Name of the block */
  readonly block: string;
}

/** From the server: a call of a tool goes on. */
export interface RunProgressFrame {
  readonly type: 'run';
  /** Name of the block */
  readonly block: string;
  /** Id of the message that is being answered */
  readonly id: string;
  readonly event: 'progress';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  readonly tool: string;
  /** cancelling: nobody waits for the task any more, and its server is asked to cancel it */
  readonly state: 'working' | 'cancelling';
  /** Its server goes on with it as a task */
  readonly task: boolean;
  /** How far it is, as its server counts */
  readonly progress?: number;
  /** How far it goes */
  readonly total?: number;
  /** What its server says: one line */
  readonly message?: string;
}

/** From the server: the run of a message has come to this step. */
export interface RunStepFrame {
  readonly type: 'run';
  /** Name of the block */
  readonly block: string;
  /** Id of the message that is being answered */
  readonly id: string;
  readonly event: 'step';
  readonly n: number;
}

/** From the server: a call of a tool is about to be sent, or has its outcome. */
export interface RunToolFrame {
  readonly type: 'run';
  /** Name of the block */
  readonly block: string;
  /** Id of the message that is being answered */
  readonly id: string;
  readonly event: 'tool';
  /** The step, and the number of the call in it: 3.1 */
  readonly call: string;
  readonly tool: string;
  /** called, done, unknown, or why it was refused */
  readonly state: string;
  readonly isError?: boolean;
  readonly ms?: number;
}

/** The next piece of a reply. */
export interface StreamContentFrame {
  readonly type: 'stream';
  /** Name of the block */
  readonly block: string;
  /** Id of the message that is being answered */
  readonly id: string;
  /** A number that only grows. Subscribe with the last one that you saw to get what came after it */
  readonly seq: number;
  readonly event: 'content';
  /** The next piece of the answer */
  readonly text: string;
}

/** A reply has ended and is in chat.json. */
export interface StreamDoneFrame {
  readonly type: 'stream';
  /** Name of the block */
  readonly block: string;
  /** Id of the message that is being answered */
  readonly id: string;
  /** A number that only grows. Subscribe with the last one that you saw to get what came after it */
  readonly seq: number;
  readonly event: 'done';
  readonly answerId: string;
  /** interrupted if the reply was stopped; the text so far was kept as the answer */
  readonly status: 'done' | 'interrupted';
  readonly stopReason: string;
}

/** An attempt has failed; discard the text that it sent. */
export interface StreamErrorFrame {
  readonly type: 'stream';
  /** Name of the block */
  readonly block: string;
  /** Id of the message that is being answered */
  readonly id: string;
  /** A number that only grows. Subscribe with the last one that you saw to get what came after it */
  readonly seq: number;
  readonly event: 'error';
  readonly code: string;
  readonly error: string;
  /** True if another attempt follows */
  readonly willRetry: boolean;
}

/** One step of a reply while it is written. After an `error`, discard the text of that attempt. */
export type StreamFrame = StreamStartFrame | StreamContentFrame | StreamDoneFrame | StreamErrorFrame;

/** An attempt at a reply has begun. */
export interface StreamStartFrame {
  readonly type: 'stream';
  /** Name of the block */
  readonly block: string;
  /** Id of the message that is being answered */
  readonly id: string;
  /** A number that only grows. Subscribe with the last one that you saw to get what came after it */
  readonly seq: number;
  readonly event: 'start';
  readonly provider: string;
  readonly model: string;
  readonly attempt: number;
}

export interface SubscribeEventsFrame {
  readonly type: 'subscribe';
  readonly events: true;
  /** The last seq that you saw; without it, the answer to `fleet` is a reset, and `events` begins with the next event */
  readonly since?: number;
}

/** From the client: follow the list of blocks, or the events of the server. Each counts as one subscription. */
export interface SubscribeFleetFrame {
  readonly type: 'subscribe';
  readonly fleet: true;
  /** The last seq that you saw; without it, the answer to `fleet` is a reset, and `events` begins with the next event */
  readonly since?: number;
}

/** From the client: follow a block. */
export interface SubscribeFrame {
  readonly type: 'subscribe';
  /** Name of the block */
  readonly block: string;
  /** True to also get replies while they are being written; default false */
  readonly stream?: boolean;
  /** With stream: the last seq that you saw of a reply that is still being written */
  readonly sinceSeq?: number;
  /** True to also get the calls of tools, and those that wait for people; default false */
  readonly steps?: boolean;
  /** True to also get the lines of the block's log as they are written; default false */
  readonly logs?: boolean;
}

export interface UnsubscribeEventsFrame {
  readonly type: 'unsubscribe';
  readonly events: true;
}

export interface UnsubscribeFleetFrame {
  readonly type: 'unsubscribe';
  readonly fleet: true;
}

/** From the client: stop following a block. */
export interface UnsubscribeFrame {
  readonly type: 'unsubscribe';
  /** Name of the block */
  readonly block: string;
}

/** costs.json with every field. */
export type BlockCosts = Required<CostsFile>;

/** pulse.json with every field. */
export type BlockPulse = Required<PulseFile>;

/** memory.json. */
export type BlockMemory = MemoryFile;

/** What was paid for: a call of a model for an answer or for a summary of the memory, or a call of a tool. */
export type CallPurpose = 'chat' | 'summary' | 'tool';

/** Who or what caused a transition. */
export type TransitionActor = Transition['actor'];

type Section = 'memory' | 'pulse' | 'retry' | 'budget' | 'queue' | 'logs';
type ConfigFields = Required<Omit<BlockConfigFile, 'tools'>> & Pick<BlockConfigFile, 'tools'>;
/** config.json with all defaults filled in; unknown fields are kept beside these. */
export type BlockConfig = { readonly [F in keyof ConfigFields]: F extends Section ? Readonly<Required<ConfigFields[F]>> : ConfigFields[F] };
