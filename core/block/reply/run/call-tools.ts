// Makes the calls that were decided.
//
// intent-first: the `call` records are on disk before any byte of a call leaves. Calls that are made side by side share one sync.
// task-first: when the server goes on with a call as a task, its id is on disk before anything is asked of the task. So after a crash the server is asked what became of
//   the call, which is not made again.
// own-records: each result is written when it comes; only the last of those made side by side waits for the disk. So a crash takes no result along that a tool gave
//   before it, and a power cut at most some, whose calls are `unknown` then.
// where-again: a call that is allowed because of a path is made alone, and not at all if the path leads elsewhere by then.
import { type BlockhouseError, toBlockhouseError } from '../../../errors.ts';
import type { ContentPart, RunRecord } from '../../../types.ts';
import { MAX_ROUNDS, readForms } from '../../../tools/input.ts';
import type { CallState } from '../../../tools/journal.ts';
import type { JsonRecord, OpenTask, ToolCallRequest, ToolHost, ToolOutcome, ToolQuestion, ToolTask } from '../../../tools/port.ts';
import { cutText, noticeOf, resultText, shownImages, wholeParts } from '../../../tools/results.ts';
import type { BuiltinOutcome } from './builtins.ts';
import { CallProgress, type ProgressFact } from './call-progress.ts';
import type { ReadyCall } from './check-calls.ts';
import type { RunJournal } from './run-journal.ts';

/** Where the settings of a server say nothing. */
export const CALL_TIMEOUT_MS = 60_000;
export const MAX_BYTES = 8 * 1024 * 1024;

/** What calls are made with. */
export interface CallOptions {
  readonly block: string;
  readonly messageId: string;
  readonly host: Pick<ToolHost, 'call'>;
  readonly journal: RunJournal;
  readonly parallel: number;
  readonly resultTokens: number;
  readonly signal: AbortSignal;
  /** Gets why a call broke off whose outcome is not known, by its place. */
  readonly causes: Map<string, string>;
  /** Gets the places of calls whose task could not be asked for. */
  readonly lost: Set<string>;
  /** False once nothing may be called any more. Asked before each group. */
  mayCall(): boolean;
  at(): string;
  /** Called before a call is made. */
  onCall(tool: string): void;
  /** Called while a call is made. */
  onProgress?(call: string, tool: string, fact: ProgressFact): void;
  /** Keeps the whole of a result that was cut, or has images. False if it could not. */
  keep(place: string, bytes: Uint8Array): Promise<boolean>;
}

/** Makes the calls, `parallel` at a time. Rejects where a record could not be written. */
export async function callTools(ready: readonly ReadyCall[], options: CallOptions): Promise<void> {
  const { journal, parallel, signal } = options;
  for (const group of groupsOf(ready, parallel)) {
    if (signal.aborted || !options.mayCall()) return;
    const [first] = group;
    if (first?.isStillAllowed !== undefined && !(await first.isStillAllowed())) {
      await journal.append([{ t: 'refused', call: first.call.place, code: 'denied', note: ELSEWHERE }]);
      continue;
    }
    const at = options.at();
    const made = group.filter(({ call }) => !isTask(call, options));
    const records = made.map(
      ({ call, tool }): RunRecord => ({
        t: 'call',
        call: call.place,
        at,
        try: call.tries + 1,
        pin: tool.definition.pin,
        ...(tool.usd !== undefined && { usd: tool.usd }),
      }),
    );
    if (records.length > 0) await journal.append(records); // intent-first
    let left = group.length;
    const calls = group.map(async (one) => {
      const records = await callOne(one, options);
      left -= 1;
      if (records.length > 0) await journal.append(records, { quiet: left > 0 }); // own-records
    });
    await allOf(calls);
  }
}

/** The server has the call, and is asked for it. */
function isTask({ task, place }: CallState, { lost }: Pick<CallOptions, 'lost'>): boolean {
  return task !== undefined && !lost.has(place);
}

const ELSEWHERE = 'The call was not made: its path has come to lead elsewhere since it was allowed, and the rules of this block do not allow that.';

/** where-again. */
function groupsOf(ready: readonly ReadyCall[], parallel: number): readonly (readonly ReadyCall[])[] {
  const groups: ReadyCall[][] = [];
  for (const one of ready) {
    const last = groups.at(-1);
    const isAlone = one.isStillAllowed !== undefined || last?.[0]?.isStillAllowed !== undefined;
    if (last === undefined || isAlone || last.length === parallel) groups.push([one]);
    else last.push(one);
  }
  return groups;
}

/** Waits for all, so that no call is left behind, and rejects with the first failure. */
async function allOf(calls: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(calls)).find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** None where the outcome is not known. */
async function callOne(one: ReadyCall, options: CallOptions): Promise<readonly RunRecord[]> {
  const { call, tool } = one;
  const { host, signal, causes } = options;
  options.onCall(tool.id);
  const progress = new CallProgress((fact) => options.onProgress?.(call.place, tool.id, fact));
  let unwritten: { readonly error: unknown } | undefined;
  const onTask = async (task: ToolTask): Promise<void> => {
    const { taskId, ttlMs, pollMs } = task;
    await options.journal.append([{ t: 'task', call: call.place, at: options.at(), taskId, ttlMs, pollMs }]).catch((error: unknown) => {
      unwritten = { error };
      throw error;
    }); // task-first
    progress.note({ isTask: true });
  };
  const request: ToolCallRequest = { ...requestOf(one, options), onProgress: (said) => progress.note(said) };
  if (request.task !== undefined) progress.note({ isTask: true });
  try {
    const outcome: BuiltinOutcome | ToolQuestion = await host.call(request.task === undefined ? { ...request, onTask } : request, signal);
    if (outcome.kind !== 'result') return [questionOf(one, outcome, options)];
    const result = await resultOf(call.place, outcome, options);
    return [...(outcome.records ?? []), { ...result, open: !tool.marks.closedWorld }];
  } catch (error) {
    if (unwritten !== undefined) throw unwritten.error;
    const fault = toBlockhouseError(error);
    const open = !tool.marks.closedWorld; // it quotes what the server wrote to its standard error
    if (fault.code === 'TOOL_NOT_BEGUN' && call.task === undefined)
      return [{ t: 'refused', call: call.place, code: 'server-failed', note: `The call was not made: ${fault.message}`, open }];
    if (call.task !== undefined && !signal.aborted) options.lost.add(call.place);
    causes.set(call.place, signal.aborted ? 'it was cut off' : causeOf(fault));
    return [];
  } finally {
    progress.end();
  }
}

