// Cancels the tasks of calls whose message is cancelled while nobody answers it. What their servers say of them is the outcome of the calls; where they say nothing, it
// stays open.
import { toBlockhouseError } from '../../../errors.ts';
import type { RunRecord } from '../../../types.ts';
import type { CallState } from '../../../tools/journal.ts';
import type { ToolHost } from '../../../tools/port.ts';
import { type CallOptions, MAX_BYTES, openTask, resultOf } from './call-tools.ts';
import type { RunJournal } from './run-journal.ts';

/** The server may have to be started. */
const CANCEL_MS = 10_000;
/** Of what it says. Nobody reads on in it. */
const RESULT = { resultTokens: 2000, keep: async () => false };

/** What tasks are cancelled with. */
export interface CancelOptions extends Pick<CallOptions, 'block' | 'messageId' | 'at'> {
  readonly host: Pick<ToolHost, 'call'>;
  readonly journal: RunJournal;
}

/** Rejects where a record could not be written. */
export async function cancelTasks(options: CancelOptions): Promise<void> {
  const { journal } = options;
  const open = journal.state.calls.filter(({ outcome, task }) => outcome === undefined && task !== undefined);
  const records = (await Promise.all(open.map((call) => cancelled(call, options)))).flat();
  await journal.appendFor(() => records);
}

async function cancelled(call: CallState, options: CancelOptions): Promise<RunRecord[]> {
  const { block, messageId, host } = options;
  const task = openTask(call, options);
  if (task === undefined) return [];
  const [server = '', ...tool] = call.asked.tool.split('/');
  const request = {
    ...{ block, server, tool: tool.join('/'), arguments: call.asked.arguments, pin: call.pin ?? '', timeoutMs: CANCEL_MS, maxBytes: MAX_BYTES },
    callId: `${block}/${messageId}/${call.place}`,
    task: { ...task, isCancelled: true },
  };
  try {
    const outcome = await host.call(request, AbortSignal.timeout(CANCEL_MS));
    if (outcome.kind !== 'result') return [];
    return [{ ...(await resultOf(call.place, outcome, { ...RESULT, at: options.at })), open: true }];
  } catch (error) {
    const { code } = toBlockhouseError(error);
    if (code === 'TOOL_OUTCOME_UNKNOWN' || code === 'TOOL_NOT_BEGUN') return []; // the end of the run says that it is not known
    throw error;
  }
}
