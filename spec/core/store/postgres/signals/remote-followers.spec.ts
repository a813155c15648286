import t from 'tap';
import type { Step } from '../../../../../core/store/postgres/signals/notices.ts';
import { RemoteFollowers } from '../../../../../core/store/postgres/signals/remote-followers.ts';
import { ReplyMirror } from '../../../../../core/store/postgres/signals/reply-mirror.ts';
import { until } from '../../../../support/until.ts';

const START: Step = { id: 'm1', seq: 1, event: 'start', provider: 'p', model: 'm', attempt: 1 };

t.test('a follower that does not say again that it follows is forgotten', async (t) => {
  let now = 0;
  const sent: unknown[] = [];
  const followers = new RemoteFollowers(
    (node, items) => sent.push([node, items]),
    () => now,
  );
  t.teardown(() => followers.close());
  const source = new ReplyMirror();
  followers.follow('b', 1, 0);
  const end = followers.publish(1, (onStep, since) => source.join(onStep, since));
  t.equal(source.readers, 1);
  now = 24_000;
  followers.follow('b', 1, 0);
  now = 48_000;
  followers.forget();
  t.equal(source.readers, 1);
  now = 49_000;
  followers.forget();
  t.equal(source.readers, 0);
  followers.follow('c', 1, 0);
  source.take(START);
  source.take({ id: 'm1', seq: 2, event: 'content', text: 'x' });
  source.take({ id: 'm1', seq: 3, event: 'content', text: 'y' });
  await until('the pieces are sent', () => sent.length > 0);
  t.match(sent, [['c', [{ step: START }, { step: { seq: 3, event: 'content', text: 'xy' } }]]]);
  end();
  t.equal(source.readers, 0);
});

t.test('servers that somebody makes up do not become more and more followers', async (t) => {
  let now = 0;
  const followers = new RemoteFollowers(
    () => undefined,
    () => now,
  );
  t.teardown(() => followers.close());
  const source = new ReplyMirror();
  followers.publish(1, (onStep, since) => source.join(onStep, since));
  for (let count = 0; count < 500; count += 1) followers.follow(`n${count}`, 1, 0);
  t.equal(source.readers, 100);
  followers.follow('n3', 1, 0);
  t.equal(source.readers, 100);
  for (let block = 2; block < 50_000; block += 1) followers.follow('n', block, 0);
  const late = new ReplyMirror();
  followers.publish(49_999, (onStep, since) => late.join(onStep, since));
  followers.follow('n', 49_999, 0);
  t.equal(late.readers, 0);
  now = 25_000;
  followers.forget();
  followers.follow('n', 49_999, 0);
  t.same([source.readers, late.readers], [0, 1]);
});
