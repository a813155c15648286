// Runs of a block whose tools run in a process: waits for people, limits, changes of tools, and ends.
import t from 'tap';
import type { Approval, RunRecord } from '../../../../../core/types.ts';
import { RUNNABLE, startCore } from '../../../../support/blocks.ts';
import { answerRecord, callRecord, modelRecord, runRecord } from '../../../../support/tools/records.ts';
import { crashedIn, kindsOf, pay, RULES, type ToolCore, toolCore } from '../../../../support/tools/tool-core.ts';
import type { Said, Seen } from '../../../../support/tools/tool-model.ts';
import { until } from '../../../../support/until.ts';

t.setTimeout(120_000);

const once =
  (...calls: { name: string; arguments: object }[]) =>
  ({ results }: Seen): Said =>
    results.length === 0 ? calls : results.join('|');
const ME = { channel: 'cli', name: 'token' } as const;
const ASK = { servers: ['bank'], ask: ['bank/pay'], allow: ['bank/*'] };

async function askedIn(one: ToolCore, id: string): Promise<Approval[]> {
  return (await one.records(id)).flatMap((record) => (record.t === 'ask' ? [record.approval] : []));
}

t.test('decide-all-then-act: of several calls none is made before the person has decided; the wait survives a restart', async (t) => {
  const one = await toolCore(t, { rules: ASK, say: once(pay('bob'), { name: 'bank__list', arguments: {} }) });
  const id = await one.post('Pay bob.');
  await one.inState('ada', 'waiting-approval');
  t.strictSame(one.host.calls, []);
  const [asked] = (await askedIn(one, id)) as [Approval];
  t.match(asked, {
    block: 'ada',
    messageId: id,
    call: '1.1',
    kind: 'call',
    tool: 'bank/pay',
    because: 'rule',
    arguments: { to: 'bob' },
    digest: /^[0-9a-f]{64}$/,
  });
  t.match(await one.entry(id), { status: 'waiting-approval', waitingFor: [asked.id] });
  t.match(await one.blocks.explain('ada'), {
    why: /A message waits for your decision: bank\/pay, because a rule says so/,
    attention: true,
    status: 'SLEEPING',
  });
  await one.blocks.post('ada', { message: 'Another.' }, 'api');
  await one.blocks.stop('ada');
  await one.blocks.start('ada');
  await one.inState('ada', 'waiting-approval');
  t.equal((await askedIn(one, id)).length, 1, 'it is asked once');
  t.equal(one.upstream.requests.length, 1, 'and nothing overtakes it');
  await one.blocks.decide('ada', asked.id, { decision: 'approve', digest: asked.digest }, ME);
  await one.outcome(id);
  t.match(await one.answerTo(id), { steps: [{ outcome: 'done', approvedBy: 'cli:token' }, { outcome: 'done' }] });
  t.equal(one.effects().length, 1);
});

t.test('a denial goes to the model with its note', async (t) => {
  const one = await toolCore(t, { rules: ASK, say: once(pay('bob')) });
  const id = await one.post('Pay bob.');
  await one.inState('ada', 'waiting-approval');
  const [asked] = (await askedIn(one, id)) as [Approval];
  await one.blocks.decide('ada', asked.id, { decision: 'deny', digest: asked.digest, note: 'Not on a Friday.' }, ME);
  await one.outcome(id);
  t.match(await one.answerTo(id), { content: /The user has denied this call\. Not on a Friday\./, steps: [{ outcome: 'denied' }] });
  t.strictSame(one.effects(), []);
});

t.test('a deadline denies, or fails the message', async (t) => {
  for (const onTimeout of ['deny', 'fail'] as const) {
    await t.test(onTimeout, async (t) => {
      const one = await toolCore(t, { rules: { ...ASK, approvals: { timeoutMs: 30, onTimeout } }, say: once(pay('bob')) });
      const id = await one.post('Pay bob.');
      const { status, error } = await one.outcome(id);
      t.strictSame(one.effects(), []);
      if (onTimeout === 'deny') t.match(await one.answerTo(id), { content: /Nobody has answered/, steps: [{ outcome: 'expired' }] });
      else t.match({ status, error }, { status: 'failed', error: { code: 'TOOL_LIMIT', message: /Nobody has decided/ } });
    });
  }
});

