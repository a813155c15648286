// Makes the calls that were decided.
//
// intent-first: the `call` records are on disk before any byte of a call leaves. Calls that are made side by side share one sync.
// own-records: each result is written when it comes; only the last of those made side by side waits for the disk. So a crash takes no result along that a tool gave
//   before it, and a power cut at most some, whose calls are `unknown` then.
import { type BlockhouseError, toBlockhouseError } from '../../../errors.ts';
import type { RunRecord } from '../../../types.ts';
import type { ToolCallRequest, ToolHost, ToolOutcome } from '../../../tools/port.ts';
import { cutText, resultText } from '../../../tools/results.ts';
import type { ReadyCall } from './check-calls.ts';
import type { RunJournal } from './run-journal.ts';

const CALL_TIMEOUT_MS = 60_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** What calls are made with. */
export interface CallOptions {
  readonly block: string;
  readonly messageId: string;
  readonly host: ToolHost;
  readonly journal: RunJournal;
  readonly parallel: number;
  readonly resultTokens: number;
  readonly signal: AbortSignal;
  /** Gets why a call broke off whose outcome is not known, by its place. */
  readonly causes: Map<string, string>;
  /** False once nothing may be called any more. Asked before each group. */
  mayCall(): boolean;
  at(): string;
  /** Called before a call is made. */
  onCall(tool: string): void;
  /** Keeps the whole of a result that was cut. False if it could not. */
  keep(place: string, bytes: Uint8Array): Promise<boolean>;
}

/** Makes the calls, `parallel` at a time. Rejects where a record could not be written. */
export async function callTools(ready: readonly ReadyCall[], options: CallOptions): Promise<void> {
  const { journal, parallel, signal } = options;
  for (let from = 0; from < ready.length && !signal.aborted && options.mayCall(); from += parallel) {
    const group = ready.slice(from, from + parallel);
    const at = options.at();
    await journal.append(group.map(({ call, tool }): RunRecord => ({ t: 'call', call: call.place, at, try: call.tries + 1, pin: tool.definition.pin }))); // intent-first
    let left = group.length;
    const calls = group.map(async (one) => {
      const record = await callOne(one, options);
      left -= 1;
      if (record !== undefined) await journal.append([record], { quiet: left > 0 }); // own-records
    });
    await allOf(calls);
  }
}

/** Waits for all, so that no call is left behind, and rejects with the first failure. */
async function allOf(calls: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(calls)).find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Undefined where the outcome is not known. */
async function callOne(one: ReadyCall, options: CallOptions): Promise<RunRecord | undefined> {
  const { call, tool } = one;
  const { host, signal, causes } = options;
  options.onCall(tool.id);
  try {
    const outcome = await host.call(requestOf(one, options), signal);
    return await resultOf(one, outcome, options);
  } catch (error) {
    const fault = toBlockhouseError(error);
    if (fault.code === 'TOOL_NOT_BEGUN') return { t: 'refused', call: call.place, code: 'server-failed', note: `The call was not made: ${fault.message}` };
    causes.set(call.place, signal.aborted ? 'it was cut off' : causeOf(fault));
    return undefined;
  }
}

/** As a part of a sentence. */
function causeOf({ code, message }: BlockhouseError): string {
  return code === 'INTERNAL_ERROR' ? 'the program that makes the calls has failed' : message.replace(/\.$/, '');
}

function requestOf({ call, tool }: ReadyCall, { block, messageId }: CallOptions): ToolCallRequest {
  const { definition, settings, key } = tool;
  const callId = `${block}/${messageId}/${call.place}`;
  const args = call.asked.arguments;
  return {
    block,
    server: definition.server,
    tool: definition.tool,
    arguments: key === undefined ? args : { ...args, [key.argument]: callId },
    pin: definition.pin,
    timeoutMs: settings.callTimeoutMs ?? CALL_TIMEOUT_MS,
    maxBytes: settings.maxResultBytes ?? MAX_BYTES,
    callId,
  };
}

async function resultOf({ call: { place }, tool }: ReadyCall, { isError, parts, ms }: ToolOutcome, options: CallOptions): Promise<RunRecord> {
  const { resultTokens, at, keep } = options;
  const whole = resultText(parts);
  const { text, isCut } = cutText(whole, resultTokens);
  const isKept = isCut && (await keep(place, Buffer.from(JSON.stringify({ isError, parts }))));
  const open = !tool.marks.closedWorld;
  return { t: 'result', call: place, at: at(), ms: Math.round(ms), isError, text, open, ...(isKept && { ref: place }), ...(isCut && { chars: whole.length }) };
}
