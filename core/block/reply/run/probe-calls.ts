// Asks probes about calls whose outcome is not known. What one finds is the result of its call; where it finds nothing, the call did not run.
//
// own-record: a probe has a `call` record of its own (`1.1p`), on the disk before it is sent, and a `result`, also where it was sent and no answer came: it may have cost
//   what it costs. Where it surely was not sent, it is `refused`. They say nothing of the call itself.
// no-repeat: a call that did not run is not made again by this; the model learns that it may call again.
// late-arrival: a request over a network may arrive after its probe, so what is not found there is looked for once more, ARRIVAL_MS later.
import { setTimeout as delay } from 'node:timers/promises';
import { toBlockhouseError } from '../../../errors.ts';
import { marksOf, usdOf } from '../../../tools/marks.ts';
import type { ToolCallRequest, ToolOutcome } from '../../../tools/port.ts';
import { hasFound } from '../../../tools/probe.ts';
import { beginningOf, resultText } from '../../../tools/results.ts';
import type { RunRecord } from '../../../types.ts';
import { CALL_TIMEOUT_MS, type CallOptions, MAX_BYTES, resultOf } from './call-tools.ts';
import type { ProbeCall } from './check-calls.ts';

const ARRIVAL_MS = 10_000;
/** Of a result, in the record of the probe. */
const MAX_TEXT = 500;

/** What probes are asked with. */
export type ProbeOptions = Pick<CallOptions, 'block' | 'messageId' | 'host' | 'journal' | 'resultTokens' | 'signal' | 'at' | 'keep'> & {
  /** late-arrival; a test waits less. */
  readonly arrivalMs?: number;
  /** Told why a probe has said nothing. */
  onFailed(probe: ProbeCall, why: string): void;
};

/** Asks one after another. Resolves with the places of those that said nothing. Rejects where a record could not be written. */
export async function probeCalls(probes: readonly ProbeCall[], options: ProbeOptions): Promise<readonly string[]> {
  const silent: string[] = [];
  for (const probe of probes) {
    if (options.signal.aborted) break;
    const records = await asked(probe, options);
    if (records === undefined) silent.push(probe.call.place);
    else await options.journal.append(records);
  }
  return silent;
}

/** Undefined where the probe says nothing. */
async function asked(one: ProbeCall, options: ProbeOptions): Promise<readonly RunRecord[] | undefined> {
  const { call, tool, probe } = one;
  const { journal, at, signal, arrivalMs = ARRIVAL_MS } = options;
  const place = `${call.place}p`;
  try {
    for (let tries = 1; ; tries += 1) {
      const usd = usdOf(probe.definition, tool.settings);
      await journal.append([{ t: 'call', call: place, at: at(), try: tries, pin: probe.definition.pin, ...(usd !== undefined && { usd }) }]); // own-record
      const outcome = await options.host.call(requestOf(one, options), signal).catch(async (error: unknown) => {
        await journal.append([failureOf(place, error, at())]);
        throw error;
      });
      if (outcome.kind !== 'result') {
        await journal.append([{ t: 'result', call: place, at: at(), ms: Math.round(outcome.ms), isError: true, text: ASKS }]);
        throw new Error('it asks a person for something');
      }
      const isFound = hasFound(probe, outcome);
      await journal.append([noteOf(place, outcome, at())]);
      if (isFound === undefined) throw new Error(outcome.isError ? 'it gave an error' : 'its result is not JSON');
      if (isFound) return [await foundBy(one, outcome, options)];
      if (tool.settings.isRemote !== true || tries > 1) return [notRun(one)]; // no-repeat
      await delay(arrivalMs, undefined, { signal }); // late-arrival
    }
  } catch (error) {
    const { code, message } = toBlockhouseError(error);
    if (code === 'STORAGE_FAILED' || code === 'STORAGE_FULL' || code === 'LEASE_LOST' || code === 'STORE_UNREACHABLE') throw error;
    options.onFailed(one, error instanceof Error ? error.message : message);
    return undefined;
  }
}

function requestOf({ call, tool, probe: { definition, arguments: args } }: ProbeCall, { block, messageId }: ProbeOptions): ToolCallRequest {
  return {
    block,
    server: definition.server,
    tool: definition.tool,
    arguments: args,
    pin: definition.pin,
    timeoutMs: tool.settings.callTimeoutMs ?? CALL_TIMEOUT_MS,
    maxBytes: tool.settings.maxResultBytes ?? MAX_BYTES,
    callId: `${block}/${messageId}/${call.place}p`,
  };
}

function noteOf(call: string, { isError, parts, ms }: ToolOutcome, at: string): RunRecord {
  return { t: 'result', call, at, ms: Math.round(ms), isError, text: beginningOf(resultText(parts), MAX_TEXT) };
}

const ASKS = 'It asks a person for something, and gets no answer.';

function failureOf(call: string, error: unknown, at: string): RunRecord {
  const { code, message } = toBlockhouseError(error);
  if (code === 'TOOL_NOT_BEGUN') return { t: 'refused', call, code: 'server-failed', note: `It was not asked: ${message}` };
  return { t: 'result', call, at, ms: 0, isError: true, text: beginningOf(`It has given no answer: ${message}`, MAX_TEXT) };
}

async function foundBy({ call, tool, probe }: ProbeCall, outcome: ToolOutcome, options: ProbeOptions): Promise<RunRecord> {
  const isClosed = tool.marks.closedWorld && marksOf(probe.definition, tool.settings).closedWorld; // what is read is of the probe
  return { ...(await resultOf(call.place, outcome, options)), by: 'probe', open: !isClosed };
}

function notRun({ call, probe: { definition } }: ProbeCall): RunRecord {
  const note = `The call did not run: ${definition.server}/${definition.tool} was asked, and found nothing of it. You may call again.`;
  return { t: 'refused', call: call.place, code: 'not-run', note };
}
