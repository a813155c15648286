// The bus: facts about what has happened, in the past tense, for logs, metrics and transports. docs/events.md lists them, and a test compares the two.
import mittModule, { type Emitter } from 'mitt';
import type { ErrorCode } from './errors.ts';
import type { Approval, ArchiveInfo, BlockState, CallPurpose, ChatEntry, Compaction, SkippedRuns, StopReason, TransitionActor, Usage } from './types.ts';
import type { RunProgressFrame } from './types.ts';

/** A chat, a request for embeddings, or one in the provider's own protocol, whose bytes go through. */
export type CallKind = 'chat' | 'embeddings' | 'forward';

interface CallFact {
  readonly kind: CallKind;
  /** Its number, which no other call of this server has: one request may make several. */
  readonly call: number;
  readonly requestId: string;
  readonly adapter: string;
  readonly model: string;
  /** The caller, from `CallOptions.caller`. For a call of a monitor it is the name of its block. */
  readonly caller?: string | undefined;
  /** The name of the client's key, as `CallOptions.key` says. */
  readonly key?: string | undefined;
  /** The span that the call belongs to, as the header `traceparent` of W3C Trace Context names it; absent if its request has none. */
  readonly traceparent?: string | undefined;
}

/** An attempt that failed. Milliseconds from the acceptance of its call. */
export interface FailedAttempt {
  readonly sentMs: number;
  readonly endedMs: number;
  /** When the first part of its answer came; undefined if none did. */
  readonly firstTextMs?: number | undefined;
  /** The label of its key, where the connection has several. */
  readonly credential?: string | undefined;
  readonly code: ErrorCode;
  /** The HTTP status that the provider answered with, if it answered. */
  readonly upstreamStatus?: number | undefined;
  /** What followed: the same once more, or another key; undefined if nothing did. */
  readonly next?: 'repeat' | 'key';
  /** The wait before it. */
  readonly delayMs?: number;
  /** The id of the span that its provider was given; absent unless providers get one. */
  readonly spanId?: string | undefined;
}

/** What an answer says of itself, as the provider tells it; shortened. */
export interface AnswerFacts {
  /** Why it ended. */
  readonly stopReason?: StopReason | undefined;
  /** The model that has answered, under the provider's own name. */
  readonly model?: string | undefined;
  /** The provider's id of the answer. */
  readonly id?: string | undefined;
}

interface AttemptFact extends CallFact {
  /** Its number among those of its call, from 1. */
  readonly attempt: number;
  /** Set if the request named another address than the configured one: its origin, or the region. */
  readonly address?: string | undefined;
  /** The label of its key, where the connection has several. */
  readonly credential?: string | undefined;
}

interface DestinationFact {
  readonly adapter: string;
  readonly address?: string | undefined;
}

/** For whom a destination is paused. */
interface PauseFact extends DestinationFact {
  /** Everybody; everybody's calls to one model; one caller's calls; one prompt of programs with the token. */
  readonly scope: 'all' | 'model' | 'caller' | 'prompt';
  /** The model; absent if `scope` is `all`, and for a caller whose calls to several models failed. */
  readonly model?: string | undefined;
  /** The block, if it is one. */
  readonly caller?: string | undefined;
  /** The name of the client's key, if it has one. With neither, the calls are those of programs with the token. */
  readonly key?: string | undefined;
}

interface CredentialFact {
  readonly connection: string;
  /** The label of the key. */
  readonly credential: string;
  /** The model that was asked. */
  readonly model: string;
}

/** What of the store has a latency of its own. */
export type StorePart = 'file' | 'ledger' | 'gateway-ledger' | 'database';

/** The files of a block. */
export type BlockFile = 'config' | 'memory' | 'costs' | 'pulse' | 'chat';

type BlockFact = { readonly block: string };

interface MessageFact extends BlockFact {
  /** The id of the message, not of its answer. */
  readonly id: string;
}

