import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import t from 'tap';
import { createNoticeSender } from '../../../adapters/outbound/notice-sender.ts';
import { never } from '../../../core/base/abort.ts';
import { type Answerer, startUpstream } from '../../support/upstream.ts';

const BODY = Buffer.from('{"type":"test"}');
const HEADERS = { 'content-type': 'application/json', 'webhook-id': 'msg_1' };

async function sent(test: Parameters<typeof startUpstream>[0], answer: Answerer, times = { connectMs: 500, answerMs: 500 }) {
  const receiver = await startUpstream(test, answer);
  const sender = createNoticeSender(times);
  test.teardown(() => sender.close());
  return { receiver, sender, send: (path = '/in?a=1', signal = never()) => sender.send(new URL(`${receiver.url}${path}`), HEADERS, BODY, signal) };
}

t.test('one POST with the body and the headers; the status is the answer', async (t) => {
  for (const status of [200, 204, 299, 400, 410, 500]) {
    const { receiver, send } = await sent(t, (_request, res) => void res.writeHead(status).end());
    t.equal(await send(), status);
    t.match(receiver.requests, [{ method: 'POST', path: '/in?a=1', headers: HEADERS, body: BODY.toString() }]);
  }
});

t.test('a redirect is an answer, and is not followed', async (t) => {
  const { receiver, send } = await sent(t, (_request, res) => void res.writeHead(308, { location: '/elsewhere' }).end());
  t.equal(await send(), 308);
  t.equal(receiver.requests.length, 1);
});

t.test('a receiver that says nothing in time is UPSTREAM_TIMEOUT, and a closed connection is told as one; nothing is sent twice', async (t) => {
  const mute = await sent(t, () => undefined, { connectMs: 200, answerMs: 200 });
  await t.rejects(mute.send(), { code: 'UPSTREAM_TIMEOUT' });
  t.equal(mute.receiver.requests.length, 1);
  const cut = await sent(t, (_request, res) => void res.destroy());
  await t.rejects(cut.send(), { code: 'UPSTREAM_UNREACHABLE' });
  t.equal(cut.receiver.requests.length, 1);
});

t.test('an answer without end is over with its head', async (t) => {
  const { receiver, send } = await sent(t, (_request, res) => {
    res.writeHead(202);
    const more = setInterval(() => res.write('x'.repeat(65_536)), 1);
    res.on('close', () => clearInterval(more));
  });
  t.equal(await send(), 202);
  await receiver.requests[0]?.closed;
});

t.test('a compressed answer is an answer, too', async (t) => {
  const { send } = await sent(t, (_request, res) => void res.writeHead(404, { 'content-encoding': 'gzip' }).end());
  t.equal(await send(), 404);
});

t.test('link-local, metadata and unroutable addresses are not called', async (t) => {
  const { sender } = await sent(t, () => undefined);
  for (const url of [
    'https://169.254.169.254/latest',
    'https://[fe80::1]/',
    'https://metadata.google.internal/',
    'https://0.0.0.0/',
    'https://100.100.100.200/',
  ])
    await t.rejects(sender.send(new URL(url), HEADERS, BODY, never()), { code: 'INVALID_REQUEST' }, url);
});

t.test('what a name leads to is judged when it is called', async (t) => {
  const { lookup } = dns;
  t.teardown(() => {
    dns.lookup = lookup;
    syncBuiltinESMExports();
  });
  dns.lookup = ((_name: string, _options: object, done: (error: null, found: object[]) => void) =>
    done(null, [{ address: '169.254.169.254', family: 4 }])) as unknown as typeof lookup;
  syncBuiltinESMExports();
  const sender = createNoticeSender({ connectMs: 500, answerMs: 500 });
  t.teardown(() => sender.close());
  await t.rejects(sender.send(new URL('https://rebound.example/'), HEADERS, BODY, never()), { code: 'INVALID_REQUEST', message: /link-local/ });
});

t.test('an end of the server ends what is under way', async (t) => {
  const { receiver, send, sender } = await sent(t, () => undefined, { connectMs: 5000, answerMs: 5000 });
  const leaving = new AbortController();
  const left = send('/', leaving.signal);
  await receiver.arrived(0);
  leaving.abort();
  await t.rejects(left, { code: 'CANCELLED' });
  const closed = send();
  await receiver.arrived(1);
  await sender.close();
  await t.rejects(closed, { code: 'SHUTTING_DOWN' });
});
