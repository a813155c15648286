import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../../support/until.ts';
import { notifyingCore, startReceiver } from '../../support/notify/receiver.ts';

t.test('an answered message is told to a target that wants to hear of it, signed', async (t) => {
  const receiver = await startReceiver(t);
  const one = await notifyingCore(t);
  await one.create('ada');
  const { secret = '', target } = await one.blocks.setNotifyTarget('phone', { url: `${receiver.url}/in`, events: ['message.done'] });
  t.match(target, { name: 'phone', url: `${receiver.url}/…`, events: ['message.done'], state: 'on', pending: 0, dropped: 0, last: null });
  const asked = one.ask('ada', 'Say canary-7f3.');
  await one.blocks.start('ada');
  await asked;
  const [notice] = await receiver.came(secret, 1);
  t.match(notice, { type: 'message.done', text: 'ada has answered a message.', data: { block: 'ada', messageId: String } });
  t.notMatch(receiver.requests[0]?.body, /canary/);
  await until('nothing is pending', () => readdirSync(join(one.workspace, 'notify/pending-phone')).length === 0);
  t.match((await one.blocks.notifyTargets()).targets, [{ pending: 0, last: { status: 204 } }]);
});

t.test('without a target, nothing is made, loaded or timed', async (t) => {
  const one = await notifyingCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'Hello.');
  t.notOk(existsSync(join(one.workspace, 'notify')));
});
