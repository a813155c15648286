// The answer of another block to a message that a run has sent.
//
// left-alone: the message stays and is answered, whatever becomes of the run that has sent it.
import { toBlockhouseError } from '../../../errors.ts';
import { Waits } from '../../../tools/builtin/send.ts';
import type { BlockWork, ReadConversation } from '../../../tools/builtin/work.ts';
import { RunState } from '../../../tools/journal.ts';

/** Nobody waits longer for an answer. */
const MAX_WAIT_MS = 600_000;

/** What is known of it after the wait. */
export interface BlockReply {
  /** Undefined while there is none. */
  readonly text: string | undefined;
  readonly isFailed: boolean;
  /** Why there is no answer, for the model. */
  readonly note: string;
  /** Tokens of all calls of models that it has taken, those of further blocks included. */
  readonly tokens: number;
}

/** Who waits for what. */
export interface Awaited {
  readonly from: string;
  readonly to: string;
  readonly messageId: string;
  readonly signal: AbortSignal;
}

const NONE: BlockReply = { text: undefined, isFailed: false, note: '', tokens: 0 };
/** Of each workspace. */
const all = new WeakMap<BlockWork, Waits>();

/** Rejects with CANCELLED when `signal` fires. */
export async function replyOf(work: BlockWork, { from, to, messageId, signal }: Awaited): Promise<BlockReply> {
  const waits = all.get(work) ?? new Waits();
  all.set(work, waits);
  if (!waits.begin(from, to)) return { ...NONE, note: `Its answer is not waited for, because ${to} waits for this block.` };
  try {
    const { entry, answer, note } = await work.answer(to, messageId, { waitMs: MAX_WAIT_MS, signal });
    if (note !== null) return { ...NONE, note };
    const tokens = await tokensOf(await work.conversation(to), messageId);
    if (entry.status === 'done' && answer !== null) return { text: answer.content, isFailed: false, note: '', tokens };
    return { ...NONE, isFailed: true, note: entry.error?.message ?? `It is ${entry.status}.`, tokens };
  } catch (error) {
    const { code, message } = toBlockhouseError(error);
    if (code === 'BLOCK_NOT_FOUND' || code === 'MESSAGE_NOT_FOUND') return { ...NONE, isFailed: true, note: message };
    throw error;
  } finally {
    waits.end(from, to);
  }
}

/** Those of the answer, and of the blocks that were asked for it. */
async function tokensOf(conversation: ReadConversation, messageId: string): Promise<number> {
  const own = (await conversation.entries()).findLast(({ replyTo }) => replyTo === messageId)?.usage?.totalTokens ?? 0;
  const { calls } = new RunState(await conversation.steps(messageId));
  return calls.reduce((sum, { outcome }) => sum + (outcome?.t === 'result' ? (outcome.tokens ?? 0) : 0), own);
}
