// A person decides about a call that waits.
//
// bound: a decision names the digest of what was shown. Another tool, other arguments or another definition have another one.
// one-decision: of two decisions at once one holds, because the journal takes one record of each number.
import { BlockhouseError, invalidRequest } from '../../../errors.ts';
import type { Claim, Conversation } from '../../../store/port.ts';
import type { AskedFor } from '../../../tools/journal.ts';
import type { Approval, Decider } from '../../../types.ts';
import { RunJournal } from './run-journal.ts';

/** What is decided, and by whom. */
export interface Decision {
  readonly conversation: Conversation;
  readonly claim: Claim | undefined;
  readonly messageId: string;
  readonly approval: string;
  readonly body: { readonly decision: 'approve' | 'deny' | 'ran' | 'not-ran' | 'tell'; readonly digest: string; readonly note?: string | undefined };
  readonly by: Decider;
  readonly at: string;
}

const CHOICES: Readonly<Record<Approval['kind'], readonly string[]>> = {
  call: ['approve', 'deny'],
  unknown: ['ran', 'not-ran', 'tell'],
  input: ['approve', 'deny'],
};
const MAX_TRIES = 10;

/** On disk when it resolves. Rejects with APPROVAL_NOT_FOUND, APPROVAL_DECIDED, APPROVAL_STALE, INVALID_REQUEST. */
export async function decide(decision: Decision): Promise<Approval> {
  const { approval: id, body, by, at } = decision;
  for (let tries = 1; ; tries += 1) {
    const journal = await RunJournal.open(decision);
    const asked = assertOpen(journal, id, body.digest);
    const { kind } = asked.approval;
    if (!CHOICES[kind].includes(body.decision)) throw invalidRequest('decision', `must be one of ${CHOICES[kind].join(', ')} for this call`);
    const note = body.note === undefined || body.note.trim() === '' ? {} : { note: body.note };
    try {
      await journal.append([{ t: 'decision', approval: id, decision: body.decision, by, at, ...note }]); // one-decision
      return asked.approval;
    } catch (error) {
      const isOvertaken = error instanceof BlockhouseError && error.code === 'REVISION_MISMATCH';
      if (!isOvertaken || tries >= MAX_TRIES) throw error;
    }
  }
}

function assertOpen({ state }: RunJournal, id: string, digest: string): AskedFor {
  const asked = state.askedFor(id);
  if (asked === undefined) throw new BlockhouseError('APPROVAL_NOT_FOUND', `Nothing waits under the id ${JSON.stringify(id.slice(0, 64))}.`);
  const { decision: before, by } = asked.decision ?? {};
  if (before !== undefined) throw new BlockhouseError('APPROVAL_DECIDED', `It was decided already: ${before}, by ${by?.channel} ${by?.name}.`);
  if (!state.pending.includes(asked)) throw new BlockhouseError('APPROVAL_DECIDED', 'The call does not wait any more.');
  if (asked.approval.digest !== digest) throw new BlockhouseError('APPROVAL_STALE', 'The call is another one than the digest says. Read it again.'); // bound
  return asked;
}
