import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { askedOf, repeatingDaemon, sendPiece, startCore } from '../../support/blocks.ts';
import { withoutRights } from '../../support/nobody.ts';
import { holdFolderSyncs } from '../../support/unconfirmed-folders.ts';
import { until } from '../../support/until.ts';

t.test('the kill switch stops every monitor, even when set by hand, and survives a restart', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  t.match(await one.blocks.halt({ reason: 'too dear' }), { halted: true, reason: 'too dear' });
  await one.inState('ada', 'paused');
  await one.blocks.post('ada', { message: 'waits' }, 'web');
  t.match(await one.blocks.explain('ada'), { state: 'paused', attention: true, why: /too dear/, fix: 'blockhouse unhalt', queue: { queued: 1 } });
  await one.core.close();
  const next = await startCore(t, { workspace: one.workspace });
  await next.told('block.transitioned', { block: 'ada', to: 'paused' });
  t.same([next.blocks.halted().halted, next.upstream.requests.length], [true, 0]);
  t.match(await next.blocks.unhalt(), { halted: false });
  await next.told('message.finished', { block: 'ada', status: 'done' });
  writeFileSync(join(one.workspace, 'halted.json'), '');
  await until('the file is seen', () => next.factsOf('block.transitioned').at(-1)?.['to'] === 'paused');
  t.equal(next.factsOf('workspace.halted').length, 3);
});

t.test('the kill switch ends replies that are being written: text is kept, and a message without any is answered after the release', async (t) => {
  let isSlow = true;
  const one = await startCore(t, {
    answer: (request, res, ...rest) => {
      if (!isSlow || request.path === '/api/tags') return repeatingDaemon(request, res, ...rest);
      const asked = askedOf(request).messages.at(-1)?.content;
      if (asked === 'slow') sendPiece(res, 'Half an ');
    },
  });
  await one.create('ada');
  await one.create('bob');
  const ids: string[] = [];
  for (const [name, message] of [
    ['ada', 'slow'],
    ['bob', 'silent'],
  ] as const) {
    await one.blocks.start(name);
    ids.push((await one.blocks.post(name, { message }, 'api')).id);
  }
  const [slow = '', silent = ''] = ids;
  await until('both are asked', () => one.upstream.requests.filter(({ path }) => path === '/api/chat').length === 2);
  await new Promise<void>((resolve) => {
    const stop = one.blocks.follow('ada', { onReply: ({ event }) => event === 'content' && resolve() });
    t.teardown(stop);
  });
  isSlow = false;
  const waited = one.blocks.answer('bob', silent, { waitMs: 60_000 });
  await one.blocks.halt();
  t.match(await waited, { answer: null, entry: { status: 'queued' }, note: /is paused/ }, 'a wait ends with the reason');
  t.match(await one.told('message.finished', { block: 'ada', id: slow }), { status: 'interrupted' });
  t.match(await one.blocks.answer('ada', slow, {}), { entry: { status: 'done' }, answer: { content: 'Half an ', status: 'interrupted' } });
  for (const name of ['ada', 'bob']) await one.inState(name, 'paused');
  await one.blocks.unhalt();
  await one.told('message.finished', { block: 'bob', id: silent, status: 'done' });
});

t.test('changed credentials renew the entries and wake monitors that wait for them', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const [first] = await one.blocks.list();
  await one.core.credentials?.update('ollama', { baseURL: one.upstream.url });
  await until('auth.json was read', () => {
    one.core.credentials?.refresh();
    return one.factsOf('credentials.changed').length > 0;
  });
  t.not((await one.blocks.list())[0], first);
});

t.test('auth.json is checked while a monitor waits for a person', async (t) => {
  const one = await startCore(t, {
    answer: (request, res) => {
      res.writeHead(request.headers.authorization === undefined ? 401 : 500);
      res.end('{"error":"no"}');
    },
  });
  await one.create('ada');
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'x' }, 'web');
  await one.told('block.transitioned', { block: 'ada', to: 'failed' });
  const asked = one.upstream.requests.length;
  one.core.credentials?.refresh();
  writeFileSync(join(one.workspace, 'auth.json'), JSON.stringify({ ollama: { baseURL: one.upstream.url } }), { mode: 0o600 });
  await one.told('credentials.changed');
  await one.upstream.arrived(asked);
  t.ok(readFileSync(one.folder('ada', 'chat.json'), 'utf8').includes('"x"'));
});

t.test('at the end new changes are refused, those under way are finished, and those that wait are refused', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob', 'cyn']) {
    await one.create(name);
    if (name !== 'cyn') await one.blocks.archive(name);
  }
  const { blocks } = one;
  const disk = await holdFolderSyncs(t);
  const order: string[] = [];
  const restored = blocks.restore('ada').then(() => order.push('restored'));
  const waiting = t.rejects(blocks.purge('bob'), { code: 'SHUTTING_DOWN' });
  await disk.reached();
  const closed = one.core.close().then(() => order.push('closed'));
  for (const change of [
    () => blocks.start('cyn'),
    () => blocks.post('cyn', { message: 'x' }, 'web'),
    () => blocks.updateConfig('cyn', {}),
    () => blocks.addFact('cyn', { text: 'x' }),
    () => blocks.halt(),
  ] as (() => Promise<unknown>)[])
    await t.rejects(change(), { code: 'SHUTTING_DOWN', status: 503 });
  disk.release();
  await Promise.all([restored, waiting, closed]);
  t.same(order, ['restored', 'closed']);
  t.equal(existsSync(join(one.workspace, 'halted.json')), false);
});

t.test("remains that can't be removed are reported, and the server starts anyway", { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const remains = '.ada_2026-11-20T14-03-22-123Z.0123456789abcdef.tmp';
  const one = await startCore(t, { start: false, files: { archive: { [remains]: { inner: { file: 'x' } } }, blocks: {} } });
  const archive = join(one.workspace, 'archive');
  for (const folder of [one.workspace, join(one.workspace, 'blocks')]) chmodSync(folder, 0o777);
  await withoutRights(archive, join(archive, remains, 'inner'), () => one.core.start());
  t.match(one.factsOf('workspace.fault'), [{ what: `archive/${remains}`, error: 'EACCES' }]);
  chmodSync(join(archive, remains, 'inner'), 0o700);
});