/** Every fact and what it says. */
export type CoreEvents = {
  /** A call was accepted and joined the queue. */
  'call.started': CallFact & { readonly stream: boolean };
  /** An attempt failed, and another one follows after `delayMs`. */
  'call.retried': CallFact & { readonly attempt: number; readonly delayMs: number; readonly code: ErrorCode; readonly error: string };
  /** An attempt is sent to its provider. After one that failed: with which code, what follows (the same once more, or another key), and how long that waited. */
  'attempt.started': AttemptFact & { readonly after?: ErrorCode | undefined; readonly next?: FailedAttempt['next']; readonly delayMs?: number | undefined };
  /** An attempt ended: exactly one for each `attempt.started`. `code` is absent when it succeeded. */
  'attempt.ended': AttemptFact & {
    /** Since it was sent. */
    readonly durationMs: number;
    /** From then to the first byte of the answer of its provider; absent when there was none. */
    readonly firstByteMs?: number | undefined;
    /** From then to the first text; absent when there was none. */
    readonly firstTextMs?: number | undefined;
    readonly code?: ErrorCode | undefined;
    /** The HTTP status of a failure that its provider has answered. */
    readonly upstreamStatus?: number | undefined;
  };
  /** A call ended: exactly one for each `call.started`. `code` is absent when it succeeded. */
  'call.finished': CallFact & {
    /** True if the caller wanted the answer while it was written. */
    readonly stream?: boolean | undefined;
    /** How many were made. */
    readonly attempts: number;
    /** Those that failed, the first 20; undefined if none did. */
    readonly failed?: readonly FailedAttempt[] | undefined;
    readonly durationMs: number;
    /** The name by which the client asked for the model, where it asked by a name. */
    readonly asked?: string | undefined;
    /** The path that the client called, which says its protocol; undefined for a block and a program. */
    readonly path?: string | undefined;
    /** Set if the request named another address than the configured one: its origin, or the region. */
    readonly address?: string | undefined;
    /** The processing tier that the request asked for. */
    readonly tier?: string | undefined;
    /** Milliseconds from acceptance to the first attempt; absent when there was none. */
    readonly queuedMs?: number | undefined;
    /** Milliseconds from acceptance until the last attempt was sent; absent when there was none. */
    readonly sentMs?: number | undefined;
    /** Milliseconds from acceptance to the first text; absent when there was none. */
    readonly firstTextMs?: number | undefined;
    readonly usage?: Usage | undefined;
    /** What the provider says of the answer; absent for one that failed, and for embeddings. */
    readonly answer?: AnswerFacts | undefined;
    readonly code?: ErrorCode | undefined;
    /** The label of the key of the connection that the last attempt was made with; absent for a connection with one. */
    readonly credential?: string | undefined;
    /** The message of a block that it was to answer. */
    readonly messageId?: string | undefined;
    /** The id of the span that its provider was given for the last attempt; absent unless providers get one. */
    readonly spanId?: string | undefined;
  };
  /**
   * A call of a client stands in the ledger of the gateway: one for each `call.finished` of a client, as its line has it, and after that. It alone tells what a call
   * of a client has cost, as `call.billed` does for one of a block.
   */
  'call.counted': {
    readonly call: number;
    readonly requestId: string;
    /** The name of the client's key; null for the token of the workspace. */
    readonly key: string | null;
    /** The connection. */
    readonly provider: string;
    readonly model: string;
    /** Null when nothing is known of it. */
    readonly usage: Usage | null;
    /** Null without a known price. */
    readonly costUsd: number | null;
    /** Null when it succeeded. */
    readonly error: ErrorCode | null;
  };
  /** A request was answered, or its client has left. Only of servers of `blockhouse/http`. */
  'request.served': {
    readonly requestId: string;
    readonly method: string;
    /** The path of its route, such as `/api/blocks/:name`; `none` for a path without one. */
    readonly route: string;
    /** Of the answer; 499 where the client left before there was one. */
    readonly status: number;
    readonly durationMs: number;
    /** Of its span; absent unless traces are exported. */
    readonly traceparent?: string | undefined;
  };
  /** A WebSocket was opened by the request of this id. */
  'socket.opened': { readonly requestId: string };
  /** It was closed; `code` is that of the protocol. */
  'socket.closed': { readonly requestId: string; readonly code: number; readonly durationMs: number };
  /**
   * So many calls to a provider have failed in a row that it is not called for `openMs` milliseconds: by anybody, for one model, or by the one caller whose
   * calls failed. After a pause for everybody, each caller tries by itself until one of them succeeds. `address` is set if the requests named another address than the configured one.
   */
  'adapter.paused': PauseFact & { readonly openMs: number; readonly failures: number; readonly code: ErrorCode; readonly error: string };
  /** A provider that was not called for a while answers again. */
  'adapter.recovered': PauseFact;
  /**
   * A key of a connection with several is not used for `untilMs` milliseconds: after a rate limit for `model` alone (`cooling`), because it is refused, or because its
   * account is empty. `credential` is its label.
   */
  'credential.cooled': CredentialFact & {
    readonly state: 'cooling' | 'refused' | 'empty';
    readonly untilMs: number;
    readonly code: ErrorCode;
    readonly error: string;
  };
  /** A key that was not used for a while works again. */
  'credential.recovered': CredentialFact;
  /** auth.json was read again after a change. */
  'credentials.changed': { readonly file: string };
  /** auth.json can't be read; the last valid content stays in use. */
  'credentials.damaged': { readonly file: string; readonly reason: string };
  /** models.json can't be used; the last good content stays in use. */
  'models.damaged': { readonly file: string; readonly reason: string };
  /** prices.json can't be used; the last good content stays in use. */
  'prices.damaged': { readonly file: string; readonly reason: string };
  /** keys.json can't be used; no key of it is accepted. */
  'keys.damaged': { readonly file: string; readonly reason: string };
  /** A call was refused because a cap of a key, or of its `group`, is reached: once until its period ends. `raise` is the command for the owner. */
  'key.capped': { readonly key: string; readonly group: string | null; readonly cap: string; readonly resets: string; readonly raise: string };
  /** Bodies of the calls of a key are kept from now on, `until` at most. */
  'debug.started': { readonly key: string; readonly until: string };
  /** Bodies of the calls of a key are no longer kept, and those that were are deleted. */
  'debug.ended': { readonly key: string };
  /** The API token has changed. */
  'token.rotated': { readonly file: string };
  /** A block was created. */
  'block.created': BlockFact;
  /**
   * A file of a block has changed, by the server or by hand. A heartbeat alone doesn't count. Edits by hand are noticed only while the block has a
   * follower or its monitor runs.
   */
  'block.changed': BlockFact & { readonly file: BlockFile };
  /** The monitor has changed its state. */
  'block.transitioned': BlockFact & { readonly from: BlockState; readonly to: BlockState; readonly cause: string; readonly actor: TransitionActor };
  /** A file of a block can't be used. Its content was kept as `copy`, if it could be read at all. */
  'block.damaged': BlockFact & { readonly file: BlockFile; readonly reason: string; readonly copy?: string | undefined };
  /** costs.json or pulse.json could not be used and was rebuilt from other files. A power cut may leave them empty. */
  'block.rebuilt': BlockFact & { readonly file: BlockFile; readonly reason: string };
  /** The block was moved to the archive. */
  'block.archived': BlockFact & { readonly archiveName: ArchiveInfo['archiveName'] };
  /** An archived block is active again. */
  'block.restored': BlockFact & { readonly archiveName: ArchiveInfo['archiveName'] };
  /** A block has another name, `block`; `from` is the one before. */
  'block.renamed': BlockFact & { readonly from: string };
  /** An archived block was permanently deleted. */
  'archive.removed': { readonly archiveName: ArchiveInfo['archiveName'] };
  /** A message is on disk and is waiting for its answer. */
  'message.queued': MessageFact & { readonly channel: ChatEntry['channel']; readonly traceparent?: string | undefined };
  /** A hook has taken a delivery, which is the message `id`; again for a delivery that comes again. */
  'hook.taken': MessageFact & { readonly hook: string };
  /** A schedule has sent its message `id` for the run at this time, ISO 8601. */
  'schedule.fired': MessageFact & { readonly schedule: string; readonly at: string };
  /** So many runs of a schedule were left out. */
  'schedule.skipped': BlockFact & { readonly schedule: string; readonly reason: keyof SkippedRuns; readonly runs: number };
  /** A call of the message `id` waits for a person. */
  'approval.requested': MessageFact & { readonly approval: string; readonly tool: string; readonly because: Approval['because']; readonly expiresAt: string };
  /** A call does not wait for a person any more. */
  'approval.decided': MessageFact & { readonly approval: string; readonly tool: string; readonly state: 'approved' | 'denied' | 'expired' | 'cancelled' };
  /** A call of a tool is about to be sent. */
  'tool.called': MessageFact & { readonly call: string; readonly tool: string };
  /** A call of a tool goes on: how far it is, and in one line what its server says. With `cancelling`, its server is asked to cancel its task, for which nobody waits. */
  'tool.progressed': MessageFact & Omit<RunProgressFrame, 'type' | 'event'>;
  /** A call of a tool has its outcome: `done`, `unknown`, or why it was refused. */
  'tool.finished': MessageFact & {
    readonly call: string;
    readonly tool: string;
    readonly outcome: string;
    readonly isError: boolean;
    readonly ms: number | null;
  };
  /** A call of a tool with a price (`usdPerCall`) stands in the ledger: once, over crashes and repeats. */
  'tool.billed': MessageFact & { readonly tool: string; readonly costUsd: number };
  /** A process of a server of tools was started. */
  'server.started': { readonly server: string };
  /** A process of a server of tools has ended, also when it was asked to. */
  'server.exited': { readonly server: string; readonly reason: string };
  /** Somebody has signed in to a server of tools at an address. */
  'server.signed-in': { readonly server: string };
  /** A notification could not be delivered, now or for good. */
  'notify.failed': { readonly target: string; readonly status: number | null; readonly isFinal: boolean };
  /** An attempt at answering a message has begun. */
  'message.started': MessageFact & { readonly attempt: number; readonly provider: string; readonly model: string };
  /** A message has its outcome: one for each message, unless the message is retried. `code` is set if it failed. */
  'message.finished': MessageFact & {
    readonly status: 'done' | 'failed' | 'cancelled' | 'expired' | 'interrupted';
    readonly answerId?: string | undefined;
    readonly code?: string | undefined;
    readonly usage?: Usage | undefined;
    readonly costUsd?: number | null | undefined;
    readonly latencyMs?: number | undefined;
  };
  /** A model call of a block was billed, whether it succeeded or not. */
  'call.billed': BlockFact & {
    readonly call: number;
    readonly provider: string;
    readonly model: string;
    readonly purpose: CallPurpose;
    readonly usage: Usage;
    readonly costUsd: number | null;
  };
  /** The window of a block's memory was moved, or that failed. */
  'memory.compacted': BlockFact & { readonly outcome: Compaction['outcome']; readonly trigger: Compaction['trigger'] };
  /** The kill switch was set (`halted`) or released. */
  'workspace.halted': { readonly halted: boolean; readonly reason: string | null };
  /** Another process holds the workspace now. The monitors of this process have been stopped, and it has no blocks any more. */
  'workspace.lost': { readonly pid: number };
  /** Another server shares the workspace now; `self`: this one does again, under another id. */
  'node.joined': { readonly node: string; readonly self: boolean; readonly version?: string; readonly url?: string | null };
  /** A server has ended, or gives no sign of life; `self`: the others have given up this one. Its blocks are with others. */
  'node.gone': { readonly node: string; readonly self: boolean };
  /** The database has not answered this server for the length of a lease. */
  'store.away': { readonly silentMs: number };
  /** The database answers again. */
  'store.back': { readonly silentMs: number };
  /**
   * The store has done what a caller waits for: a file of a block is on the disk (`file`), lines of the ledger of blocks are (`ledger`), lines of the gateway's ledger are
   * written (`gateway-ledger`, not flushed), or a statement has its answer (`database`). Made only where somebody listens.
   */
  'store.answered': { readonly part: StorePart; readonly durationMs: number };
  /** The event loop of a process was held up for so long, so that nobody was answered. Only of servers. */
  'loop.delayed': { readonly delayMs: number; readonly pid: number };
  /** Something in the workspace could not be written or watched in the background. The server keeps running. */
  'workspace.fault': { readonly block?: string | undefined; readonly what: string; readonly error: string };
};

