// Asks a server for the task that it has made of a call, until the task has ended.
//
// asked-once-more: however old a task is, it is asked for once before its time is said to be over: it may have ended meanwhile.
// own-interval: between two questions lies the time that the server wants, within bounds; a question without an answer is asked again.
// server-says: a task that is to be ended is cancelled at its server, and then asked for a few times more. What the server says of it is the outcome.
import { setTimeout as delay } from 'node:timers/promises';
import { timeLimit } from '../../core/base/abort.ts';
import {
  BlockhouseError,
  type Cancelled,
  type JsonRecord,
  type OpenTask,
  type ToolCallRequest,
  type ToolOutcome,
  type ToolQuestion,
} from '../../core/index.ts';
import { errorResult, type ReadResult, UNREADABLE } from './mcp-result.ts';
import type { Sdk } from './sdk.ts';
import { readTaskAnswer, type TaskAnswer } from './task-answer.ts';

/** How long a task is asked for that was cancelled. */
const CANCEL_MS = 3000;
const CANCEL_POLL_MS = 250;
/** So many answers in a row that say nothing of the task end the wait. */
const MAX_UNREADABLE = 5;
/** A task that outlives its server's session is asked for in so many sessions. */
const MAX_SESSIONS = 5;

const GONE = -32_602;
const NO_METHOD = -32_601;
/** A server wants what was not declared: two codes, of two drafts. */
export const NOT_SPOKEN: ReadonlySet<number> = new Set([-32_021, -32_003]);

/** The session has ended, or does not begin; the task may go on. */
export class SessionLost extends Error {}

/** What a task is asked for with. */
export interface WatchOptions {
  readonly sdk: Pick<Sdk, 'ProtocolError'>;
  /** As the subject of a sentence. */
  readonly server: string;
  readonly isReadOnly: boolean;
  /** The most that a task may take, from its beginning. */
  readonly maxMs: number;
  /** With the reason `cancel`, the task is cancelled. */
  readonly signal: AbortSignal;
  /** Sends a request about the task. */
  ask(method: 'tasks/get' | 'tasks/cancel' | 'tasks/update', params: TaskParams, signal?: AbortSignal): Promise<unknown>;
  hasEnded(): boolean;
  /** Called with what the server says of a task that goes on. */
  onWorking?(message: string | undefined): void;
  /** What people have said to what the task has asked. */
  readonly answers: JsonRecord | undefined;
}

/** Of a request about a task. */
export interface TaskParams {
  readonly taskId: string;
  readonly inputResponses?: JsonRecord | undefined;
}

/** What a task asks a person. */
export interface TaskQuestion {
  readonly requests: JsonRecord;
}

/** Resolves with what the call came to. Rejects with TOOL_OUTCOME_UNKNOWN; its cause is a SessionLost where another session may know more. */
export async function watchTask(open: OpenTask, options: WatchOptions): Promise<ReadResult | TaskQuestion> {
  const { signal } = options;
  const watch = new TaskWatch(open, options);
  if (open.isCancelled === true) return watch.cancel('was cancelled');
  try {
    return await watch.end();
  } catch (error) {
    if (!signal.aborted) throw error;
    if (signal.reason === ('cancel' satisfies Cancelled)) return watch.cancel('was cut off');
    throw unknown('The call was cut off.', new SessionLost('The call was cut off.', { cause: error }));
  }
}

class TaskWatch {
  #task: OpenTask;
  readonly #options: WatchOptions;
  readonly #begun = performance.now();
  #unreadable = 0;

  constructor(task: OpenTask, options: WatchOptions) {
    this.#task = task;
    this.#options = options;
  }

