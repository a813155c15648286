import { readdirSync } from 'node:fs';
import t from 'tap';
import { pair } from '../../support/block-files.ts';
import { askedOf, sendPiece, startCore } from '../../support/blocks.ts';

t.test('facts are added and removed', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const fact = await one.blocks.addFact('ada', { text: 'likes tea' });
  t.match(fact, { id: /^f/, text: 'likes tea', pinned: true, createdAt: /Z$/ });
  const other = await one.blocks.addFact('ada', { text: 'x', pinned: false });
  t.same(one.readJson('ada', 'memory').facts, [fact, other]);
  await one.blocks.removeFact('ada', fact.id);
  t.same(one.readJson('ada', 'memory').facts, [other]);
  await t.rejects(one.blocks.removeFact('ada', fact.id), { code: 'MESSAGE_NOT_FOUND', status: 404 });
  for (const body of [null, {}, { text: '' }, { text: 'x'.repeat(10_001) }, { text: 'x', other: 1 }])
    await t.rejects(one.blocks.addFact('ada', body as never), { code: 'INVALID_REQUEST' });
});

t.test('a fact is changed in its place, and what is left out stays', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const fact = await one.blocks.addFact('ada', { text: 'likes tea' });
  const other = await one.blocks.addFact('ada', { text: 'x' });
  t.strictSame(await one.blocks.changeFact('ada', fact.id, { text: 'likes coffee' }), { ...fact, text: 'likes coffee' });
  t.strictSame(await one.blocks.changeFact('ada', fact.id, { pinned: false }), { ...fact, text: 'likes coffee', pinned: false });
  t.same(one.readJson('ada', 'memory').facts, [{ ...fact, text: 'likes coffee', pinned: false }, other]);
  await t.rejects(one.blocks.changeFact('ada', 'f0', { text: 'y' }), { code: 'MESSAGE_NOT_FOUND', status: 404 });
  for (const body of [null, { text: '' }, { text: 'x'.repeat(10_001) }, { pinned: 1 }, { id: 'f1' }, { createdAt: '' }])
    await t.rejects(one.blocks.changeFact('ada', fact.id, body as never), { code: 'INVALID_REQUEST' });
});

t.test('the number of facts has a limit', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const facts = Array.from({ length: 1000 }, (_, n) => ({ id: `${n}`, text: 'x', pinned: true }));
  one.write('ada', 'memory', { ...one.readJson('ada', 'memory'), facts });
  await t.rejects(one.blocks.addFact('ada', { text: 'x' }), { code: 'WRONG_STATE', message: /1000 facts/ });
});

t.test('a compaction by hand can be undone', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { adapter: { provider: 'ollama', model: 'm' }, memory: { keepMessages: 2 } });
  one.write('ada', 'chat', [...pair('1'), ...pair('2'), ...pair('3')]);
  t.match(await one.blocks.compact('ada'), {
    summary: /./,
    window: { firstKeptId: '3' },
    compactionCount: 1,
    compactions: [{ trigger: 'manual', outcome: 'summarized' }],
  });
  t.match(await one.blocks.undoCompaction('ada'), { summary: '', window: { firstKeptId: null } });
  await t.rejects(one.blocks.undoCompaction('ada'), { code: 'WRONG_STATE' });
});

t.test('memory is not compacted while a reply is made', async (t) => {
  const one = await startCore(t, { answer: (_request, res) => sendPiece(res, 'so far') });
  await one.create('ada');
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'x' }, 'web');
  await one.upstream.arrived(0);
  await t.rejects(one.blocks.compact('ada'), { code: 'WRONG_STATE', status: 409 });
});

t.test('a reset clears memory, costs and pulse; configuration, chat and logs stay', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'before');
  await one.blocks.addFact('ada', { text: 'x' });
  await one.blocks.stop('ada');
  const [config, chat] = [one.readText('ada', 'config'), one.readText('ada', 'chat')];
  t.match(await one.blocks.reset('ada'), { cleared: ['memory', 'costs', 'pulse'], message: /ada was reset/ });
  t.match(one.readJson('ada', 'memory'), { facts: [], summary: '' });
  t.match(one.readJson('ada', 'costs'), { calls: 0, totalInput: 0, lastReset: /Z$/ });
  t.match(one.readJson('ada', 'pulse'), { state: 'stopped', transitions: [] });
  t.same([one.readText('ada', 'config'), one.readText('ada', 'chat')], [config, chat]);
  t.ok(readdirSync(one.folder('ada', 'logs')).length > 0);
  t.equal((await one.blocks.costs({ by: 'block' })).total.calls, 1, 'the ledger forgets nothing');
  t.match(await one.blocks.reset('ada', { hard: true }), { cleared: ['memory', 'costs', 'pulse', 'logs'] });
  t.same(readdirSync(one.folder('ada', 'logs')), []);
});

t.test('after a reset the model no longer sees the old chat, also under a clock that was set back', async (t) => {
  let now = Date.parse('2026-11-20T14:00:00.000Z');
  const one = await startCore(t, { clock: () => now });
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'first');
  await one.ask('ada', 'second');
  t.equal(askedOf(await one.upstream.arrived(1)).messages.length, 3);
  await one.core.close();
  now -= 3_600_000;
  const next = await startCore(t, { workspace: one.workspace, clock: () => now });
  await next.blocks.reset('ada');
  await next.blocks.start('ada');
  await next.ask('ada', 'third');
  await next.ask('ada', 'fourth');
  const asked = next.upstream.requests.map((request) => askedOf(request).messages.map(({ content }) => content));
  t.same(asked, [['third'], ['third', 'You said: third', 'fourth']]);
});

t.test('a running monitor runs on through a reset', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'before');
  await one.blocks.reset('ada');
  t.match((await one.blocks.details('ada')).pulse, { state: 'idle', desired: 'running', transitions: [], restarts: 0 });
  t.match(await one.ask('ada', 'after'), { content: 'You said: after' });
  t.match(one.readJson('ada', 'costs'), { calls: 1 });
});

t.test('a reset replaces the damaged file that it clears, and a copy is kept', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  for (const file of ['memory', 'costs', 'pulse']) one.write('ada', file, '{"half":');
  t.match(await one.blocks.list(), [{ status: 'ERROR' }]);
  await one.blocks.reset('ada');
  t.match(await one.blocks.list(), [{ status: 'SLEEPING', configError: undefined }]);
  t.equal(readdirSync(one.folder('ada')).filter((name) => name.includes('.corrupt-')).length, 1, 'derived files begin anew');
  one.write('ada', 'chat', 'damaged');
  await one.blocks.reset('ada');
  t.equal(one.readText('ada', 'chat'), 'damaged', 'chat is not cleared');
});

t.test('a monitor that failed because of a damaged file goes on after a reset has replaced it', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  for (const file of ['memory', 'costs']) one.write('ada', file, '{"half":');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  await one.told('block.transitioned', { to: 'failed' });
  await one.blocks.reset('ada');
  await one.told('message.finished', { block: 'ada', id, status: 'done' });
  await one.inState('ada', 'idle');
});

t.test('a reset keeps unknown fields, and what was spent today', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.blocks.stop('ada');
  for (const file of ['memory', 'costs']) one.write('ada', file, { ...one.readJson('ada', file), mine: 1 });
  await one.blocks.reset('ada');
  t.match(one.readJson('ada', 'memory'), { mine: 1, summary: '' });
  t.match(one.readJson('ada', 'costs'), { mine: 1, calls: 0, totalInput: 0, budget: { day: { tokens: 5 } } });
});
