// Runs from outside: their journals, their results, and decisions.
import t from 'tap';
import { cancelRun } from '../../../core/block/operations-runs.ts';
import type { Approval } from '../../../core/types.ts';
import { pay, toolCore } from '../../support/tools/tool-core.ts';

t.setTimeout(60_000);

const BY = { channel: 'api', name: 'token' } as const;

t.test('a decision names what was shown, and of two one holds', async (t) => {
  const one = await toolCore(t, { rules: { servers: ['bank'], ask: ['*'] }, say: ({ results }) => (results.length === 0 ? [pay('bob')] : 'Paid.') });
  const id = await one.post('Pay bob.');
  await one.inState('ada', 'waiting-approval');
  const asked = (await one.records(id)).flatMap((record) => (record.t === 'ask' ? [record.approval] : []))[0] as Approval;
  const approve = { decision: 'approve', digest: asked.digest } as const;
  await t.rejects(one.blocks.decide('ada', 'a0', approve, BY), { code: 'APPROVAL_NOT_FOUND' });
  await t.rejects(one.blocks.decide('ada', asked.id, { ...approve, digest: 'x' }, BY), { code: 'APPROVAL_STALE' });
  await t.rejects(one.blocks.decide('ada', asked.id, { decision: 'approve' } as never, BY), { code: 'INVALID_REQUEST', message: /digest is required/ });
  await t.rejects(one.blocks.decide('ada', asked.id, { ...approve, decision: 'ran' }, BY), {
    code: 'INVALID_REQUEST',
    message: /must be one of approve, deny/,
  });
  const both = await Promise.allSettled([
    one.blocks.decide('ada', asked.id, approve, BY),
    one.blocks.decide('ada', asked.id, { ...approve, decision: 'deny' }, BY),
  ]);
  t.strictSame(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  t.match(
    both.find(({ status }) => status === 'rejected'),
    { reason: { code: /APPROVAL_DECIDED|APPROVAL_NOT_FOUND/ } },
  );
  await one.outcome(id);
  t.equal((await one.records(id)).filter(({ t: kind }) => kind === 'decision').length, 1);
});

t.test('a message without tools has no run', async (t) => {
  const one = await toolCore(t, { say: () => 'Hi.', config: {} });
  await t.rejects(one.blocks.run('ada', 'm1'), { code: 'RUN_NOT_FOUND' });
  await t.rejects(one.blocks.runResult('ada', 'm1', '1.1'), { code: 'RUN_NOT_FOUND' });
  t.equal(await cancelRun({} as never, { files: { conversation: { entries: async () => [] } } } as never, 'm1'), undefined);
});

t.test('reset with hard deletes the journals of messages that have their outcome', async (t) => {
  const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [pay('bob')] : 'Paid.') });
  const id = await one.post('Pay bob.');
  await one.outcome(id);
  t.match((await one.blocks.reset('ada')).cleared, ['memory', 'costs', 'pulse']);
  t.ok((await one.records(id)).length > 0);
  t.match((await one.blocks.reset('ada', { hard: true })).cleared, ['memory', 'costs', 'pulse', 'logs', 'runs']);
  await t.rejects(one.blocks.run('ada', id), { code: 'RUN_NOT_FOUND' });
});

t.test('the runs of a block come along when it is exported, and an import has them', async (t) => {
  const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [pay('bob')] : 'Paid.') });
  const id = await one.post('Pay bob.');
  await one.outcome(id);
  await one.blocks.stop('ada');
  const bundle = await one.blocks.export('ada');
  await one.blocks.import(bundle, 'eve');
  t.strictSame((await one.blocks.run('eve', id)).records, await one.records(id));
});