/** What the server asks, if it is something that people are asked here. A server that asks too much or too often gets no answer. */
function questionOf({ call, tool }: ReadyCall, { requests, requestState, ms }: ToolQuestion, { at }: Pick<CallOptions, 'at'>): RunRecord {
  try {
    if ((call.question?.round ?? 0) >= MAX_ROUNDS)
      throw new Error(`The server has asked a person ${MAX_ROUNDS} times in this call, and gets no further answer.`);
    const forms = readForms(requests, requestState, tool.definition.server);
    return { t: 'input', call: call.place, at: at(), requests: forms, ...(requestState !== undefined && { requestState }) };
  } catch (error) {
    const text = (error as Error).message;
    return { t: 'result', call: call.place, at: at(), ms: Math.round(ms), isError: true, text, open: !tool.marks.closedWorld };
  }
}

/** What goes back with the call: what people have said, and where nobody has answered, that nobody has. */
function answered({ question }: CallState): ToolCallRequest['input'] {
  if (question === undefined) return undefined;
  const { requests, requestState, asked } = question;
  const { decision, input } = asked?.decision ?? {};
  const action = decision === 'deny' ? 'decline' : 'cancel';
  return { responses: input ?? Object.fromEntries(Object.keys(requests).map((name) => [name, { action }])), requestState };
}

/** As a part of a sentence. */
function causeOf({ code, message }: BlockhouseError): string {
  return code === 'INTERNAL_ERROR' ? 'the program that makes the calls has failed' : message.replace(/\.$/, '');
}

/** The arguments as they are sent: with the id of the call, where the tool has an argument for it. */
export function argumentsOf({ call, tool: { key } }: ReadyCall, { block, messageId }: Pick<CallOptions, 'block' | 'messageId'>): JsonRecord {
  const args = call.asked.arguments;
  return key === undefined ? args : { ...args, [key.argument]: `${block}/${messageId}/${call.place}` };
}

/** The task of a call, as it is asked for; undefined where there is none. */
export function openTask({ task, question }: CallState, { at }: Pick<CallOptions, 'at'>): OpenTask | undefined {
  if (task === undefined) return undefined;
  const { taskId, ttlMs, pollMs, at: since, isCancelled } = task;
  const toMs = (until: string): number => Math.max(0, Date.parse(until) - Date.parse(since));
  const decided = question?.asked?.decision?.at;
  return { taskId, ttlMs, pollMs, ageMs: toMs(at()), ...(decided !== undefined && { pausedMs: toMs(decided) }), ...(isCancelled && { isCancelled }) };
}

function requestOf(one: ReadyCall, options: CallOptions): ToolCallRequest {
  const { definition, settings } = one.tool;
  const { block, messageId } = options;
  return {
    block,
    server: definition.server,
    tool: definition.tool,
    arguments: argumentsOf(one, options),
    pin: definition.pin,
    timeoutMs: settings.callTimeoutMs ?? CALL_TIMEOUT_MS,
    maxBytes: settings.maxResultBytes ?? MAX_BYTES,
    callId: `${block}/${messageId}/${one.call.place}`,
    ...(one.call.question !== undefined && { input: answered(one.call) }),
    ...(isTask(one.call, options) && { task: openTask(one.call, options) }),
  };
}

/** What is recorded of a result. One that can't be shown is an error, and no refusal: the call ran. */
export async function resultOf(
  place: string,
  { isError, parts: given, structuredContent, ms: exact, tokens }: ToolOutcome,
  { resultTokens, at, keep }: Pick<CallOptions, 'resultTokens' | 'at' | 'keep'>,
): Promise<Extract<RunRecord, { readonly t: 'result' }>> {
  const ms = Math.round(exact);
  let parts: readonly ContentPart[];
  try {
    parts = wholeParts(given, structuredContent);
  } catch (error) {
    return { t: 'result', call: place, at: at(), ms, isError: true, text: `The call ran, and its result can't be shown: ${(error as Error).message}.` };
  }
  const whole = resultText(parts);
  const { text, left } = cutText(whole, resultTokens);
  const images = shownImages(parts).length;
  const isKept = (left !== undefined || images > 0) && (await keep(place, Buffer.from(JSON.stringify({ isError, parts }))));
  const ref = isKept ? place : undefined;
  return {
    t: 'result',
    call: place,
    at: at(),
    ms,
    isError,
    text,
    ...(left !== undefined && { notice: noticeOf(left, ref), chars: whole.length }),
    ...(ref !== undefined && { ref }),
    ...(isKept && images > 0 && { images }),
    ...(tokens !== undefined && { tokens }),
  };
}
