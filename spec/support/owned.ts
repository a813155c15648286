// A conversation in the hands of its block's owner: what takes a claim takes this one.
import type { BackInQueue, Claim, Conversation, Outcome, RecoverRules } from '../../core/store/port.ts';
import type { RunRecord } from '../../core/types.ts';
import type { ChatEntry } from '../../core/schemas/chat-entry.ts';

/** Of the file store, which looks at no claim. */
export const ANY_CLAIM: Claim = { name: 'a', block: 0, owner: 'me', fence: 1 };

export type Owned = ReturnType<typeof owned>;

export function owned(conversation: Conversation, claim: Claim = ANY_CLAIM) {
  return {
    newId: () => conversation.newId(),
    border: () => conversation.border(),
    entries: () => conversation.entries(),
    page: (place: Parameters<Conversation['page']>[0]) => conversation.page(place),
    message: (id: string) => conversation.message(id),
    append: (message: Parameters<Conversation['append']>[0]) => conversation.append(message),
    recover: (rules: RecoverRules) => conversation.recover(claim, rules),
    begin: (id: string) => conversation.begin(claim, id),
    /** False where the message has an outcome already. */
    settle: async (id: string, outcome: Outcome, answer: ChatEntry | undefined) => (await conversation.settle(claim, id, outcome, answer)) !== undefined,
    requeue: (id: string, how: BackInQueue) => conversation.requeue(claim, id, how),
    requeueAll: () => conversation.requeueAll(claim),
    cancel: (id: string) => conversation.cancel(id, claim),
    retry: (id: string, cap: number) => conversation.retry(id, cap),
    appendSteps: (id: string, from: number, records: readonly RunRecord[]) => conversation.appendSteps(claim, id, from, records),
    decide: (id: string, from: number, records: readonly RunRecord[]) => conversation.appendSteps(undefined, id, from, records),
    steps: (id: string) => conversation.steps(id),
    result: (id: string, ref: string) => conversation.result(id, ref),
    keepResult: (id: string, ref: string, bytes: Uint8Array) => conversation.keepResult(claim, id, ref, bytes),
    clearSteps: () => conversation.clearSteps(),
  };
}