/** Emits facts to listeners. */
export interface CoreBus extends Emitter<CoreEvents> {
  /** True if somebody listens: a fact that is told often is made only then. */
  hears(name: keyof CoreEvents): boolean;
  /** Does work of a part of the store, and tells how long that took (`store.answered`) if it has succeeded and somebody listens. */
  time<T>(part: StorePart, work: () => Promise<T>): Promise<T>;
}

/** Does work, and tells how long it took. */
export type Timing = <T>(work: () => Promise<T>) => Promise<T>;

// The package's types describe its CommonJS build, where the function is a property; at run time it is the default export.
const mitt = mittModule as unknown as typeof mittModule.default;

/**
 * A bus that isolates its listeners: if one throws, the error becomes a process warning and doesn't reach the emitter or other listeners.
 *
 * few-instructions: every request emits several facts. So listeners stand in lists that are never changed but replaced, and a fact needs no copy of them.
 */
export function createBus(): CoreBus {
  const { all } = mitt<CoreEvents>();
  const on = (type: Name, listener: Listener): void => void all.set(type, [...listenersOf(type), listener] as never);
  const off = (type: Name, listener?: Listener): void => {
    const listeners = listenersOf(type);
    const at = listener === undefined ? -1 : listeners.indexOf(listener);
    if (listener === undefined) all.set(type, []);
    else if (at >= 0) all.set(type, listeners.toSpliced(at, 1) as never);
  };
  const emit = (type: keyof CoreEvents, fact?: unknown): void => {
    const listeners = all.get(type) as readonly Listener[] | undefined;
    if (listeners !== undefined) for (const listener of listeners) tell(listener, fact);
    const ofAll = all.get('*') as readonly Listener[] | undefined;
    if (ofAll !== undefined) for (const listener of ofAll) callApart(listener, type, fact);
  };
  const hears = (name: keyof CoreEvents): boolean => listenersOf(name).length > 0 || listenersOf('*').length > 0;
  function listenersOf(type: Name): readonly Listener[] {
    return (all.get(type) as readonly Listener[] | undefined) ?? NOBODY;
  }
  const time = async <T>(part: StorePart, work: () => Promise<T>): Promise<T> => {
    if (!hears('store.answered')) return work();
    const from = performance.now();
    const result = await work();
    emit('store.answered', { part, durationMs: performance.now() - from });
    return result;
  };
  return { all, on, off, emit, hears, time } as CoreBus;
}

type Name = keyof CoreEvents | '*';
type Listener = (...what: readonly unknown[]) => void;
const NOBODY: readonly Listener[] = [];

/** callApart for the usual listener, without a list of its arguments. */
function tell(listener: (fact: unknown) => void, fact: unknown): void {
  try {
    listener(fact);
  } catch (error) {
    warn(error);
  }
}

/** Calls foreign code. An error that it throws becomes a process warning. */
export function callApart<A extends readonly unknown[]>(call: (...what: A) => void, ...what: A): void {
  try {
    call(...what);
  } catch (error) {
    warn(error);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
