// A conversation that tells what it has changed, here and to other servers. Pure: no I/O.
import type { Conversation } from '../port.ts';

/** `work`: there is something to do. `wish`: the owner is asked for something. `chat`: who shows the block looks. */
export type ToldOfChat = 'work' | 'wish' | 'chat';

/** `told` is called after each change. */
export function toldConversation(conversation: Conversation, told: (what: ToldOfChat) => void): Conversation {
  const after = async <T>(change: Promise<T>, whatOf: (result: T) => ToldOfChat | undefined = () => 'chat'): Promise<T> => {
    const result = await change;
    const what = whatOf(result);
    if (what !== undefined) told(what);
    return result;
  };
  return {
    newId: () => conversation.newId(),
    border: () => conversation.border(),
    entries: () => conversation.entries(),
    counts: () => conversation.counts(),
    page: (place) => conversation.page(place),
    message: (id, seen) => conversation.message(id, seen),
    append: (message) => after(conversation.append(message), (added) => ('entry' in added && added.isNew ? 'work' : undefined)),
    recover: (claim, rules) => after(conversation.recover(claim, rules), ({ over }) => (over.length > 0 ? 'chat' : undefined)),
    begin: (claim, id) => after(conversation.begin(claim, id), (entry) => (entry === undefined ? undefined : 'chat')),
    settle: (claim, id, outcome, answer, bill) =>
      after(conversation.settle(claim, id, outcome, answer, bill), (settled) => (settled === undefined ? undefined : 'chat')),
    requeue: (claim, id, how) => after(conversation.requeue(claim, id, how), (done) => (done ? 'chat' : undefined)),
    requeueAll: (claim) => after(conversation.requeueAll(claim)),
    cancel: (id, claim) => after(conversation.cancel(id, claim), (result) => (result === 'asked' ? 'wish' : 'chat')),
    retry: (id, cap) => after(conversation.retry(id, cap), () => 'work'),
    appendSteps: (claim, messageId, from, records, options) =>
      after(conversation.appendSteps(claim, messageId, from, records, options), () => (claim === undefined ? 'work' : undefined)),
    steps: (messageId) => conversation.steps(messageId),
    result: (messageId, ref) => conversation.result(messageId, ref),
    keepResult: (claim, messageId, ref, bytes) => conversation.keepResult(claim, messageId, ref, bytes),
    clearSteps: () => conversation.clearSteps(),
  };
}
