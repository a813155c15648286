import { effect } from '@preact/signals';
import t from 'tap';
import { events, readEarlier, runEvents } from '../../../../transports/dashboard/data/events.ts';
import { provide, type Services } from '../../../../transports/dashboard/data/services.ts';
import type { Topic } from '../../../../transports/dashboard/data/socket.ts';

/** Resolves when so many events are shown. */
function shown(count: number): Promise<void> {
  return new Promise((resolve) => {
    const end = effect(() => {
      if (events.value.length >= count) setImmediate(() => end());
      if (events.value.length >= count) resolve();
    });
  });
}

t.test('what is read again because something earlier is wanted is there once, also if the first copy was not shown yet', async (t) => {
  const topics: Topic[] = [];
  const begun: object[] = [];
  const socket = { follow: (topic: Topic) => void topics.push(topic), followAnew: (topic: Topic) => void begun.push(topic.begin()) };
  provide({ socket } as unknown as Services);
  runEvents();
  const frame = (seq: number) => ({ type: 'event', seq, at: '2026-11-24T12:00:00.000Z', name: 'block.created', data: {} });
  topics[0]?.take(frame(2));
  readEarlier();
  t.strictSame(begun, [{ type: 'subscribe', events: true, since: 0 }]);
  for (const seq of [1, 2, 3]) topics[0]?.take(frame(seq));
  await shown(3);
  t.strictSame(
    events.value.map(({ seq }) => seq),
    [3, 2, 1],
  );
  t.strictSame(topics[0]?.begin(), { type: 'subscribe', events: true, since: 3 }, 'a new connection goes on after the newest');
  topics[0]?.take(frame(3));
  topics[0]?.take(frame(4));
  await shown(4);
  t.strictSame(
    events.value.map(({ seq }) => seq),
    [4, 3, 2, 1],
  );
  const progress = (done: number) => ({ ...frame(4), name: 'tool.progressed', data: { progress: done } });
  for (const done of [1, 2]) topics[0]?.take(progress(done));
  await shown(5);
  topics[0]?.take(progress(3));
  topics[0]?.take(frame(5));
  await shown(6);
  t.strictSame(
    events.value.map(({ seq, name, data }) => [seq, name === 'tool.progressed' ? data['progress'] : '']),
    [
      [5, ''],
      [4, 3],
      [4, ''],
      [3, ''],
      [2, ''],
      [1, ''],
    ],
    'of progress the newest, which is newer than the event whose number it has',
  );
});
