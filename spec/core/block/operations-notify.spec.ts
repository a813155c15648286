import t from 'tap';
import { notifyingCore } from '../../support/notify/receiver.ts';
import { startCore } from '../../support/blocks.ts';

const URL = 'http://127.0.0.1:9/in';

t.test('a target gets a secret once, keeps it, and gets another one on demand', async (t) => {
  const one = await notifyingCore(t);
  const first = await one.blocks.setNotifyTarget('phone', { url: URL });
  t.match(first, { success: true, secret: /^whsec_/, target: { events: ['approval.asked', 'message.failed', 'cap.reached'], blocks: null, links: false } });
  const again = await one.blocks.setNotifyTarget('phone', { url: URL, blocks: ['team-*'] });
  t.notOk(again.secret);
  t.same(again.target.blocks, ['team-*']);
  const renewed = await one.blocks.setNotifyTarget('phone', { url: URL, newSecret: true });
  t.match(renewed.secret, /^whsec_/);
  t.not(renewed.secret, first.secret);
  t.notMatch(JSON.stringify(await one.blocks.notifyTargets()), /whsec_/);
});

t.test('a sixth target is refused, and a removed one makes room', async (t) => {
  const one = await notifyingCore(t);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await one.blocks.setNotifyTarget(name, { url: URL });
  await t.rejects(one.blocks.setNotifyTarget('f', { url: URL }), { code: 'INVALID_REQUEST', message: /at most 5/ });
  await one.blocks.removeNotifyTarget('a');
  await one.blocks.setNotifyTarget('f', { url: URL });
  t.same(
    (await one.blocks.notifyTargets()).targets.map(({ name }) => name),
    ['b', 'c', 'd', 'e', 'f'],
  );
  await t.rejects(one.blocks.removeNotifyTarget('a'), { code: 'NOTIFY_TARGET_NOT_FOUND', status: 404 });
  await t.rejects(one.blocks.testNotifyTarget('a'), { code: 'NOTIFY_TARGET_NOT_FOUND' });
});

t.test('a core that can send nothing takes no targets', async (t) => {
  const one = await startCore(t);
  await t.rejects(one.blocks.setNotifyTarget('phone', { url: URL }), { code: 'WRONG_STATE' });
  t.same(await one.blocks.notifyTargets(), { targets: [] });
});
