import t, { type Test } from 'tap';
import { Client } from '../../../cli/client/client.ts';
import { SteadyFeed } from '../../../cli/client/steady-feed.ts';
import { startFakeBlockServer } from '../../support/fake-block-server.ts';
import { until } from '../../support/until.ts';

const silent = (): void => undefined;

function listening() {
  const heard: string[] = [];
  return {
    heard,
    refresh: silent,
    step: ({ seq }: { seq: number }) => heard.push(`step ${seq}`),
    gone: () => heard.push('gone'),
    away: () => heard.push('away'),
    back: () => heard.push('back'),
    failed: ({ kind }: { kind: string }) => heard.push(`failed ${kind}`),
  };
}

async function followed(t: Test, client: Client, patienceMs?: number) {
  const listener = listening();
  const feed = await SteadyFeed.open(client, 'b', listener, patienceMs);
  t.teardown(() => feed.close());
  return { heard: listener.heard, feed };
}

t.test('a restarted server is found at its new address, and only the steps after the last one are asked for', async (t) => {
  const [first, second] = [await startFakeBlockServer(t, silent), await startFakeBlockServer(t, silent)];
  let running = first;
  const client = new Client(first.place, new AbortController().signal, async () => running.place);
  const { heard } = await followed(t, client);
  first.push({ type: 'stream', block: 'b', id: 'm', seq: 42, event: 'start' });
  await until('the step is heard', () => heard.length === 1);
  running = second;
  first.close();
  await until('it is back', () => heard.includes('back'));
  t.same(heard, ['step 42', 'away', 'back']);
  t.same(second.frames, [{ type: 'subscribe', block: 'b', stream: true, sinceSeq: 42 }]);
});

t.test('a server that stays away, and a block that is not there any more, end it; close ends it quietly', async (t) => {
  const away = await startFakeBlockServer(t, silent);
  const first = await followed(t, away.api.client, 100);
  away.close();
  await until('it is told', () => first.heard.length === 2);
  t.same(first.heard, ['away', 'failed server']);
  let subscriptions = 0;
  const other = await startFakeBlockServer(t, silent, (socket) => {
    subscriptions += 1;
    socket.send(subscriptions < 3 ? '{"type":"refresh"}' : '{"type":"error","code":"BLOCK_NOT_FOUND","error":"There is no block b."}');
  });
  const closed = await followed(t, other.api.client);
  const second = await followed(t, other.api.client);
  closed.feed.close();
  other.drop();
  await until('it is told', () => second.heard.length === 2);
  t.same(second.heard, ['away', 'failed usage']);
  t.same(closed.heard, []);
});
