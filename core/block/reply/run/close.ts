// The end of a run without an answer: each call gets its outcome, and an entry names what has happened in the world (effects-are-told).
import { BlockhouseError } from '../../../errors.ts';
import type { RunState } from '../../../tools/journal.ts';
import type { RunRecord } from '../../../types.ts';
import { effectsText, entrySteps } from '../../../tools/entry-steps.ts';
import { taintOfRun } from '../../../tools/taint.ts';
import type { EntryStep, Taint } from '../../../types.ts';
import type { ChatEntry, EntryError } from '../../../schemas/chat-entry.ts';
import { textParts } from '../../../gateway/parts.ts';
import type { Claim } from '../../../store/port.ts';
import type { BlockContext } from '../block-context.ts';
import { answerEntry } from '../outcome.ts';
import { type CancelOptions, cancelTasks } from './cancel-tasks.ts';
import { type JournalOptions, RunJournal } from './run-journal.ts';
import { payerOf } from './tool-bills.ts';

/** Why a run ends. */
export interface Ended {
  readonly status: 'failed' | 'cancelled';
  readonly code: string;
  /** For the entry: what became of the message. */
  readonly what: string;
  readonly at: string;
  /** The run is that of another block, of which this one is a copy: its tasks go on there. */
  readonly isCopy?: boolean;
}

/** What a run is ended with. */
export type Closing = Pick<BlockContext, 'name' | 'at' | 'world'> & Pick<CancelOptions, 'wasAsked'>;

const NONE: ReadonlyMap<string, string> = new Map();

/** What the conversation keeps of a run that has ended. */
export interface Closed {
  readonly run: number;
  readonly steps: readonly EntryStep[];
  /** Undefined where no call had or may have had an effect. */
  readonly text: string | undefined;
  readonly taint: readonly Taint[];
}

/** Ends the last run, after the tasks of its calls were cancelled at their servers; undefined where there is none. */
export async function closeRun(
  context: Closing,
  journal: RunJournal,
  messageId: string,
  { status, code, what, at, isCopy = false }: Ended,
): Promise<Closed | undefined> {
  const { world, name: block, wasAsked } = context;
  const host = world.tools?.host;
  const mayAsk = host !== undefined && !isCopy && !world.halted().halted && journal.state.end === undefined;
  const silent = mayAsk ? await cancelTasks({ block, messageId, host, journal, at: () => context.at(), ...(wasAsked && { wasAsked }) }) : NONE;
  const cause = isCopy ? 'the block was imported meanwhile' : status === 'cancelled' ? 'the message was cancelled' : 'the message has failed';
  await journal.appendFor((state) => lastRecords(state, { status, code, at, cause, silent }));
  const { state } = journal;
  if (state.run === undefined) return undefined;
  return { run: state.run.run, steps: entrySteps(state), text: effectsText(state, what), taint: taintOfRun(state, messageId) };
}

/** Messages that a retry takes. */
const ASKED_AGAIN: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired']);

interface Last extends Pick<Ended, 'status' | 'code' | 'at'> {
  readonly cause: string;
  /** By the place of a call: why its server has said nothing of its task. */
  readonly silent: ReadonlyMap<string, string>;
}

/** The records that end the last run; none where it has ended. */
function lastRecords(state: RunState, { status, code, at, cause, silent }: Last): RunRecord[] {
  if (state.run === undefined || state.end !== undefined) return [];
  const by = { channel: 'clock', name: status } as const;
  const open = state.calls.filter(({ outcome }) => outcome === undefined);
  return [
    ...state.pending.map(({ approval }): RunRecord => ({ t: 'decision', approval: approval.id, decision: 'cancel', by, at })),
    ...open.map(({ place, tries, question, task }): RunRecord => {
      if (question?.isAnswered === false && task === undefined)
        return {
          t: 'result',
          call: place,
          at,
          ms: 0,
          isError: true,
          text: `The server has asked a person for something, and got no answer, because ${cause}.`,
        };
      if (tries > 0) return { t: 'unknown', call: place, why: silent.has(place) ? `${cause}, and ${silent.get(place)}` : `${cause} while it ran` };
      return { t: 'refused', call: place, code: 'not-run', note: `It was not called, because ${cause}.` };
    }),
    { t: 'end', at, status, code },
  ];
}

/**
 * Ends what the journal of a message with an outcome has left open, before the message is asked again: the next run takes up nothing of it. Most runs have ended by then,
 * but the journal of an imported block may say anything. Where the message is asked again by somebody else meanwhile, nothing is written.
 */
export async function endOldRun(context: Pick<BlockContext, 'name' | 'files' | 'at' | 'world'>, messageId: string): Promise<void> {
  const { conversation } = context.files;
  const pay: JournalOptions['pay'] = async (paid) => payerOf(context, messageId, (await conversation.message(messageId)).entry)?.(paid);
  const seen = await RunJournal.open({ conversation, claim: undefined, messageId, pay });
  const { entry } = await conversation.message(messageId); // read second: a run that began before is in no journal of a message that has its outcome now
  if (!ASKED_AGAIN.has(entry.status)) return;
  const at = entry.finishedAt ?? entry.timestamp; // a run that ends now would count as the one of a message that is asked again in the same millisecond
  const cause = 'the message was asked again';
  const records = lastRecords(seen.state, { status: 'cancelled', code: 'CANCELLED', at, cause, silent: NONE });
  if (records.length === 0) return;
  await seen.append(records).catch((error: unknown) => {
    if (!(error instanceof BlockhouseError && error.code === 'REVISION_MISMATCH')) throw error;
  });
}

/** Why a message of an imported block is cancelled. */
const IMPORTED: EntryError = {
  code: 'IMPORTED',
  message: 'The block was imported as a copy while the message was being answered with tools. None of its calls is made here; retry it if it still matters.',
  retryable: true,
};

/** effects-are-told, for a message that is cancelled while nobody answers it. The entry afterwards; undefined if it has its outcome by now. In files, a claim says nothing. */
export async function cancelWaiting(
  context: Pick<BlockContext, 'name' | 'files' | 'at' | 'world'>,
  message: ChatEntry,
  claim: Claim | undefined,
  isCopy = false,
): Promise<ChatEntry | undefined> {
  const { conversation } = context.files;
  const { id } = message;
  const at = context.at();
  const listener = { block: context.name, bus: context.world.bus };
  const own = isCopy ? {} : { listener, pay: payerOf(context, id, message) }; // the original pays, and its calls have the same ids
  const journal = await RunJournal.open({ conversation, claim, messageId: id, ...own });
  const what = isCopy ? `The message was cancelled. ${IMPORTED.message}` : 'The message was cancelled.';
  const closed = await closeRun(context, journal, id, { status: 'cancelled', code: isCopy ? IMPORTED.code : 'CANCELLED', what, at, isCopy });
  const { provider = '', model = '' } = journal.state.steps.at(-1) ?? {};
  const content = textParts(closed?.text ?? '');
  const parts = { message, candidate: { provider, model, config: {} }, content, status: 'interrupted', bill: null, run: closed, taint: closed?.taint } as const;
  const outcome = { status: 'cancelled', finishedAt: at, ...(isCopy && { error: IMPORTED }), ...(closed !== undefined && { run: closed.run }) } as const;
  await conversation.settle(claim as Claim, id, outcome, closed?.text === undefined ? undefined : answerEntry(context, parts));
  return (await conversation.entries()).find((entry) => entry.id === id);
}
