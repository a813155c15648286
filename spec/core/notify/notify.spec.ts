import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { newSecret } from '../../../core/base/webhook-signature.ts';
import type { StartedCore } from '../../support/blocks.ts';
import { notifyingCore, startReceiver } from '../../support/notify/receiver.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const EVENTS = ['message.done'] as const;

/** Waits until the targets are so: auth.json is looked at now and then. */
async function shown(one: StartedCore, targets: readonly object[]): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const found = (await one.blocks.notifyTargets()).targets;
    const isSo =
      found.length === targets.length &&
      targets.every((target, index) => Object.entries(target).every(([name, value]) => found[index]?.[name as never] === value));
    if (isSo) return;
    if (performance.now() > deadline) throw new Error(`the targets are ${JSON.stringify(found)}`);
    await delay(10);
  }
}

t.test('a target is in auth.json alone, which only this user reads, and no provider is made of it', async (t) => {
  const one = await notifyingCore(t);
  const { secret = '' } = await one.blocks.setNotifyTarget('phone', { url: 'http://127.0.0.1:9/canary' });
  const file = join(one.workspace, 'auth.json');
  t.match(JSON.parse(readFileSync(file, 'utf8')), { notify: { phone: { url: 'http://127.0.0.1:9/canary', secret } } });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same(one.core.credentials?.ids(), []);
  t.equal(one.core.credentials?.read('notify'), undefined);
  t.equal(await one.core.credentials?.remove('notify'), false);
  await t.rejects(one.core.connections.set?.('notify', {}) ?? Promise.reject(new Error('none')));
  t.notMatch(JSON.stringify(await one.core.check()), /canary|whsec|notify/);
  await one.blocks.removeNotifyTarget('phone');
  t.same(JSON.parse(readFileSync(file, 'utf8')), {});
});

t.test('targets that are written by hand, while the server runs or before, are told', async (t) => {
  const receiver = await startReceiver(t);
  const secret = newSecret();
  const one = await notifyingCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  writeFileSync(
    join(one.workspace, 'auth.json'),
    JSON.stringify({ notify: { hand: { url: receiver.url, events: EVENTS, secret }, bad: { url: 'http://push.example' } } }),
  );
  await shown(one, [{ name: 'hand', state: 'on' }]);
  await one.told('workspace.fault', {
    what: 'notify',
    error: "The target bad of notifications in auth.json can't be used: secret must be whsec_ and 24 to 64 bytes in base64",
  });
  await one.ask('ada', 'Hello.');
  await receiver.came(secret, 1);
  await one.core.close();
  const again = await notifyingCore(t, { workspace: one.workspace });
  await again.blocks.start('ada');
  await again.ask('ada', 'Again.');
  await receiver.came(secret, 2);
});

t.test('a damaged auth.json loses nothing that waits, and a target that becomes unusable stays as it was', async (t) => {
  const one = await notifyingCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.blocks.setNotifyTarget('phone', { url: `http://127.0.0.1:${await freePort()}/`, events: [...EVENTS] });
  await one.ask('ada', 'Hello.');
  const folder = join(one.workspace, 'notify/pending-phone');
  await shown(one, [{ name: 'phone', pending: 1 }]);
  const file = join(one.workspace, 'auth.json');
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, '{');
  await t.rejects(one.blocks.setNotifyTarget('desk', { url: 'https://push.example/' }), { code: 'ADAPTER_NOT_CONFIGURED' });
  writeFileSync(file, JSON.stringify({ notify: { phone: { url: 5 } } }));
  await until('it is seen', () => {
    void one.blocks.notifyTargets();
    return one.factsOf('workspace.fault').length > 0;
  });
  await one.told('workspace.fault', { what: 'notify', error: "The target phone of notifications in auth.json can't be used: url is missing" });
  t.match((await one.blocks.notifyTargets()).targets, [{ name: 'phone', pending: 1 }]);
  writeFileSync(file, good);
  t.match((await one.blocks.notifyTargets()).targets, [{ name: 'phone', pending: 1 }]);
  t.equal(readdirSync(folder).length, 1);
  writeFileSync(file, '{}');
  await shown(one, []);
  t.same(readdirSync(folder), [], 'one that was removed by hand is gone with what waited for it');
});

t.test('bodies and names that lie are refused, and name the field', async (t) => {
  const one = await notifyingCore(t);
  const url = 'https://push.example/';
  const wrong: [name: string, body: object, message: RegExp][] = [
    ['Phone', { url }, /^name /],
    ['../x', { url }, /^name /],
    ['', { url }, /^name /],
    ['__proto__', { url }, /^name /],
    ['phone', {}, /^url /],
    ['phone', { url: 'http://push.example/' }, /^url must be https/],
    ['phone', { url, events: [] }, /^events /],
    ['phone', { url, events: ['all'] }, /^events/],
    ['phone', { url, blocks: [] }, /^blocks /],
    ['phone', { url, links: true }, /^publicURL is missing/],
    ['phone', { url, secret: newSecret() }, /^secret /],
  ];
  for (const [name, body, message] of wrong)
    await t.rejects(one.blocks.setNotifyTarget(name, body as never), { code: 'INVALID_REQUEST', message }, JSON.stringify([name, body]));
  t.notOk(existsSync(join(one.workspace, 'notify')));
  await one.blocks.setNotifyTarget('constructor', { url });
  t.match((await one.blocks.notifyTargets()).targets, [{ name: 'constructor' }]);
});
