// Waits for the answer to a message.
import type { Blocks } from '../../../core/index.ts';
import type { ChatEntry } from '../../../core/types.ts';
import { sought } from '../until.ts';

/** Rejects, with the state of the message, if it has no answer within a generous limit. */
export function answerOf(blocks: Pick<Blocks, 'history'>, block: string, id: string, limitMs = 120_000): Promise<ChatEntry> {
  let asked: ChatEntry | undefined;
  const failure = (): string => `the message is ${asked?.status}: ${JSON.stringify(asked)}`;
  const look = async (): Promise<ChatEntry | undefined> => {
    const entries = await blocks.history(block);
    const answer = entries.find(({ replyTo }) => replyTo === id);
    asked = entries.find((entry) => entry.id === id);
    if (answer === undefined && asked?.status === 'failed') throw new Error(failure());
    return answer;
  };
  return sought(look, failure, limitMs, 10);
}
