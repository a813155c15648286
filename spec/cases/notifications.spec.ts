// Notifications against receivers and servers that end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createNoticeSender } from '../../adapters/outbound/notice-sender.ts';
import { connectStore } from '../../core/index.ts';
import { RUNNABLE, repeatingDaemon, startCore } from '../support/blocks.ts';
import { freePort } from '../support/free-port.ts';
import { notifyingCore, startReceiver } from '../support/notify/receiver.ts';
import { waitingCall } from '../support/notify/waiting-call.ts';
import { argsForFile } from '../support/node-args.ts';
import { migratedStore } from '../support/migrated.ts';
import { noPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';

const KILLED = 'spec/support/notify/killed-core.ts';
const MINUTE = 60_000;

/** The files that wait for a target. */
function pending(workspace: string, target = 'phone'): string[] {
  const folder = join(workspace, `notify/pending-${target}`);
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
}

t.test('case 24: a notification is signed, comes after the receiver was down, once by its id, without any canary', async (t) => {
  const canary = 'canary-51c0';
  const port = await freePort();
  const one = await waitingCall(t, { url: `http://127.0.0.1:${port}/${canary}` });
  await one.ask({ to: canary });
  const { workspace } = one.server;
  await until('it waits', () => pending(workspace).length === 1);
  const [file = ''] = pending(workspace);
  t.equal(statSync(join(workspace, 'notify/pending-phone', file)).mode & 0o777, 0o600);
  t.equal(statSync(join(workspace, 'notify')).mode & 0o777, 0o700);
  await one.server.core.close();
  const receiver = await startReceiver(t, undefined, port);
  const again = await notifyingCore(t, { workspace, tools: one.host, clock: () => Date.now() + MINUTE });
  const [notice] = await receiver.came(one.secret, 1);
  t.match(notice, { id: file.replace('.json', ''), type: 'approval.asked', data: { block: 'ada', messageId: String, url: /^http.*\/ui\/blocks\/ada$/ } });
  t.same(Object.keys(notice?.data.approval), ['id', 'tool', 'because', 'expiresAt']);
  await until('it is noted', () => pending(workspace).length === 0);
  t.equal(receiver.requests.length, 1);
  t.notMatch(JSON.stringify(receiver.requests.map(({ headers, body }) => ({ headers, body }))), /canary/);
  t.notMatch(JSON.stringify(again.facts.filter(({ type }) => type === 'notify.failed')), /canary/);
  t.notMatch(JSON.stringify(await again.blocks.notifyTargets()), /canary/, 'the path of an address may be a secret');
});

t.test('a server that is killed between the delivery and the note of it sends the same id again', async (t) => {
  const daemon = await startUpstream(t, repeatingDaemon);
  let child: ChildProcess | undefined;
  const receiver = await startReceiver(t, async (_request, res, index) => {
    if (index === 0) {
      child?.kill('SIGKILL'); // the receiver has it, and the sender will never know
      await once(child as ChildProcess, 'exit');
    }
    res.writeHead(200).end();
  });
  const one = await notifyingCore(t, { env: { OLLAMA_BASE_URL: daemon.url } });
  await one.create('ada');
  const { secret = '' } = await one.blocks.setNotifyTarget('phone', { url: receiver.url, events: ['message.done'] });
  await one.core.close();
  child = spawn(process.execPath, [...argsForFile(KILLED), one.workspace, daemon.url], { stdio: 'inherit' });
  t.strictSame(await once(child, 'exit'), [null, 'SIGKILL']);
  t.equal(pending(one.workspace).length, 1);
  await notifyingCore(t, { workspace: one.workspace, env: { OLLAMA_BASE_URL: daemon.url } });
  const [first, second] = await receiver.came(secret, 2);
  t.equal(second?.id, first?.id);
  await until('it is noted', () => pending(one.workspace).length === 0);
});

t.test('those who want it hear of each event, in our own words', async (t) => {
  const [all, some] = [await startReceiver(t), await startReceiver(t)];
  const one = await notifyingCore(t, {
    answer: (request, res) => {
      if (!request.body.includes('fail')) return repeatingDaemon(request, res, 0);
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"canary-provider words"}');
    },
  });
  const events = ['message.failed', 'cap.reached', 'message.done'] as const;
  const { secret = '' } = await one.blocks.setNotifyTarget('all', { url: all.url, events: [...events] });
  const { secret: other = '' } = await one.blocks.setNotifyTarget('some', { url: some.url, events: ['message.failed'], blocks: ['team-*', 'eve'] });
  for (const name of ['ada', 'team-red']) {
    await one.create(name);
    await one.blocks.start(name);
  }
  await one.ask('ada', 'canary-text');
  await one.blocks.post('ada', { message: 'fail' }, 'api');
  await all.came(secret, 2);
  await one.blocks.post('team-red', { message: 'fail' }, 'api');
  await some.came(other, 1);
  one.core.events.emit('block.transitioned', { block: 'ada', from: 'working', to: 'paused', cause: 'BUDGET_REACHED', actor: 'budget' });
  one.core.events.emit('block.transitioned', { block: 'ada', from: 'idle', to: 'paused', cause: 'HALTED', actor: 'user' });
  const told = await all.came(secret, 4);
  t.match(
    told.map(({ type, text, data }) => ({ type, text, code: data.code })),
    [
      { type: 'message.done', text: 'ada has answered a message.' },
      { type: 'message.failed', text: 'A message to ada has failed (UPSTREAM_REJECTED).', code: 'UPSTREAM_REJECTED' },
      { type: 'message.failed', text: 'A message to team-red has failed (UPSTREAM_REJECTED).' },
      { type: 'cap.reached', text: 'ada has reached its cap and pauses.', code: 'BUDGET_REACHED' },
    ],
  );
  t.match(some.received(other), [{ type: 'message.failed', data: { block: 'team-red' } }]);
  t.notMatch(JSON.stringify([...all.requests, ...some.requests].map(({ body }) => body)), /canary/);
});

