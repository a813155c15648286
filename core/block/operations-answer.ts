// Waits for the answer to a message. Waiting changes nothing: the message is answered whether somebody waits or not.
import { invalidRequest } from '../errors.ts';
import { MAX_WAIT_SECONDS } from '../schemas/chat-api.ts';
import type { Entries } from '../store/port.ts';
import { AnswerWaits } from './answer-waits.ts';
import type { Blocks } from './api.ts';
import type { Block } from './block.ts';
import { isWaiting } from './conversation/chat-file.ts';
import type { OperationsContext } from './operations.ts';
import type { ReplyStep } from './reply/reply-stream.ts';
import { blockedBy, endsWait } from './waiting-note.ts';

const MAX_WAIT_MS = MAX_WAIT_SECONDS * 1000;
/** The most callers that wait for one block, because the queue does not limit the callers that wait for the same message. */
const MAX_WAITS = 1000;
const CLOSING_NOTE = 'The server is shutting down. The block answers the message when it runs again.';
const LATE_NOTE = 'There is no answer yet. It will be in the chat history.';
const CROWDED_NOTE = `${MAX_WAITS} requests already wait for answers of this block, so this one did not wait. The answer will be in the chat history.`;

/** The operation that waits. */
export function answerOperation({ blocks, gate }: OperationsContext): Pick<Blocks, 'answer'> {
  const all = new WeakMap<Block, AnswerWaits>();
  return {
    async answer(name, messageId, { waitMs = MAX_WAIT_MS, signal, until, waitsForPeople = false, onReply } = {}) {
      if (!(Number.isFinite(waitMs) && waitMs >= 0 && waitMs <= MAX_WAIT_MS))
        throw invalidRequest('waitMs', `must be a number of milliseconds from 0 to ${MAX_WAIT_MS}`);
      const block = await blocks.find(name);
      const waits = all.get(block) ?? new AnswerWaits(block);
      all.set(block, waits);
      const isCrowded = waits.size >= MAX_WAITS;
      let seen: Entries | undefined;
      if (waitMs > 0 && !isCrowded && endsWait(name, await block.standing(), waitsForPeople) === undefined) {
        const unfollow = onReply === undefined ? undefined : block.follow({ onReply: progressOf(messageId, onReply) });
        seen = await waits.wait(messageId, { waitMs, signal, until, waitsForPeople }).finally(unfollow);
      }
      const found = await block.files.conversation.message(messageId, seen);
      const standing = await block.standing();
      const note = (): string => (gate.isShut ? CLOSING_NOTE : (blockedBy(name, standing) ?? (isCrowded ? CROWDED_NOTE : LATE_NOTE)));
      return { ...found, running: standing.isRunning, note: isWaiting(found.entry) ? note() : null };
    },
  };
}

/** The steps of one message, without the last one: the promise is the end. */
function progressOf(messageId: string, onReply: (step: ReplyStep) => void): (step: ReplyStep) => void {
  return (step) => {
    const isEnd = step.event === 'done' || (step.event === 'error' && !step.willRetry);
    if (step.id === messageId && !isEnd) onReply(step);
  };
}
