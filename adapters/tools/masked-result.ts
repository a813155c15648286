// Takes the secrets of a server out of what its tools return, of what it says while they work, and of what it asks people: a model would see them, and the journal would keep them. Pure: no I/O.
//
// longest-first: a secret may begin with another one, whose mask would leave its end.
// not-by-chance: words of tools are hashed and approved, so only what is long enough to stand there for nothing else is masked in them.
// same-state: the state that a server wants back with an answer goes back as it was, and so does the id of a task. The journal keeps both, and exports have it, so none with a secret in it is taken.
import { isObject } from '../../core/base/json.ts';
import { BlockhouseError, type ToolCallRequest, type ToolOutcome, type ToolQuestion } from '../../core/index.ts';
import { errorResult } from './mcp-result.ts';
import type { ListedTool } from './server.ts';

const MASK = '[redacted]';
/** A shorter one is found in texts that do not mean it. */
const SHORTEST_MASKED = 8;
/** not-by-chance. */
const SHORTEST_IN_TOOLS = 12;
const SECRET_STATE = 'The server wants a state back that has its own secret in it, which the journal would keep, so nobody is asked.';

/** True for a secret that is masked. */
export function isMasked({ length }: string): boolean {
  return length >= SHORTEST_MASKED;
}

/** The same object where there are no secrets. Each is found as it is. */
export function maskedResult(outcome: ToolOutcome | ToolQuestion, secrets: readonly string[]): ToolOutcome | ToolQuestion {
  if (secrets.length === 0) return outcome;
  const all = secrets.toSorted((a, b) => b.length - a.length); // longest-first
  if (outcome.kind === 'input-required') {
    const { requests, requestState = '', ms } = outcome;
    return holdsOne(requestState, all) ? { kind: 'result', ...errorResult(SECRET_STATE), ms } : { ...outcome, requests: valueWithout(requests, all) }; // same-state
  }
  const { parts, structuredContent } = outcome;
  const masked = parts.map((part) => (part.text === undefined ? part : { ...part, text: textWithout(part.text, all) }));
  return { ...outcome, parts: masked, ...(structuredContent !== undefined && { structuredContent: valueWithout(structuredContent, all) }) };
}

/** Tools as a server lists them: models and people read their words. */
export function maskedTools(tools: readonly ListedTool[], secrets: readonly string[]): readonly ListedTool[] {
  const long = secrets.filter(({ length }) => length >= SHORTEST_IN_TOOLS).toSorted((a, b) => b.length - a.length); // longest-first
  return long.length === 0 ? tools : tools.map((tool) => valueWithout(tool, long) as ListedTool);
}

/** A call whose progress comes without them, as they are then. */
export function maskedCall(call: ToolCallRequest, secrets: () => readonly string[]): ToolCallRequest {
  const { onTask, onProgress } = call;
  const kept: ToolCallRequest['onTask'] = async (task) => {
    assertBare(task.taskId, secrets());
    await onTask?.(task);
  };
  const guarded = onTask === undefined ? call : { ...call, onTask: kept };
  if (onProgress === undefined) return guarded;
  const masked = (message: unknown): unknown =>
    valueWithout(
      message,
      secrets().toSorted((a, b) => b.length - a.length),
    ); // longest-first
  return { ...guarded, onProgress: ({ message, ...others }) => onProgress({ ...others, ...(message !== undefined && { message: masked(message) }) }) };
}

/** same-state. Throws TOOL_OUTCOME_UNKNOWN. */
function assertBare(taskId: string, secrets: readonly string[]): void {
  if (holdsOne(taskId, secrets)) throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'The server has made a task of the call whose id has its own secret in it.');
}

function holdsOne(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => text.includes(secret));
}

function textWithout(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, MASK), text);
}

/** A value of JSON without secrets, also in names of fields. */
export function valueWithout(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return textWithout(value, secrets);
  if (Array.isArray(value)) return value.map((item) => valueWithout(item, secrets));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [textWithout(name, secrets), valueWithout(inner, secrets)]));
}
