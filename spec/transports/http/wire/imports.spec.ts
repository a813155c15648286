import { request as httpRequest } from 'node:http';
import t, { type Test } from 'tap';
import { DEFAULT_IMPORT_LIMITS, type ImportLimits, ImportQueue } from '../../../../transports/http/wire/imports.ts';
import { createBlock } from '../../../support/block-calls.ts';
import { readAnswer, responseOf, startServer, type TestServer, until } from '../../../support/server.ts';

const FOREVER = new AbortController().signal;
const LIMITS: ImportLimits = { atOnce: 2, waiting: 1, patienceMs: 60_000 };

function held(): { readonly work: () => Promise<string>; readonly begun: () => number; end(): void } {
  const ends: (() => void)[] = [];
  return {
    work: () => new Promise((resolve) => ends.push(() => resolve('done'))),
    begun: () => ends.length,
    end: () => ends.shift()?.(),
  };
}

t.test('so many work at once, so many wait, and the next is told to come back', async (t) => {
  const queue = new ImportQueue(LIMITS);
  const { work, begun, end } = held();
  const results = [1, 2, 3].map(() => queue.run(work, FOREVER));
  t.equal(begun(), 2);
  await t.rejects(queue.run(work, FOREVER), { code: 'QUEUE_FULL', retryAfterMs: 5000 });
  end();
  await results[0];
  await until(() => begun() === 2, 'the one that waited');
  end();
  end();
  t.same(await Promise.all(results), ['done', 'done', 'done']);
  t.equal(await queue.run(() => Promise.resolve('free'), FOREVER), 'free');
});

t.test('work that fails gives its place back', async (t) => {
  const queue = new ImportQueue({ ...LIMITS, atOnce: 1, waiting: 0 });
  for (let n = 0; n < 3; n += 1)
    await t.rejects(
      queue.run(() => Promise.reject(new Error('broken')), FOREVER),
      { message: 'broken' },
    );
});

t.test('who leaves while it waits frees its place in the line; work that has begun keeps its own', async (t) => {
  const queue = new ImportQueue({ ...LIMITS, atOnce: 1 });
  const { work, begun, end } = held();
  const leaving = new AbortController();
  const first = queue.run(work, leaving.signal);
  const second = queue.run(work, leaving.signal);
  leaving.abort();
  await t.rejects(second, { code: 'CANCELLED' });
  const third = queue.run(work, FOREVER);
  t.equal(begun(), 1, 'the first still holds its memory');
  await t.rejects(queue.run(work, leaving.signal), { code: 'QUEUE_FULL' });
  end();
  t.equal(await first, 'done');
  await until(() => begun() === 1, 'the third');
  end();
  t.equal(await third, 'done');
  await t.rejects(queue.run(work, leaving.signal), { code: 'CANCELLED' }, 'who has left already does not begin');
});

t.test('nobody waits longer than the patience', async (t) => {
  const queue = new ImportQueue({ atOnce: 1, waiting: 5, patienceMs: 20 });
  const { work, end } = held();
  const first = queue.run(work, FOREVER);
  await t.rejects(queue.run(work, FOREVER), { code: 'QUEUE_FULL' });
  end();
  t.equal(await first, 'done', 'its own patience ended when its turn came');
});

t.test('the default keeps few archives in memory', async (t) => {
  t.ok(DEFAULT_IMPORT_LIMITS.atOnce <= 2);
  t.ok(DEFAULT_IMPORT_LIMITS.patienceMs < 35_000);
});

/** An import that asks to go on before it sends its archive. */
function announced(t: Test, server: TestServer, name: string, archive: Buffer) {
  const request = httpRequest({
    host: '127.0.0.1',
    port: server.port,
    method: 'POST',
    path: `/api/import?name=${name}`,
    agent: false,
    headers: {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/gzip',
      'content-length': String(archive.length),
      expect: '100-continue',
    },
  });
  request.on('error', () => undefined); // it may be cut at the end of the test
  t.teardown(() => request.destroy());
  request.flushHeaders();
  let mayGoOn = false;
  request.once('continue', () => {
    mayGoOn = true;
  });
  return { request, mayGoOn: () => mayGoOn };
}

async function archiveOf(server: TestServer): Promise<Buffer> {
  await createBlock(server, 'a');
  return Buffer.concat(await (await responseOf(server.open('GET', '/api/blocks/a/export'))).toArray());
}

t.test('an import that waits is not received before its turn, and all else is served meanwhile', async (t) => {
  const server = await startServer(t, { http: { imports: { atOnce: 1 } } });
  const archive = await archiveOf(server);
  const first = announced(t, server, 'one', archive);
  await until(first.mayGoOn, 'the first import to be taken');
  const second = announced(t, server, 'two', archive);
  for (let n = 0; n < 5; n += 1) t.match(await server.call('GET', '/v1/adapters'), { status: 200 });
  t.equal(second.mayGoOn(), false);
  first.request.end(archive);
  t.match(await readAnswer(await responseOf(first.request)), { status: 200, json: { name: 'one' } });
  await until(second.mayGoOn, 'the second import to be taken');
  second.request.end(archive);
  t.match(await readAnswer(await responseOf(second.request)), { status: 200, json: { name: 'two' } });
});

t.test('what the headers alone refuse does not wait for a turn', async (t) => {
  const server = await startServer(t, { http: { imports: { atOnce: 1, waiting: 0 } } });
  const archive = await archiveOf(server);
  const first = announced(t, server, 'one', archive);
  await until(first.mayGoOn, 'the first import to be taken');
  const send = (headers: Record<string, string>) => server.call('POST', '/api/import', { body: 'x', headers });
  t.match(await send({ 'content-type': 'text/plain' }), { status: 415 });
  t.match(await send({ 'content-type': 'application/gzip', 'content-length': String(65 * 1024 * 1024) }), { status: 413 });
  t.match(await server.call('POST', '/api/import', { headers: { 'content-type': 'application/gzip' } }), { status: 400 });
});

t.test('one import too many is a 429 with Retry-After, and is taken later', async (t) => {
  const server = await startServer(t, { http: { imports: { atOnce: 1, waiting: 0 } } });
  const archive = await archiveOf(server);
  const first = announced(t, server, 'one', archive);
  await until(first.mayGoOn, 'the first import to be taken');
  const send = () => server.call('POST', '/api/import?name=two', { body: archive, headers: { 'content-type': 'application/gzip' } });
  t.match(await send(), { status: 429, headers: { 'retry-after': '5' }, json: { code: 'QUEUE_FULL' } });
  first.request.end(archive);
  t.match(await readAnswer(await responseOf(first.request)), { status: 200 });
  t.match(await send(), { status: 200, json: { name: 'two' } });
});