t.test('of a call that was decided before its notice could be delivered, nobody hears', async (t) => {
  const port = await freePort();
  const one = await waitingCall(t, { url: `http://127.0.0.1:${port}/` });
  const approval = await one.ask();
  const { workspace, core } = one.server;
  await until('it waits', () => pending(workspace).length === 1);
  await core.blocks.decide('ada', approval.id, { decision: 'deny', digest: approval.digest }, { channel: 'cli', name: 'token' });
  await until('it is gone', () => pending(workspace).length === 0);
});

t.test('links survive a restart; those of a target that is removed open nothing', async (t) => {
  const one = await waitingCall(t);
  await one.ask();
  const ticket = (await one.link()).split('/').at(-1) ?? '';
  const { workspace } = one.server;
  await one.server.core.close();
  const again = await notifyingCore(t, { workspace, tools: one.host });
  t.match(await again.blocks.linkedApproval(ticket), { approval: { tool: 'bank/pay', arguments: { to: 'bob' } } });
  await again.blocks.removeNotifyTarget('phone');
  await t.rejects(again.blocks.linkedApproval(ticket), { code: 'NOT_FOUND' });
  await t.rejects(again.blocks.decideByLink(ticket, { decision: 'approve' }), { code: 'NOT_FOUND' });
  t.same(readdirSync(join(workspace, 'notify/tickets')), []);
});

t.test('a receiver that takes no connection, answers nothing, or answers late or without end holds up no other one, and no end', async (t) => {
  const mute = await startReceiver(t, () => undefined);
  const endless = await startReceiver(t, (_request, res) => {
    res.writeHead(200);
    const more = setInterval(() => res.write('x'.repeat(65_536)), 1);
    res.on('close', () => clearInterval(more));
  });
  const good = await startReceiver(t);
  const one = await startCore(t, { notices: createNoticeSender({ connectMs: 300, answerMs: 300 }) });
  await one.create('ada');
  const events = ['message.done'] as const;
  for (const [name, url] of Object.entries({ closed: `http://127.0.0.1:${await freePort()}`, mute: mute.url, endless: endless.url }))
    await one.blocks.setNotifyTarget(name, { url, events: [...events] });
  const { secret = '' } = await one.blocks.setNotifyTarget('good', { url: good.url, events: [...events] });
  await one.blocks.start('ada');
  await one.ask('ada', 'Hello.');
  await good.came(secret, 1);
  await one.told('notify.failed', { target: 'closed', status: null, isFinal: false });
  await one.told('notify.failed', { target: 'mute', status: null, isFinal: false });
  await until('the endless one has it', () => pending(one.workspace, 'endless').length === 0);
  t.equal(pending(one.workspace, 'mute').length, 1);
  const from = performance.now();
  await one.core.close();
  t.ok(performance.now() - from < 10_000);
});

t.test('of two servers of one database, the one that has the block tells of it, once', { skip: noPostgres }, async (t) => {
  const store = await migratedStore(t);
  const receiver = await startReceiver(t);
  const one = await notifyingCore(t, { store: await connectStore(store) });
  const two = await notifyingCore(t, { store: await connectStore(store) });
  const { secret = '' } = await one.blocks.setNotifyTarget('phone', { url: receiver.url, events: ['message.done'] });
  const { secret: other = '' } = await two.blocks.setNotifyTarget('phone', { url: receiver.url, events: ['message.done'] });
  await one.create('ada', RUNNABLE);
  await one.blocks.start('ada');
  const { id } = await two.blocks.post('ada', { message: 'Hello.' }, 'api');
  await two.blocks.answer('ada', id, { waitMs: 20_000 });
  await until('it has come', () => receiver.requests.length === 1);
  const { id: next } = await one.blocks.post('ada', { message: 'Again.' }, 'api');
  await one.blocks.answer('ada', next, { waitMs: 20_000 });
  await until('the other one has come', () => receiver.requests.length === 2);
  const told = receiver.requests.map(({ body }) => JSON.parse(body).data.messageId);
  t.same(told, [id, next], 'each once');
  t.ok(secret !== other);
});
