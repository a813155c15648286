import t from 'tap';
import { createCollectorSender } from '../../../adapters/outbound/collector-sender.ts';
import { type Answerer, startUpstream } from '../../support/upstream.ts';

async function sent(test: Parameters<typeof startUpstream>[0], answer: Answerer) {
  const receiver = await startUpstream(test, answer);
  const sender = createCollectorSender();
  test.teardown(() => sender.close());
  return { receiver, post: (timeoutMs = 5000) => sender.post(new URL(`${receiver.url}/v1/traces`), { 'x-a': 'b' }, Buffer.from('AB'), timeoutMs) };
}

t.test('one POST with the body and the headers; the answer comes whole, whatever its status', async (t) => {
  for (const status of [200, 204, 308, 400, 503]) {
    const { receiver, post } = await sent(t, (_request, res) => void res.writeHead(status).end(status === 204 ? '' : 'said'));
    const { status: got, body } = await post();
    t.equal(got, status);
    t.equal(body.toString(), status === 204 ? '' : 'said');
    t.match(receiver.requests, [{ method: 'POST', path: '/v1/traces', headers: { 'x-a': 'b', 'content-length': '2' }, body: 'AB' }]);
    t.equal(receiver.requests.length, 1);
  }
});

t.test('of a long answer only the beginning is kept', async (t) => {
  const { post } = await sent(t, (_request, res) => void res.writeHead(200).end('x'.repeat(1_000_000)));
  const { body } = await post();
  t.ok(body.length <= 65_536);
});

t.test('silence and a closed connection are failures, and nothing is sent twice', async (t) => {
  const mute = await sent(t, () => undefined);
  await t.rejects(mute.post(200), { code: 'UPSTREAM_TIMEOUT' });
  const cut = await sent(t, (_request, res) => void res.destroy());
  await t.rejects(cut.post(), { code: 'UPSTREAM_UNREACHABLE' });
  t.equal(mute.receiver.requests.length + cut.receiver.requests.length, 2);
});

/** Answers that go on and on; resolves when all their connections are closed. */
function endless(status: number, next: (write: () => void) => unknown) {
  const closed: Promise<void>[] = [];
  const answer: Answerer = (_request, res) => {
    res.writeHead(status);
    const more = (): void => void (!res.destroyed && res.write('x'.repeat(100), () => next(more)));
    closed.push(new Promise((resolve) => res.once('close', resolve)));
    more();
  };
  return { answer, closed: () => Promise.all(closed) };
}

t.test('an answer that never ends is given up, and its connection with it', async (t) => {
  const slowly = (write: () => void): unknown => setTimeout(write, 20);
  const taken = endless(200, slowly);
  const failed = endless(503, slowly);
  const [{ post }, other] = [await sent(t, taken.answer), await sent(t, failed.answer)];
  const [{ status }] = await Promise.all([post(1500), t.rejects(other.post(1500), { code: 'UPSTREAM_TIMEOUT' })]);
  t.equal(status, 200, 'the collector has said that it has it');
  await Promise.all([taken.closed(), failed.closed()]);
});

t.test('an answer is not read on once it is too long', async (t) => {
  const long = endless(400, setImmediate);
  t.equal((await (await sent(t, long.answer)).post(60_000)).status, 400);
  await long.closed();
});

t.test('what was taken counts as taken, also where the answer breaks off', async (t) => {
  const { post } = await sent(t, (_request, res) => void res.writeHead(200, { 'content-length': 9 }).write('x', () => res.destroy()));
  t.equal((await post()).status, 200);
});
