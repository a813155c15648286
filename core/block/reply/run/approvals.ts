// What waits for people in the messages of a block, and what has waited there. The journals are the truth.
import type { Conversation } from '../../../store/port.ts';
import { RunState } from '../../../tools/journal.ts';
import type { ShownApproval } from '../../../types.ts';
import { shown, shownIn } from './shown.ts';

/** All approvals of a message's runs. `now` is in epoch milliseconds. */
export async function approvalsOf(conversation: Conversation, messageId: string, now: number): Promise<ShownApproval[]> {
  return shownIn(new RunState(await conversation.steps(messageId)), now);
}

/** One of them; undefined if the message has none with this id. */
export async function approvalOf(conversation: Conversation, messageId: string, id: string, now: number): Promise<ShownApproval | undefined> {
  const state = new RunState(await conversation.steps(messageId));
  const asked = state.askedFor(id);
  return asked === undefined ? undefined : shown(state, asked, now);
}
