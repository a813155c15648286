// Answers of servers that have made a task of a call, or say what became of one: the extension `io.modelcontextprotocol/tasks` of 2026-07-28. Pure: no I/O.
//
// lenient-times: a time that makes no sense is as one that was not given, and none makes us ask without a pause, or never.
import { isObject } from '../../core/base/json.ts';
import type { ToolTask } from '../../core/index.ts';
import { cleanText, errorResult, type ReadResult, readResult } from './mcp-result.ts';

/** The extension. */
export const TASKS = 'io.modelcontextprotocol/tasks';
/** Under it, the transports hand on an answer that the client package does not know. */
const TASK = Symbol('task');
/** A longer id is taken for none: it goes into a header and into the journal. */
const MAX_TASK_ID = 1024;
const POLL_MS = 1000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 60_000;
/** Of what a server says of a task. */
const MAX_TEXT = 500;

/** A message as the client package takes it: it refuses each result of another type than those that it knows. */
export function handable(message: Record<string, unknown>): Record<string, unknown> {
  const { result } = message;
  return isObject(result) && result['resultType'] === 'task'
    ? { ...message, result: { ...result, resultType: 'complete', content: listOf(result['content']), [TASK]: true } }
    : message;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** True for a result by which a server makes a task of a call. */
export function isTaskResult(result: unknown): result is Record<string, unknown> {
  return isObject(result) && (result as { readonly [TASK]?: true })[TASK] === true;
}

/** Undefined for one that can't be asked for. */
export function readTask(result: Record<string, unknown>): ToolTask | undefined {
  const { taskId } = result;
  const isId = typeof taskId === 'string' && taskId !== '' && taskId.length <= MAX_TASK_ID && cleanText(taskId) === taskId;
  return isId ? { taskId, ...timesOf(result, { ttlMs: null, pollMs: POLL_MS }) } : undefined;
}

/** lenient-times. What is not said stays as it was. */
function timesOf(result: Record<string, unknown>, before: Omit<ToolTask, 'taskId'>): Omit<ToolTask, 'taskId'> {
  const { ttlMs, pollIntervalMs } = result;
  const isPoll = typeof pollIntervalMs === 'number' && pollIntervalMs > 0;
  const isTtl = ttlMs === null || (typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs > 0);
  return {
    ttlMs: isTtl ? ttlMs : before.ttlMs,
    pollMs: isPoll ? Math.round(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, pollIntervalMs))) : before.pollMs,
  };
}

/** What a server says of a task. */
export type TaskAnswer =
  | { readonly kind: 'ended'; readonly result: ReadResult }
  | { readonly kind: 'working'; readonly task: ToolTask; readonly message?: string }
  /** It waits for a person. */
  | { readonly kind: 'asking'; readonly requests: Readonly<Record<string, unknown>> }
  /** Nothing that says something of this task. */
  | { readonly kind: 'unreadable' };

/** Reads the result of `tasks/get`. */
export function readTaskAnswer(answer: unknown, task: ToolTask): TaskAnswer {
  if (!isObject(answer) || answer['taskId'] !== task.taskId) return { kind: 'unreadable' };
  const { status, statusMessage, result, error } = answer;
  const why = typeof statusMessage === 'string' && statusMessage.trim() !== '' ? ` ${beginning(cleanText(statusMessage))}` : '';
  switch (status) {
    case 'working':
      return { kind: 'working', task: { taskId: task.taskId, ...timesOf(answer, task) }, ...(why !== '' && { message: why.trim() }) };
    case 'input_required':
      return { kind: 'asking', requests: isObject(answer['inputRequests']) ? answer['inputRequests'] : {} };
    case 'completed':
      return { kind: 'ended', result: readResult(result) };
    case 'cancelled':
      return { kind: 'ended', result: errorResult(`The server has cancelled the call.${why}`) };
    case 'failed': {
      const said = isObject(error) && typeof error['message'] === 'string' ? ` ${beginning(error['message'])}` : why;
      return { kind: 'ended', result: errorResult(`The server could not finish the call.${said}`) };
    }
    default:
      return { kind: 'unreadable' };
  }
}

/** Without a part of a word at its end: it may be half of a secret, which is not found. */
function beginning(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).replace(/[!-~]+$/, '')}…`;
}
