// A block that was exported while a call of a tool was pending, and is imported, once and again: the call is made once at most, and nobody has to guess where.

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectStore } from '../../core/index.ts';
import { digestOf } from '../../core/tools/canonical.ts';
import type { RunRecord } from '../../core/types.ts';
import { migratedStore } from '../support/migrated.ts';
import { noPostgres } from '../support/postgres.ts';
import { AT, answerRecord, approvalOf, modelRecord, runRecord } from '../support/tools/records.ts';
import { crashedIn, pay, pendingIn, RULES, type ToolCore, toolCore } from '../support/tools/tool-core.ts';
import type { Seen } from '../support/tools/tool-model.ts';
import { sweep } from '../support/sweep.ts';
import { sought, until } from '../support/until.ts';

t.setTimeout(120_000);

const ASKS = { servers: ['bank'], ask: ['bank/*'] };
const NOTE =
  /^1 message was being answered with tools, and is cancelled in this copy: none of its calls is made here\. `blockhouse queue bob --retry \S+` asks it again\.$/;

t.test('a call that waits for a person waits in the original alone, and each copy says what became of it', async (t) => {
  const one = await toolCore(t, { rules: ASKS, say: ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Paid.' : [pay('eve')]) });
  const id = await one.post('Pay eve.');
  const [approval] = await pendingIn(one);
  await one.blocks.post('ada', { message: 'And then?' }, 'api');
  const bundle = await one.blocks.export('ada');
  const first = await one.blocks.import(bundle, 'bob');
  t.match(first, { name: 'bob', warnings: [{ field: 'chat', message: NOTE }] });
  t.match((await one.blocks.import(bundle, 'carl')).warnings, [{ field: 'chat', message: /^1 message was being answered/ }]);
  t.match(await one.blocks.approvals(), { approvals: [{ id: approval?.id, block: 'ada' }] }, 'it can be decided in one place');
  for (const name of ['bob', 'carl']) {
    t.match(await one.blocks.history(name), [
      { id, status: 'cancelled', error: { code: 'IMPORTED', message: /imported/, retryable: true } },
      { status: 'queued', content: 'And then?' },
    ]);
    await one.blocks.cancel(name, (await one.blocks.history(name)).at(-1)?.id ?? '');
    await one.blocks.start(name);
    await one.inState(name, 'idle');
  }
  t.same(one.effects(), []);
  await one.blocks.decideApproval(approval?.id ?? '', { decision: 'approve', digest: approval?.digest ?? '' }, { channel: 'cli', name: 'token' });
  t.match(await one.outcome(id), { status: 'done' });
  t.equal(one.effects().length, 1, 'one payment');
  await one.blocks.retry('bob', id);
  const ofBob = async () => (await one.blocks.approvals({ block: 'bob' })).approvals;
  let [again] = await ofBob();
  for (const end = performance.now() + 30_000; again === undefined && performance.now() < end; [again] = await ofBob()) await delay(20);
  t.match(again, { tool: 'bank/pay' }, 'asked again, the copy asks a person of its own');
  t.not(again?.id, approval?.id);
});

t.test('a call that may have been made is not made again by a copy', async (t) => {
  const one = await toolCore(t, { rules: RULES, say: ({ results }) => (results.length === 0 ? [pay('eve', { answerAfterMs: 600_000 })] : 'Paid.') });
  const id = await one.post('Pay eve.');
  await until('it was paid', () => one.effects().length === 1);
  const bundle = await one.blocks.export('ada');
  const before = one.effects().length;
  await one.blocks.import(bundle, 'bob');
  await one.blocks.start('bob');
  await one.inState('bob', 'idle');
  t.equal(one.effects().length, before, 'no call of the copy');
  const history = await one.blocks.history('bob');
  t.match(history[0], { id, status: 'cancelled' });
  t.match(history[1], { role: 'assistant', replyTo: id, status: 'interrupted', content: /bank\/pay/ }, 'what may have happened is said');
});

const { name, arguments: args } = pay('eve');
const PLANNED: readonly RunRecord[] = [
  modelRecord(1),
  answerRecord(1, [{ name, arguments: args }]),
  { t: 'ask', call: '1.1', approval: approvalOf('a1', { arguments: args, digest: digestOf('bank/pay', args, 'pin-of-pay') }) },
  { t: 'decision', approval: 'a1', decision: 'approve', by: { channel: 'cli', name: 'token' }, at: AT },
];
const ended: RunRecord = { t: 'end', at: AT, status: 'cancelled' };
const JOURNALS: readonly (readonly [string, string, readonly RunRecord[]])[] = [
  ['failed', 'a run that goes on', [runRecord(), ...PLANNED]],
  ['cancelled', 'a run that goes on', [runRecord(), ...PLANNED]],
  ['expired', 'a run that goes on', [runRecord(), ...PLANNED]],
  ['failed', 'steps without a run', PLANNED],
  ['waiting-approval', 'steps without a run', PLANNED],
  ['failed', 'the steps of the run that comes next', [{ ...runRecord(), run: 2 } as RunRecord, ...PLANNED, runRecord(), ended]],
];

const say = ({ messages }: Seen) => (messages.at(-1)?.role === 'tool' ? 'Paid.' : [pay('eve')]);

for (const [status, what, records] of JOURNALS)
  t.test(`what a journal of elsewhere calls approved is not made when its message is retried: ${status}, ${what}`, async (t) => {
    const files = crashedIn(records, ASKS, { status, processed: status !== 'waiting-approval' });
    const from = await toolCore(t, { rules: ASKS, say, files });
    t.test('in files', (t) => assertAsks(t, from, from));
    t.test('in a database', { skip: noPostgres }, async (t) =>
      assertAsks(t, from, await toolCore(t, { rules: ASKS, say, store: await connectStore(await migratedStore(t)) })),
    );
  });

async function assertAsks(t: Test, from: ToolCore, one: ToolCore): Promise<void> {
  await one.blocks.import(await from.blocks.export('ada'), 'bob');
  await one.blocks.retry('bob', 'm1');
  await one.blocks.start('bob');
  const waiting = async () => (await one.blocks.approvals({ block: 'bob' })).approvals.find(({ id }) => id !== 'a1');
  const approval = await sought(waiting, () => `no person is asked; paid: ${one.effects().length}`, 10_000);
  t.match(approval, { block: 'bob', tool: 'bank/pay' }, 'a person is asked');
  t.same(one.effects(), [], 'nothing was paid');
}

t.test('a bundle with a journal that can not be read is refused, so that nothing in it is left open', async (t) => {
  const open = { 'm1.jsonl': 'x\n', 'm2.jsonl': [runRecord(), ...PLANNED].map((record) => `${JSON.stringify(record)}\n`).join('') };
  const files = crashedIn([], ASKS, { status: 'failed', processed: true });
  const one = await toolCore(t, { rules: ASKS, say: () => 'Hello.', files: { blocks: { ada: { ...files.blocks.ada, runs: open } } } });
  await t.rejects(one.blocks.import(await one.blocks.export('ada'), 'bob'), {
    code: 'INVALID_REQUEST',
    message: /runs\/m1\.jsonl in the archive can't be used: line 1/,
  });
  t.strictSame(
    (await one.blocks.list()).map(({ name }) => name),
    ['ada'],
    'there is no copy',
  );
});

t.test('a small bundle with a journal of millions of lines is refused', async (t) => {
  const ada = crashedIn([], ASKS, { status: 'failed', processed: true }).blocks.ada;
  const files = { blocks: { ada: { ...ada, runs: { 'm1.jsonl': '{"t":"later"}\n'.repeat(sweep(2_000_000, 300_000)) } } } };
  const from = await toolCore(t, { rules: ASKS, say: () => 'Hello.', files });
  const bundle = await from.blocks.export('ada');
  const refusal = { code: 'INVALID_REQUEST', message: "The runs/m1.jsonl in the archive can't be used: it has more than 250000 lines." };
  await t.rejects(from.blocks.import(bundle, 'bob'), refusal);
  t.test('in a database', { skip: noPostgres }, async (t) => {
    const one = await toolCore(t, { rules: ASKS, say, store: await connectStore(await migratedStore(t)) });
    await t.rejects(one.blocks.import(bundle, 'bob'), refusal);
  });
});

t.test('a price in a journal of elsewhere makes nothing cheaper', async (t) => {
  const call: RunRecord = { t: 'call', call: '1.1', at: AT, try: 1, pin: 'pin-of-pay', usd: -1000 };
  const files = crashedIn([runRecord(), ...PLANNED, call], ASKS, { status: 'failed', processed: true });
  const one = await toolCore(t, { rules: ASKS, say: () => 'Hello.', files });
  await one.blocks.import(await one.blocks.export('ada'), 'bob');
  await one.blocks.retry('bob', 'm1');
  await one.blocks.start('bob');
  await one.inState('bob', 'idle');
  await until('the answer is in the ledger', () => readFileSync(`${one.workspace}/ledger.jsonl`, 'utf8').includes('"bob"'));
  t.notMatch(readFileSync(`${one.workspace}/ledger.jsonl`, 'utf8'), /-1000/, 'a sum that caps are judged by');
});