t.test('a tool that has changed since it was approved is not called', async (t) => {
  const one = await toolCore(t, { rules: ASK, say: once(pay('bob')) });
  const id = await one.post('Pay bob.');
  await one.inState('ada', 'waiting-approval');
  const [asked] = (await askedIn(one, id)) as [Approval];
  await one.blocks.halt();
  await one.blocks.decide('ada', asked.id, { decision: 'approve', digest: asked.digest }, ME);
  one.host.tools = one.host.tools.map((tool) => (tool.tool === 'pay' ? { ...tool, pin: 'another' } : tool));
  await one.blocks.unhalt();
  await one.outcome(id);
  t.match((await one.answerTo(id))?.steps, [{ outcome: 'changed' }]);
  t.strictSame(one.effects(), []);
});

const LOST = crashedIn([runRecord(), modelRecord(1), answerRecord(1, [pay('bob')]), callRecord('1.1')], { ...RULES, onUnknown: 'ask' });

for (const [decision, effects, outcome, said] of [
  ['ran', 0, 'done', /The user says that this call ran\. I saw it\./],
  ['not-ran', 1, 'done', /Paid 5 to bob/],
  ['tell', 0, 'unknown', /The outcome of this call is not known/],
] as const) {
  t.test(`onUnknown: ask – ${decision}`, async (t) => {
    const one = await toolCore(t, { files: LOST, say: once(pay('bob')) });
    await one.blocks.start('ada');
    await one.inState('ada', 'waiting-approval');
    t.match(await one.blocks.explain('ada'), { why: /bank\/pay may have run before it was cut off; say whether it did/ });
    const [asked] = (await askedIn(one, 'm1')) as [Approval];
    t.match(asked, { kind: 'unknown', because: 'unknown' });
    await t.rejects(one.blocks.decide('ada', asked.id, { decision: 'approve', digest: asked.digest }, ME), { code: 'INVALID_REQUEST' });
    await one.blocks.decide('ada', asked.id, { decision, digest: asked.digest, note: 'I saw it.' }, ME);
    await one.outcome('m1');
    t.equal(one.effects().length, effects);
    t.match(await one.answerTo('m1'), { content: said, steps: [{ outcome }] });
  });
}

t.test('after a tool of the open world has been read, a call that writes waits for a person', async (t) => {
  const say = ({ results }: Seen): Said => [[{ name: 'bank__list', arguments: {} }], [pay('bob')], 'Done.'][results.length] as Said;
  const one = await toolCore(t, { say, bank: { settings: { marks: { readOnly: ['*'] } } } });
  const id = await one.post('Read, then pay.');
  await one.inState('ada', 'waiting-approval');
  t.match(await askedIn(one, id), [{ because: 'tainted', readBefore: ['bank/list'] }]);
});

t.test('no-endless-crashes: attempts that come to nothing end the message, and what ran is told', async (t) => {
  const records = [
    runRecord(),
    modelRecord(1),
    answerRecord(1, [pay('bob')]),
    callRecord('1.1'),
    { t: 'resume', at: '2026-11-28T12:00:00.000Z', attempt: 5 } as RunRecord,
  ];
  const one = await toolCore(t, { files: crashedIn(records, RULES, { attempts: 5 }), say: once(pay('bob')) });
  await one.blocks.start('ada');
  t.match(await one.outcome('m1'), { status: 'failed', error: { code: 'CRASHED' } });
  t.match(await one.answerTo('m1'), { status: 'interrupted', content: /bank\/pay .* may have run/ });
});

t.test('an attempt that got on does not count, however many there were', async (t) => {
  const records = [runRecord(), modelRecord(1), answerRecord(1, [pay('bob')])];
  const one = await toolCore(t, { files: crashedIn(records, RULES, { attempts: 5 }), say: once(pay('bob')) });
  await one.blocks.start('ada');
  t.match(await one.outcome('m1'), { status: 'done', attempts: 5 });
});

t.test('a message that waits can be cancelled, and the calls of the answer are told', async (t) => {
  const say = ({ results }: Seen): Said => [[{ name: 'bank__set_limit', arguments: { limit: 1 } }], [pay('bob')], 'Done.'][results.length] as Said;
  const one = await toolCore(t, { rules: ASK, say });
  const id = await one.post('Set, then pay.');
  await one.inState('ada', 'waiting-approval');
  await one.blocks.cancel('ada', id);
  t.match(await one.entry(id), { status: 'cancelled', run: 1, waitingFor: undefined });
  t.match(await one.answerTo(id), { status: 'interrupted', content: /The message was cancelled\. Before that, it had called:\n- bank\/set_limit .* ran/ });
  t.match((await one.records(id)).slice(-3), [
    { t: 'decision', decision: 'cancel' },
    { t: 'refused', code: 'not-run' },
    { t: 'end', status: 'cancelled' },
  ]);
  await one.inState('ada', 'idle');
});

