// The end of a run without an answer: each call gets its outcome, and an entry names what has happened in the world (effects-are-told).
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
import { RunJournal } from './run-journal.ts';
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
  const by = { channel: 'clock', name: status } as const;
  await journal.appendFor((state) => {
    if (state.run === undefined || state.end !== undefined) return [];
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
  });
  const { state } = journal;
  if (state.run === undefined) return undefined;
  return { run: state.run.run, steps: entrySteps(state), text: effectsText(state, what), taint: taintOfRun(state, messageId) };
}

/** Why a message of an imported block is cancelled. */
const IMPORTED: EntryError = {
  code: 'IMPORTED',
  message: 'The block was imported as a copy while the message was being answered with tools. None of its calls is made here; retry it if it still matters.',
  retryable: true,
};

/** Ends what the journal of a copied message has left open, though the message has its outcome: asked again, the copy takes up nothing of it. */
export async function endCopiedRun(context: Pick<BlockContext, 'name' | 'files' | 'at' | 'world'>, messageId: string): Promise<void> {
  const journal = await RunJournal.open({ conversation: context.files.conversation, claim: undefined, messageId });
  await closeRun(context, journal, messageId, { status: 'cancelled', code: IMPORTED.code, what: IMPORTED.message, at: context.at(), isCopy: true });
}

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
