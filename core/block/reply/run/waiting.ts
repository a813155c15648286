// What the journals say of messages that are not being answered: whether one still waits for people, and whether an attempt that broke off had got on.
import { RunState } from '../../../tools/journal.ts';
import type { Choice } from '../../actor/types.ts';
import type { BlockContext } from '../block-context.ts';
import { holdFor } from './pending.ts';

/** Undefined for a message that may go on: all is decided, or the time is over for what is not. */
export async function waitFor({ files, world }: BlockContext, messageId: string): Promise<Choice | undefined> {
  const { pending } = new RunState(await files.conversation.steps(messageId));
  const now = world.now();
  if (pending.length === 0 || pending.some(({ approval }) => Date.parse(approval.expiresAt) <= now)) return undefined;
  return holdFor(pending);
}

/** The messages in process that have a run, and whether its journal has grown in the last attempt. */
export async function runsInProcess({ files: { conversation } }: BlockContext): Promise<ReadonlyMap<string, boolean>> {
  const runs = new Map<string, boolean>();
  for (const { id, role, status } of await conversation.entries()) {
    if (role !== 'user' || status !== 'processing') continue;
    const state = new RunState(await conversation.steps(id));
    if (state.run !== undefined) runs.set(id, state.hasGotOn);
  }
  return runs;
}
