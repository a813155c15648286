// A session with a server that has been greeted: its calls, and the list of its tools. It knows neither processes nor addresses.
//
// known-or-unknown: a call that has an answer of whatever kind is a result. One that was sent and has none is unknown, unless it timed out and its tool only reads.
// own-turns: to read a result of megabytes takes some tenths of a second. Each long one has a turn of the event loop of its own, so that those of many servers, which may come in the
//   same moment, do not hold up everybody one after the other.
// own-task: an id of a task is of one call. A second call with it is unknown, so that no call gets the result of another one.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { isObject } from '../../core/base/json.ts';
import { nextTurn } from '../../core/base/next-turn.ts';
import { BlockhouseError, type OpenTask, type ToolCallRequest, type ToolOutcome, type ToolQuestion } from '../../core/index.ts';
import { CALL_ID, type CallTransport } from './call-id.ts';
import { errorResult, isShort, type ReadResult, readQuestion, readResult, UNREADABLE } from './mcp-result.ts';
import type { Sdk } from './sdk.ts';
import type { CallableServer, ListedTool } from './server.ts';
import { isTaskResult, readTask } from './task-answer.ts';
import { NOT_SPOKEN, type TaskParams, type TaskQuestion, watchTask } from './task-watch.ts';

/** A list that goes on for longer is cut there. */
const MAX_PAGES = 50;
/** All pages of a list together. A server with more is not listed. */
const MAX_LIST_CHARACTERS = 16 * 1024 * 1024;
/** The longest time that a timer can have. */
const FOR_EVER_MS = 2_147_000_000;
/** Takes a result as it is. */
const AS_IS = { '~standard': { version: 1 as const, vendor: 'blockhouse', validate: (value: unknown) => ({ value }) } };

/** What a session is made of. */
export interface SessionParts {
  readonly sdk: Sdk;
  readonly client: Client;
  readonly transport: CallTransport;
  /** How the server has ended, as a part of a sentence; undefined while it runs. */
  ending(): string | undefined;
}

/** What a call of a server needs to know of it. */
export type CalledServer = Pick<CallableServer, 'name' | 'settings' | 'isReadOnly'>;

