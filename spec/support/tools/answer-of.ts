// Waits for the answer to a message.
import { setTimeout as delay } from 'node:timers/promises';
import type { Blocks } from '../../../core/index.ts';
import type { ChatEntry } from '../../../core/types.ts';

/** Rejects, with the state of the message, if it has no answer within a generous limit. */
export async function answerOf(blocks: Pick<Blocks, 'history'>, block: string, id: string, limitMs = 120_000): Promise<ChatEntry> {
  for (const until = performance.now() + limitMs; ; await delay(10)) {
    const entries = await blocks.history(block);
    const answer = entries.find(({ replyTo }) => replyTo === id);
    if (answer !== undefined) return answer;
    const asked = entries.find((entry) => entry.id === id);
    if (performance.now() > until || asked?.status === 'failed') throw new Error(`the message is ${asked?.status}: ${JSON.stringify(asked)}`);
  }
}
