// What the built-in tools of blocks do with other blocks, and with the schedules of their own. Loaded with the first call.
//
// left-alone: a message that was sent stays and is answered, whatever becomes of the run that has sent it.
import { toBlockhouseError } from '../errors.ts';
import { withLater } from '../tools/builtin/later.ts';
import { Waits } from '../tools/builtin/send.ts';
import type { BlockReply, BlockWork } from '../tools/builtin/work.ts';
import { RunState } from '../tools/journal.ts';
import type { Blocks } from './api.ts';
import type { Block } from './block.ts';
import type { OperationsContext } from './operations.ts';
import { queueMessage } from './operations-chat.ts';
import { changeSchedules } from './operations-config.ts';

/** A wait asks again after so long, because nobody waits longer for an answer at once. */
const MAX_WAIT_MS = 600_000;

/** For the blocks of one workspace. */
export function toolWork(context: OperationsContext, { answer, autoStart }: Pick<Blocks, 'answer'> & { autoStart(block: Block): Promise<void> }): BlockWork {
  const { change, blocks, world } = context;
  const waits = new Waits();
  return {
    send: ({ to, ...message }) => change(to, async (block) => (await queueMessage(block, { ...message, channel: 'block' }, autoStart, undefined)).id),
    async reply({ from, to, messageId, until, signal }) {
      if (!waits.begin(from, to)) return { ...NONE, note: `Its answer is not waited for, because ${to} waits for this block.` };
      try {
        const waitMs = Math.min(MAX_WAIT_MS, Math.max(0, until - world.now()));
        const { entry, answer: said, note } = await answer(to, messageId, { waitMs, signal });
        if (entry.status === 'done' && said !== null)
          return { text: said.content, isFailed: false, note: '', tokens: await tokensOf(await blocks.find(to), messageId) };
        if (note !== null) return { ...NONE, note };
        const why = entry.error?.message ?? `It is ${entry.status}.`;
        return { ...NONE, isFailed: true, note: why, tokens: await tokensOf(await blocks.find(to), messageId) };
      } catch (error) {
        const { code, message } = toBlockhouseError(error);
        if (code === 'BLOCK_NOT_FOUND' || code === 'MESSAGE_NOT_FOUND') return { ...NONE, isFailed: true, note: message };
        throw error;
      } finally {
        waits.end(from, to);
      }
    },
    later: (name, { id, at, message }) =>
      change(name, async (block) => {
        const entries = await block.files.conversation.entries();
        return changeSchedules(block, (schedules) => withLater(schedules, { id, at: new Date(at).toISOString(), message }, entries, world.now()));
      }),
  };
}

const NONE: BlockReply = { text: undefined, isFailed: false, note: '', tokens: 0 };

/** Those of the answer, and of the blocks that were asked for it. */
async function tokensOf({ files: { conversation } }: Block, messageId: string): Promise<number> {
  const own = (await conversation.entries()).findLast(({ replyTo }) => replyTo === messageId)?.usage?.totalTokens ?? 0;
  const { calls } = new RunState(await conversation.steps(messageId));
  return calls.reduce((sum, { outcome }) => sum + (outcome?.t === 'result' ? (outcome.tokens ?? 0) : 0), own);
}