interface TaskRequest {
  readonly method: 'tasks/get' | 'tasks/cancel' | 'tasks/update';
  readonly params: TaskParams;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** One session. */
export class ClientSession {
  readonly #parts: SessionParts;
  /** The calls of open tasks, by the ids of these. */
  readonly #tasks = new Map<string, string>();
  /** Questions about tasks on their way. */
  readonly #cancels = new Set<Promise<unknown>>();
  /** Called after a call has timed out. */
  onTimeout: () => void = () => undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** As `ToolHost.call`. */
  async call(server: CalledServer, call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome | ToolQuestion> {
    const begun = performance.now();
    const { begun: sent } = this.#parts.transport;
    if (signal.aborted) throw new BlockhouseError('TOOL_NOT_BEGUN', 'The call was cut off before it was sent.');
    const { task } = call;
    if (task !== undefined) return outcome(await this.#asOwner(server, call, task.taskId, () => this.#watch(server, call, { task, signal })), begun);
    const limit = new CallLimit(call.timeoutMs, server.settings.maxCallMs, signal);
    let made: unknown;
    try {
      made = await this.#request(call, limit);
      limit.end(); // it has answered in time
      await ownTurn(made, server);
      const question = readQuestion(made);
      if (question !== undefined) return { kind: 'input-required', ...question, ms: performance.now() - begun };
      if (!isTaskResult(made) || this.#parts.client.getProtocolEra() !== 'modern') return outcome(readResult(made), begun);
    } catch (error) {
      const known = this.#knownResult(error);
      if (known !== undefined) {
        await ownTurn({ content: known.parts }, server);
        return outcome(known, begun);
      }
      const ending = `${server.name} ${this.#parts.ending() ?? brokenBy(error)}.`;
      if (error instanceof BlockhouseError && error.code === 'TOOL_NOT_BEGUN')
        throw new BlockhouseError('TOOL_NOT_BEGUN', `${server.name} can't be called: ${error.message}.`, { cause: error });
      if (!sent.has(call.callId)) throw new BlockhouseError('TOOL_NOT_BEGUN', ending, { cause: error });
      if (limit.isOver) {
        this.onTimeout();
        const sentence = `${server.name} did not answer within ${Math.round((performance.now() - begun) / 1000)} s.`;
        if (server.isReadOnly === true) return outcome(errorResult(sentence), begun);
        throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', sentence, { isTimeout: true, cause: error });
      }
      throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', signal.aborted ? 'The call was cut off.' : ending, { cause: error });
    } finally {
      limit.end();
      sent.delete(call.callId);
    }
    return outcome(await this.#begin(server, call, { made, signal }), begun);
  }

  /** The server goes on with the call by itself. */
  async #begin(server: CalledServer, call: ToolCallRequest, { made, signal }: { readonly made: Record<string, unknown>; readonly signal: AbortSignal }) {
    const task = readTask(made);
    if (task === undefined) throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', `${server.name} has made a task of the call whose id can't be used.`);
    return this.#asOwner(server, call, task.taskId, async () => {
      await call.onTask?.(task);
      return this.#watch(server, call, { task: { ...task, ageMs: 0 }, signal });
    });
  }

  /** own-task: from before the task is recorded, so that of two calls with one id only the first is. */
  async #asOwner<T>({ name }: CalledServer, { callId }: ToolCallRequest, taskId: string, work: () => Promise<T>): Promise<T> {
    const owner = this.#tasks.get(taskId);
    if (owner !== undefined && owner !== callId)
      throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', `${name} has given the call the id of the task of another call.`);
    this.#tasks.set(taskId, callId);
    try {
      return await work();
    } finally {
      this.#tasks.delete(taskId);
    }
  }

  #watch(
    server: CalledServer,
    call: ToolCallRequest,
    { task, signal }: { readonly task: OpenTask; readonly signal: AbortSignal },
  ): Promise<ReadResult | TaskQuestion> {
    return watchTask(task, {
      sdk: this.#parts.sdk,
      server: server.name,
      isReadOnly: server.isReadOnly === true,
      maxMs: server.settings.maxCallMs,
      signal,
      ask: async (method, params, own) => {
        const answer = await this.#askForTask({ method, params, timeoutMs: call.timeoutMs, signal: own });
        if (isObject(answer) && answer['result'] !== undefined) await ownTurn(answer['result'], server);
        return answer;
      },
      answers: call.input?.responses,
      onWorking: (message) => call.onProgress?.({ isTask: true, message }),
      hasEnded: () => this.#parts.ending() !== undefined,
    });
  }

  #askForTask({ method, params, timeoutMs: timeout, signal }: TaskRequest): Promise<unknown> {
    const asked = this.#parts.client.request({ method, params } as never, AS_IS, { timeout, ...(signal !== undefined && { signal }) });
    if (method === 'tasks/cancel') {
      const settled: Promise<unknown> = asked.catch(() => undefined).then(() => this.#cancels.delete(settled));
      this.#cancels.add(settled);
    }
    return asked;
  }

  /** Resolves once the server has heard which tasks are cancelled, or after `ms`. */
  async told(ms: number): Promise<void> {
    if (this.#cancels.size > 0) await Promise.race([Promise.all(this.#cancels), delay(ms, undefined, { ref: false })]);
  }

  #request({ tool, arguments: args, callId, input, onProgress }: ToolCallRequest, limit: CallLimit): Promise<unknown> {
    const { responses, requestState } = input ?? {};
    const params = {
      ...{ name: tool, arguments: args, _meta: { [CALL_ID]: callId } },
      ...(responses !== undefined && { inputResponses: responses }),
      ...(requestState !== undefined && { requestState }),
    };
    return this.#parts.client.request({ method: 'tools/call', params }, AS_IS, {
      signal: limit.signal,
      timeout: FOR_EVER_MS, // the limit is ours
      allowInputRequired: true,
      onprogress: ({ progress, total, message }) => {
        limit.extend();
        onProgress?.({ isTask: false, progress, total, message });
      },
      headers: { 'idempotency-key': callId },
    });
  }

  /** known-or-unknown. Undefined for an error that is no answer. */
  #knownResult(error: unknown): ReadResult | undefined {
    const { ProtocolError } = this.#parts.sdk;
    if (error instanceof ProtocolError && NOT_SPOKEN.has(error.code)) return errorResult(`The server needs what it does not get here: ${error.message}`);
    if (error instanceof ProtocolError) return errorResult(error.code === UNREADABLE ? error.message : `The server has refused the call: ${error.message}`);
    const isUnreadable = isObject(error) && /INVALID_RESULT|UNSUPPORTED_RESULT/.test(String(error['code']));
    return isUnreadable ? errorResult('The server has answered with what is no result.') : undefined;
  }

  /** All tools, in at most 50 pages. Rejects with the error of the package. */
  async list(timeoutMs: number): Promise<readonly ListedTool[]> {
    const tools: ListedTool[] = [];
    let cursor: unknown;
    let room = MAX_LIST_CHARACTERS;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = typeof cursor === 'string' ? { cursor } : {};
      const result = await this.#parts.client.request({ method: 'tools/list', params }, AS_IS, { timeout: timeoutMs });
      if (!isObject(result) || !Array.isArray(result['tools'])) throw new Error('It has answered with no list of tools.');
      room -= JSON.stringify(result['tools']).length;
      if (room < 0) throw new Error(`It lists more than ${MAX_LIST_CHARACTERS} characters of tools.`);
      for (const tool of result['tools']) tools.push(...listedTool(tool));
      cursor = result['nextCursor'];
      if (typeof cursor !== 'string' || cursor === '') break;
    }
    return tools;
  }

  /** Asks for anything, so that something comes. */
  nudge(): void {
    const { client } = this.#parts;
    const method = client.getProtocolEra() === 'modern' ? 'server/discover' : 'ping';
    client.request({ method, params: {} }, AS_IS, { timeout: FOR_EVER_MS }).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#parts.client.close();
  }
}

/** own-turns. */
async function ownTurn(result: unknown, { name }: CalledServer): Promise<void> {
  if (!isShort(result)) await nextTurn(`results of ${name}`);
}

/** As a part of a sentence. */
function brokenBy(error: unknown): string {
  return error instanceof BlockhouseError ? `has given no answer: ${error.message.replace(/\.$/, '')}` : 'has ended';
}

function outcome(result: ReadResult | TaskQuestion, begun: number): ToolOutcome | ToolQuestion {
  if ('requests' in result) return { kind: 'input-required', requests: result.requests, ms: performance.now() - begun };
  return { kind: 'result', ...result, ms: performance.now() - begun };
}

function listedTool(value: unknown): ListedTool[] {
  if (!isObject(value) || typeof value['name'] !== 'string' || value['name'] === '') return [];
  const { name, title, description, inputSchema, outputSchema, annotations } = value;
  return [
    {
      name,
      ...(typeof title === 'string' && { title }),
      ...(typeof description === 'string' && { description }),
      inputSchema: isObject(inputSchema) ? inputSchema : {},
      ...(isObject(outputSchema) && { outputSchema }),
      ...(isObject(annotations) && { annotations }),
    },
  ];
}

/** The time of one call, which progress extends. */
class CallLimit {
  readonly #own = new AbortController();
  readonly #timeoutMs: number;
  readonly #lastAt: number;
  readonly #outer: AbortSignal;
  #timer: NodeJS.Timeout;
  isOver = false;

  constructor(timeoutMs: number, maxMs: number, outer: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#lastAt = performance.now() + Math.max(timeoutMs, maxMs);
    this.#timer = setTimeout(this.#end, timeoutMs);
    this.#outer = outer;
    outer.addEventListener('abort', this.#leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  extend(): void {
    if (this.#own.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#end, Math.max(0, Math.min(this.#timeoutMs, this.#lastAt - performance.now())));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#leave);
  }

  readonly #end = (): void => {
    this.isOver = true;
    this.#own.abort('timeout');
  };

  readonly #leave = (): void => this.#own.abort('cut off');
}