  get #ageMs(): number {
    return this.#task.ageMs + performance.now() - this.#begun;
  }

  /** That it does not count what is waited for people. */
  get #workMs(): number {
    return this.#ageMs - (this.#task.pausedMs ?? 0);
  }

  async end(): Promise<ReadResult | TaskQuestion> {
    const { signal, maxMs, server, answers } = this.#options;
    if (answers !== undefined) await this.#update(answers, signal);
    if (this.#task.ageMs === 0) await delay(this.#task.pollMs, undefined, { signal });
    for (;;) {
      const answer = await this.#get(signal);
      if (answer?.kind === 'ended') return answer.result;
      if (answer?.kind === 'asking') {
        const requests = Object.fromEntries(Object.entries(answer.requests).filter(([name]) => answers === undefined || !Object.hasOwn(answers, name)));
        if (Object.keys(requests).length > 0) return { requests };
      }
      const { ttlMs, pollMs } = this.#task;
      if (ttlMs !== null && this.#ageMs > ttlMs) throw unknown(`${server} keeps a task for ${ttlMs} ms, and it has not ended by then.`);
      if (this.#workMs >= maxMs) return this.cancel(`has not ended within ${Math.round(this.#workMs / 1000)} s`);
      await delay(Math.min(pollMs, Math.max(0, maxMs - this.#workMs)), undefined, { signal });
    }
  }

  /** A second time, it changes nothing at the server. What went wrong with it, the next answer says. */
  async #update(inputResponses: JsonRecord, signal: AbortSignal): Promise<void> {
    await this.#options.ask('tasks/update', { taskId: this.#task.taskId, inputResponses }, signal).catch(() => undefined);
  }

  /** server-says. */
  async cancel(why: string): Promise<ReadResult> {
    const { server, isReadOnly } = this.#options;
    const { taskId } = this.#task;
    const until = performance.now() + CANCEL_MS;
    const signal = timeLimit(CANCEL_MS);
    await this.#options.ask('tasks/cancel', { taskId }, signal).catch(() => undefined); // what it is worth, the next answer says
    while (performance.now() < until && !this.#options.hasEnded()) {
      const answer = await this.#get(signal).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (answer?.kind === 'ended') return answer.result;
      await delay(CANCEL_POLL_MS);
    }
    const sentence = `The task of ${server} ${why}, and the server does not say what became of it.`;
    if (isReadOnly) return errorResult(sentence);
    throw unknown(sentence);
  }

  /** Undefined for no answer that helps. */
  async #get(signal: AbortSignal): Promise<TaskAnswer | undefined> {
    const answer = await this.#asked(signal);
    if (answer === undefined) return undefined;
    if (answer.kind !== 'unreadable') this.#unreadable = 0;
    else if (++this.#unreadable >= MAX_UNREADABLE) throw unknown(`${this.#options.server} answers about a task with what says nothing of it.`);
    if (answer.kind === 'working') {
      this.#task = { ...this.#task, ...answer.task };
      this.#options.onWorking?.(answer.message);
    }
    return answer;
  }

  async #asked(signal: AbortSignal): Promise<TaskAnswer | undefined> {
    const { ask, sdk, server, hasEnded } = this.#options;
    try {
      return readTaskAnswer(await ask('tasks/get', { taskId: this.#task.taskId }, signal), this.#task);
    } catch (error) {
      if (signal.aborted) throw error;
      if (!(error instanceof sdk.ProtocolError)) {
        if (hasEnded()) throw unknown(`${server} has ended while it worked on a task.`, new SessionLost('The session has ended.', { cause: error }));
        return undefined; // no answer, or one that can't be read
      }
      if (error.code === UNREADABLE) return { kind: 'ended', result: errorResult(error.message) };
      if (error.code === GONE) throw unknown(`${server} does not know the task any more.`, error);
      if (error.code === NO_METHOD || NOT_SPOKEN.has(error.code)) throw unknown(`${server} has made a task of the call, and can't be asked for it.`, error);
      return undefined;
    }
  }
}

function unknown(message: string, cause?: unknown): BlockhouseError {
  return new BlockhouseError('TOOL_OUTCOME_UNKNOWN', message, { cause });
}

/** Makes a call, and asks for its task in the sessions after one that has ended. */
export async function overSessions(
  call: ToolCallRequest,
  signal: AbortSignal,
  make: (call: ToolCallRequest) => Promise<ToolOutcome | ToolQuestion>,
): Promise<ToolOutcome | ToolQuestion> {
  let { task } = call;
  let since = performance.now();
  const onTask: ToolCallRequest['onTask'] = async (made) => {
    await call.onTask?.(made);
    task = { ...made, ageMs: 0 };
    since = performance.now();
  };
  for (let tries = 1; ; tries += 1) {
    try {
      return await make(task === undefined ? { ...call, onTask } : { ...call, task: { ...task, ageMs: task.ageMs + performance.now() - since } });
    } catch (error) {
      if (task === undefined || !(error instanceof BlockhouseError)) throw error;
      const isLost = error.code === 'TOOL_NOT_BEGUN' || error.cause instanceof SessionLost;
      if (isLost && !signal.aborted && tries < MAX_SESSIONS) continue;
      throw error.code === 'TOOL_NOT_BEGUN' ? unknown(`The task of the call can't be asked for: ${error.message}`, error) : error;
    }
  }
}
