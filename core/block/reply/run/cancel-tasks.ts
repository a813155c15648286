// Cancels the tasks of calls that nobody waits for any more, at their servers: their message is cancelled or has failed, their block has lost the tool or goes into the archive. What the
// servers say of them is the outcome of the calls; where they say nothing, it stays open.
//
// intent-first: that a task is cancelled is on the disk before its server hears of it. So a server of Blockhouse that has lost the block cancels nothing of who has it
//   now, and after a crash in between the task is cancelled, not waited for.
import { timeLimit } from '../../../base/abort.ts';
import { toBlockhouseError } from '../../../errors.ts';
import type { Claim } from '../../../store/port.ts';
import type { CallState } from '../../../tools/journal.ts';
import type { OfferedTool } from '../../../tools/offer.ts';
import type { ToolHost } from '../../../tools/port.ts';
import type { RunRecord } from '../../../types.ts';
import { unlessDamaged } from '../../status/readiness.ts';
import type { BlockContext } from '../block-context.ts';
import { type CallOptions, MAX_BYTES, openTask, resultOf } from './call-tools.ts';
import { RunJournal } from './run-journal.ts';
import { payerOf } from './tool-bills.ts';

/** The server may have to be started. */
const CANCEL_MS = 10_000;
/** Of what it says. Nobody reads on in it. */
const RESULT = { resultTokens: 2000, keep: async () => false };

/** What tasks are cancelled with. */
export interface CancelOptions extends Pick<CallOptions, 'block' | 'messageId' | 'at'> {
  readonly host: Pick<ToolHost, 'call'>;
  readonly journal: RunJournal;
  /** True for the place of a call whose server was asked just now, and has said nothing. */
  wasAsked?(place: string): boolean;
}

/** Resolves with what is known of the tasks whose servers say nothing, as the part of a sentence, by the places of their calls. Rejects where a record could not be written. */
export async function cancelTasks(options: CancelOptions): Promise<ReadonlyMap<string, string>> {
  const { journal, at, wasAsked = () => false } = options;
  const isOpen = ({ outcome, task, place }: CallState): boolean => outcome === undefined && task !== undefined && !wasAsked(place);
  const asked = await journal.appendFor(({ calls }) => calls.filter(isOpen).map(({ place }): RunRecord => ({ t: 'cancel', call: place, at: at() }))); // intent-first
  const silent = new Map<string, string>();
  const records = await Promise.all(
    asked.map(async (record) => {
      const call = 'call' in record ? journal.state.callAt(record.call) : undefined;
      const said = call === undefined ? undefined : await cancelled(call, options);
      if (call !== undefined && typeof said === 'string') silent.set(call.place, said);
      return typeof said === 'object' ? [said] : [];
    }),
  );
  await journal.appendFor(({ calls }) =>
    records.flat().filter((record) => 'call' in record && calls.some(({ place, outcome }) => place === record.call && outcome === undefined)),
  );
  return silent;
}

/** Of calls whose tool the run does not have any more, as it was: the block has lost it, or it has changed. Resolves as `cancelTasks` does. */
export async function cancelGone(options: CancelOptions, offered: readonly OfferedTool[], lost: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const isThere = ({ asked, pin }: CallState): boolean => offered.some(({ id, definition }) => id === asked.tool && definition.pin === pin);
  const { calls } = options.journal.state;
  const gone = new Set(calls.filter((call) => call.outcome === undefined && call.task !== undefined && !lost.has(call.place) && !isThere(call)).map(placeOf));
  if (gone.size === 0) return new Map();
  const silent = await cancelTasks({ ...options, wasAsked: (place) => !gone.has(place) });
  return new Map([...silent].map(([place, why]) => [place, `the block has not got its tool any more, and ${why}`]));
}

const placeOf = ({ place }: CallState): string => place;

/** What the server says, or why it says nothing. */
async function cancelled(call: CallState, options: CancelOptions): Promise<RunRecord | string> {
  const { block, messageId, host } = options;
  const task = openTask(call, options);
  if (task === undefined) return 'it has no task';
  const [server = '', ...tool] = call.asked.tool.split('/');
  const request = {
    ...{ block, server, tool: tool.join('/'), arguments: call.asked.arguments, pin: call.pin ?? '', timeoutMs: CANCEL_MS, maxBytes: MAX_BYTES },
    callId: `${block}/${messageId}/${call.place}`,
    task: { ...task, isCancelled: true },
  };
  try {
    const outcome = await host.call(request, timeLimit(CANCEL_MS));
    if (outcome.kind !== 'result') return 'its server was asked to cancel its task, and asks a person instead';
    return { ...(await resultOf(call.place, outcome, { ...RESULT, at: options.at })), open: true };
  } catch (error) {
    const { code, message } = toBlockhouseError(error);
    if (code === 'TOOL_NOT_BEGUN') return `its task may go on, because its server could not be asked to cancel it: ${message.replace(/\.$/, '')}`;
    if (code === 'TOOL_OUTCOME_UNKNOWN') return `its server was asked to cancel its task, and does not say what became of it: ${message.replace(/\.$/, '')}`;
    throw error;
  }
}

/** Of all messages of a block that goes into the archive. One that is restored goes on with what the servers have said. */
export async function cancelTasksOf(context: Pick<BlockContext, 'name' | 'files' | 'at' | 'world'>, claim: Claim | undefined): Promise<void> {
  const { name: block, files, world } = context;
  const host = world.tools?.host;
  if (host === undefined || world.halted().halted) return;
  const at = (): string => context.at();
  const { conversation } = files;
  const left = (await conversation.entries()).filter(({ role, status }) => role === 'user' && LEFT.has(status));
  await Promise.all(
    left.map(async (message) => {
      const { id: messageId } = message;
      const listener = { block, bus: world.bus };
      const journal = await RunJournal.open({ conversation, claim, messageId, listener, pay: payerOf(context, messageId, message) }).catch(unlessDamaged);
      if (journal !== undefined) await cancelTasks({ block, messageId, host, journal, at });
    }),
  );
}

/** What a message with an open task may be. */
const LEFT: ReadonlySet<string> = new Set(['queued', 'processing', 'waiting-approval']);
