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
