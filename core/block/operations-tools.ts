// What the built-in tools of blocks ask of other blocks, and of the schedules of their own.
import type { BlockWork } from '../tools/builtin/work.ts';
import type { Blocks } from './api.ts';
import type { Block } from './block.ts';
import type { OperationsContext } from './operations.ts';
import { queueMessage } from './operations-chat.ts';
import { changeSchedules } from './operations-config.ts';

/** For the blocks of one workspace. */
export function blockWork(
  { change, blocks }: OperationsContext,
  { answer, autoStart }: Pick<Blocks, 'answer'> & { autoStart(block: Block): Promise<void> },
): BlockWork {
  return {
    send: ({ to, ...message }) => change(to, async (block) => (await queueMessage(block, { ...message, channel: 'block' }, autoStart, undefined)).id),
    answer,
    conversation: async (name) => (await blocks.find(name)).files.conversation,
    changeSchedules: (name, next) => change(name, (block) => changeSchedules(block, next)),
  };
}
