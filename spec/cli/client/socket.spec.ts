import t from 'tap';
import { Client } from '../../../cli/client/client.ts';
import { type FeedListener, openFeed } from '../../../cli/client/socket.ts';
import type { CliError } from '../../../cli/terminal/exit-codes.ts';
import { startFakeBlockServer } from '../../support/fake-block-server.ts';
import { until } from '../../support/until.ts';

const silent = (): void => undefined;

function listening(): FeedListener & { heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    refresh: () => heard.push('refresh'),
    step: ({ event }) => heard.push(event),
    gone: () => heard.push('gone'),
    lost: ({ kind }) => heard.push(`lost ${kind}`),
  };
}

t.test('it subscribes to replies, too, and hears of its own block only', async (t) => {
  const server = await startFakeBlockServer(t, silent);
  const listener = listening();
  const feed = await openFeed(server.api.client, 'b', listener);
  t.same(server.frames, [{ type: 'subscribe', block: 'b', stream: true }]);
  for (const frame of [
    { type: 'refresh', block: 'other' },
    { type: 'pong' },
    { type: 'stream', block: 'b', id: 'm', seq: 1, event: 'start' },
    { type: 'gone', block: 'b' },
  ])
    server.push(frame);
  await until('everything is heard', () => listener.heard.length === 3);
  t.same(listener.heard, ['refresh', 'start', 'gone']);
  feed.close();
});

t.test('a refused token, a refused block and a server that is away are told apart', async (t) => {
  const away = await startFakeBlockServer(t, silent);
  const place = { ...away.place, url: new URL('http://127.0.0.1:1') };
  await t.rejects(openFeed(new Client(place, new AbortController().signal), 'b', listening()), { kind: 'server', message: /^(?!.*bh_token)/ });
  const strange = await startFakeBlockServer(t, silent, (socket) => socket.send('{"type":"error","code":"BLOCK_NOT_FOUND","error":"There is no block b."}'));
  await t.rejects(openFeed(strange.api.client, 'b', listening()), { kind: 'usage', message: 'There is no block b.' });
});

t.test('a connection that ends is told once, and not after close', async (t) => {
  const server = await startFakeBlockServer(t, silent);
  const lost = listening();
  await openFeed(server.api.client, 'b', lost);
  server.drop();
  await until('it is told', () => lost.heard.length > 1);
  t.same(lost.heard, ['refresh', 'lost server']);
  const refused = listening();
  await openFeed(server.api.client, 'b', refused);
  server.push({ type: 'error', code: 'BLOCK_NOT_FOUND', error: 'There is no block b.' });
  await until('it is told', () => refused.heard.length > 1);
  const closed = listening();
  const feed = await openFeed(server.api.client, 'b', closed);
  feed.close();
  await until('both connections have ended', () => server.followers === 0);
  (await openFeed(server.api.client, 'b', listening())).close(); // the clients have learned it by now
  t.same(refused.heard, ['refresh', 'lost usage']);
  t.same(closed.heard, ['refresh']);
});

t.test('what is no frame is passed over', async (t) => {
  const server = await startFakeBlockServer(t, silent, (socket, { block }) => {
    for (const text of ['nonsense', '[]', JSON.stringify({ type: 'refresh', block })]) socket.send(text);
  });
  const listener = listening();
  (await openFeed(server.api.client, 'b', listener)).close();
  t.same(listener.heard, ['refresh']);
});

t.test('a server that answers with a status says which', async (t) => {
  const { createServer } = await import('node:http');
  let status = 401;
  const server = createServer().on('upgrade', (_req, socket) => socket.end(`HTTP/1.1 ${status} No\r\nconnection: close\r\n\r\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const place = { url: new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}`), token: 'bh_token', pid: 1 };
  const kindOf = () => openFeed(new Client(place, new AbortController().signal), 'b', listening()).catch((error: CliError) => error.kind);
  t.equal(await kindOf(), 'credentials');
  status = 403;
  t.equal(await kindOf(), 'server');
});
