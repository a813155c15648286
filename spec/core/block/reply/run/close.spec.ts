// The end of a run without an answer.
import t from 'tap';
import { answerOf, isNewRun } from '../../../../../core/block/reply/run/outcome.ts';
import { closeRun, endOldRun } from '../../../../../core/block/reply/run/close.ts';
import { decide } from '../../../../../core/block/reply/run/decide.ts';
import { expired, holdFor } from '../../../../../core/block/reply/run/pending.ts';
import { RunJournal } from '../../../../../core/block/reply/run/run-journal.ts';
import { runsInProcess } from '../../../../../core/block/reply/run/waiting.ts';
import type { Conversation } from '../../../../../core/store/port.ts';
import { RunState } from '../../../../../core/tools/journal.ts';
import type { ChatEntry, RunRecord } from '../../../../../core/types.ts';
import { AT, answerRecord, approvalOf, callRecord, modelRecord, runRecord } from '../../../../support/tools/records.ts';
import { pay } from '../../../../support/tools/tool-core.ts';

/** Nothing here runs tools. */
const HERE = { name: 'ada', at: () => AT, world: { tools: undefined, halted: () => ({ halted: false }) } } as unknown as Parameters<typeof closeRun>[0];
const ENDED = { status: 'cancelled', code: 'CANCELLED', what: 'It was cancelled.', at: AT } as const;
const BEGUN: RunRecord[] = [
  runRecord(),
  modelRecord(1),
  answerRecord(1, [pay('a'), pay('b'), pay('c')]),
  callRecord('1.1'),
  { t: 'ask', call: '1.2', approval: approvalOf('a1', { call: '1.2' }) },
];

function conversationOf(records: RunRecord[]): Conversation {
  return {
    steps: async () => [...records],
    appendSteps: async (_claim: unknown, _id: string, from: number, added: RunRecord[]) => void records.splice(from, records.length, ...added),
    entries: async () => [{ id: 'm1', role: 'user', status: 'processing' }],
  } as unknown as Conversation;
}

const open = (records: RunRecord[]): Promise<RunJournal> => RunJournal.open({ conversation: conversationOf(records), claim: undefined, messageId: 'm1' });

t.test('each call gets its outcome: unknown where it was sent, not run where it was not', async (t) => {
  const journal = await open([...BEGUN]);
  const closed = await closeRun(HERE, journal, 'm1', ENDED);
  t.match(closed, {
    run: 1,
    text: /^It was cancelled\. Before that, it had called:\n- bank\/pay .* may have run/,
    steps: [{ outcome: 'unknown' }, { outcome: 'not-run' }, { outcome: 'not-run' }],
  });
  t.match(journal.state.end, { status: 'cancelled' });
  t.strictSame(journal.state.pending, []);
  const { count } = journal.state;
  t.strictSame(await closeRun(HERE, journal, 'm1', ENDED), closed, 'a second time writes nothing');
  t.equal(journal.state.count, count);
  t.equal(await closeRun(HERE, await open([]), 'm1', ENDED), undefined);
});

t.test('before a message is asked again, what its journal has left open is ended, and nothing of a message that waits or is being answered', async (t) => {
  const end = async (status: ChatEntry['status'], records: RunRecord[]): Promise<RunState> => {
    const entry = { id: 'm1', role: 'user', status, timestamp: '2026-11-01T12:00:00.000Z' };
    const conversation = { ...conversationOf(records), message: async () => ({ entry }) } as unknown as Conversation;
    await endOldRun({ ...HERE, files: { conversation } } as unknown as Parameters<typeof endOldRun>[0], 'm1');
    return new RunState(records);
  };
  const failed = [...BEGUN];
  const { pending, calls, end: ended } = await end('failed', failed);
  t.strictSame(pending, [], 'what waited for a person is decided');
  t.match(
    calls.map(({ outcome }) => outcome?.t),
    ['unknown', 'refused', 'refused'],
  );
  t.match(ended, { status: 'cancelled' });
  t.equal(isNewRun(new RunState(failed), { id: 'm1', timestamp: AT } as ChatEntry), true, 'asked again in the same millisecond, it begins another run');
  const { length } = failed;
  await end('failed', failed);
  t.equal(failed.length, length, 'a second time writes nothing');
  for (const status of ['queued', 'processing'] as const) t.equal((await end(status, [...BEGUN])).end, undefined, status);
});

t.test('a deadline expires what waits, and the block says what it waits for', async (t) => {
  const past = new RunState([...BEGUN.slice(0, 4), { t: 'ask', call: '1.2', approval: approvalOf('a1', { call: '1.2', expiresAt: AT }) }]);
  t.match(expired(past, Date.parse(AT)), [{ t: 'decision', approval: 'a1', decision: 'expire', by: { channel: 'clock' } }]);
  t.strictSame(expired(past, Date.parse(AT) - 1), []);
  t.match(holdFor(past.pending), {
    kind: 'approval',
    until: Date.parse(AT),
    reason: { code: 'WAITING_APPROVAL', message: /bank\/pay, because a rule says so\.$/, fix: 'blockhouse approve a1' },
  });
});

t.test('one-decision: who is overtaken reads what was decided', async (t) => {
  const records = [...BEGUN];
  const by = { channel: 'cli', name: 'x' } as const;
  const conversation = conversationOf(records);
  const decision = (word: 'approve' | 'deny') => ({
    conversation,
    claim: undefined,
    messageId: 'm1',
    approval: 'a1',
    body: { decision: word, digest: 'd' },
    by,
    now: Date.parse(AT),
    pinNow: async () => undefined,
    allow: async () => undefined,
  });
  await decide(decision('deny'));
  await t.rejects(decide(decision('approve')), { code: 'APPROVAL_DECIDED', message: /deny, by cli x/ });
  await t.rejects(decide({ ...decision('approve'), approval: 'a2' }), { code: 'APPROVAL_NOT_FOUND' });
});

t.test('the messages in process with a run are known, and whether they got on', async (t) => {
  const files = { conversation: conversationOf([...BEGUN]) };
  t.strictSame([...(await runsInProcess({ files } as never))], [['m1', true]]);
  t.strictSame([...(await runsInProcess({ files: { conversation: conversationOf([]) } } as never))], []);
});

t.test('a message that was asked again since its run ended begins another one; one whose end is in the journal only does not', async (t) => {
  const ended = new RunState([runRecord(), { t: 'end', at: '2026-11-28T12:00:05.000Z', status: 'done', content: 'Hi.' }]);
  const message = (more: object) => ({ id: 'm1', timestamp: '2026-11-28T12:00:00.000Z', ...more }) as ChatEntry;
  t.equal(isNewRun(new RunState(), message({})), true);
  t.equal(isNewRun(new RunState([runRecord()]), message({})), false);
  t.equal(isNewRun(ended, message({})), false);
  t.equal(isNewRun(ended, message({ run: 1 })), true);
  t.equal(isNewRun(ended, message({ timestamp: '2026-11-28T12:00:06.000Z' })), true);
  t.match(answerOf(ended, 'm1'), { message: { content: [] }, stopReason: 'unknown', run: { run: 1, steps: [] } });
});