t.test('the kill switch cuts a call off, and nothing is called while it is set', async (t) => {
  const one = await toolCore(t, { say: once(pay('bob', { answerAfterMs: 60_000 })) });
  const id = await one.post('Pay bob.');
  await until('it is paid', () => one.effects().length === 1);
  await one.blocks.halt();
  await one.inState('ada', 'paused');
  t.equal(one.host.halts, 1);
  t.match((await one.records(id)).at(-1), { t: 'unknown' });
  await one.blocks.unhalt();
  await one.outcome(id);
  t.equal(one.effects().length, 1);
});

t.test('intent-first: calls side by side share one sync, and each has its record before any leaves', async (t) => {
  let seen: string[] = [];
  const one = await toolCore(t, {
    bank: {
      onBefore: async () => {
        seen = kindsOf(await one.records(id));
      },
    },
    say: once(pay('a'), pay('b'), pay('c')),
  });
  const { id } = await one.blocks.post('ada', { message: 'Pay three.' }, 'api');
  await one.blocks.start('ada');
  await one.outcome(id);
  t.strictSame(seen.slice(3, 6), ['call 1.1', 'call 1.2', 'call 1.3']);
  t.match((await one.answerTo(id))?.steps, [{ outcome: 'done' }, { outcome: 'done' }, { outcome: 'done' }]);
});

t.test('limits.parallel and limits.calls hold', async (t) => {
  let running = 0;
  let most = 0;
  const bank = {
    onBefore: () => {
      running += 1;
      most = Math.max(most, running);
    },
    onAfter: () => {
      running -= 1;
    },
  };
  const one = await toolCore(t, {
    rules: { ...RULES, limits: { parallel: 2, calls: 3 } },
    bank,
    say: ({ messages }) => (messages.at(-1)?.role === 'user' && messages.length > 2 ? 'Enough.' : [pay('a'), pay('b'), pay('c'), pay('d')]),
  });
  const id = await one.post('Pay four.');
  await one.outcome(id);
  t.equal(most, 2);
  t.match((await one.answerTo(id))?.steps, [{ outcome: 'done' }, { outcome: 'done' }, { outcome: 'done' }, { outcome: 'limit' }]);
});

t.test('a long result is cut for the model and kept whole', async (t) => {
  const one = await toolCore(t, { rules: { ...RULES, limits: { resultTokens: 100 } }, say: once({ name: 'bank__long', arguments: { characters: 5000 } }) });
  const id = await one.post('Read.');
  await one.outcome(id);
  t.match(
    (await one.records(id)).find(({ t: kind }) => kind === 'result'),
    { ref: '1.1', chars: 5000, notice: /^\(4,\d00 of 5,000 characters/ },
  );
  t.match(await one.blocks.runResult('ada', id, '1.1'), {
    isError: false,
    parts: [{ type: 'text', text: 'x'.repeat(5000) }],
  });
  t.strictSame(await one.blocks.runResult('ada', id, '1.1', { offset: 4998, limit: 10 }), {
    isError: false,
    parts: [{ type: 'text', text: 'xx' }],
    chars: 5000,
  });
  t.strictSame(await one.blocks.runResult('ada', id, '1.1', { offset: 9000 }), { isError: false, parts: [{ type: 'text', text: '' }], chars: 5000 });
  for (const [page, field] of [
    [{ limit: 0 }, 'limit'],
    [{ limit: 100_001 }, 'limit'],
    [{ offset: -1 }, 'offset'],
  ] as const)
    await t.rejects(one.blocks.runResult('ada', id, '1.1', page), { code: 'INVALID_REQUEST', details: [{ path: field }] });
  await t.rejects(one.blocks.runResult('ada', id, '2.1'), { code: 'RUN_NOT_FOUND' });
});

t.test('without anything that runs tools, `tools` is refused with what to do, and one that was written by hand fails the block', async (t) => {
  const one = await startCore(t);
  await t.rejects(one.create('ada', { tools: RULES }), {
    code: 'INVALID_REQUEST',
    message: /^config\.tools\.servers can't be used: .*Remove `tools`, or set it to null\.$/,
  });
  await one.create('ada', { ...RUNNABLE, tools: { servers: [] } });
  await t.rejects(one.blocks.updateConfig('ada', { tools: RULES }), { code: 'INVALID_REQUEST', details: [{ path: 'tools.servers' }] });
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), tools: RULES });
  await one.blocks.post('ada', { message: 'hi' }, 'api');
  await one.blocks.start('ada');
  await one.inState('ada', 'failed');
  t.match(await one.blocks.explain('ada'), { why: /tools\.servers can't be used/ });
  await one.blocks.updateConfig('ada', { tools: null });
  await one.told('message.finished', { status: 'done' });
  t.equal(one.upstream.requests.length, 1);
});
