import t from 'tap';
import { RunJournal } from '../../../../../core/block/reply/run/run-journal.ts';
import { BlockhouseError } from '../../../../../core/errors.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { answerRecord, callRecord, modelRecord, resultRecord, runRecord } from '../../../../support/tools/records.ts';
import { pay } from '../../../../support/tools/calls.ts';

const priced = (call: string): RunRecord => ({ ...callRecord(call), usd: 0.5 }) as RunRecord;
const BEGUN = [runRecord(), modelRecord(1), answerRecord(1, [pay('bob'), pay('eve')])];

async function journalOf(stored: readonly RunRecord[], onAppend: (records: readonly RunRecord[]) => void = () => undefined) {
  const done: string[] = [];
  const conversation = {
    steps: async () => stored,
    appendSteps: async (_claim: unknown, _id: string, _from: number, records: readonly RunRecord[]) => {
      onAppend(records);
      for (const record of records) done.push(`wrote ${record.t}`);
    },
  };
  const journal = await RunJournal.open({
    conversation: conversation as never,
    claim: undefined,
    messageId: 'm1',
    pay: async ({ place, tool, usd, maybeSince }) => void done.push(`paid ${place} ${tool} ${usd} ${maybeSince === undefined ? 'new' : 'perhaps known'}`),
  });
  return { journal, done };
}

t.test('paid-once: a call with a price is paid before its outcome is written, however often it was sent', async (t) => {
  const { journal, done } = await journalOf(BEGUN);
  await journal.append([priced('1.1')]);
  await journal.append([priced('1.1'), callRecord('1.2')]);
  await journal.append([{ t: 'unknown', call: '1.1', why: 'it ended' }]);
  await journal.append([resultRecord('1.1'), resultRecord('1.2')]);
  t.strictSame(
    done.filter((what) => what.startsWith('paid')),
    ['paid 1.1 bank/pay 0.5 new'],
  );
  t.ok(done.indexOf('paid 1.1 bank/pay 0.5 new') < done.indexOf('wrote unknown'));
});

t.test('paid-once: what was sent by an earlier process is perhaps known, what has its outcome costs nothing more, and what was not made nothing', async (t) => {
  const { journal, done } = await journalOf([...BEGUN, priced('1.1'), resultRecord('1.1'), priced('1.2')]);
  await journal.append([resultRecord('1.1'), resultRecord('1.2')]);
  t.strictSame(
    done.filter((what) => what.startsWith('paid')),
    ['paid 1.2 bank/pay 0.5 perhaps known'],
  );
  const other = await journalOf([...BEGUN, priced('1.1')]);
  await other.journal.append([{ t: 'refused', call: '1.1', code: 'not-run', note: 'It did not run.' }]);
  t.strictSame(other.done, ['wrote refused']);
});

t.test('first-wins: records that come second are made again, and what they pay for is paid once', async (t) => {
  let refusals = 1;
  const { journal, done } = await journalOf([...BEGUN, priced('1.1')], () => {
    refusals -= 1;
    if (refusals >= 0) throw new BlockhouseError('REVISION_MISMATCH', 'Another one was first.');
  });
  await journal.appendFor(() => [{ t: 'unknown', call: '1.1', why: 'it ended' }]);
  t.strictSame(done, ['paid 1.1 bank/pay 0.5 perhaps known', 'wrote unknown']);
});

t.test(
  'paid-once: a probe is paid when it was sent, whatever came of it; one that a crash has cut off with the outcome of its call, and one that was not sent never',
  async (t) => {
    const paid = (done: readonly string[]): string[] => done.filter((what) => what.startsWith('paid'));
    const cut = await journalOf([...BEGUN, callRecord('1.1'), priced('1.1p')]);
    await cut.journal.append([{ t: 'unknown', call: '1.1', why: 'it ended' }]);
    t.strictSame(paid(cut.done), ['paid 1.1p bank/pay 0.5 perhaps known']);
    const refused = await journalOf([...BEGUN, callRecord('1.1'), priced('1.1p')]);
    await refused.journal.append([{ t: 'refused', call: '1.1', code: 'not-run', note: 'It did not run.' }]);
    t.strictSame(paid(refused.done), ['paid 1.1p bank/pay 0.5 perhaps known']);
    const unsent = await journalOf([...BEGUN, callRecord('1.1')]);
    await unsent.journal.append([priced('1.1p')]);
    await unsent.journal.append([{ t: 'refused', call: '1.1p', code: 'server-failed', note: 'It was not asked.' }]);
    await unsent.journal.append([{ t: 'unknown', call: '1.1', why: 'it ended' }]);
    t.strictSame(paid(unsent.done), []);
  },
);
