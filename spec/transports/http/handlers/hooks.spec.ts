import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { createBlock } from '../../../support/block-calls.ts';
import { startServer } from '../../../support/server.ts';

const BODY = '{"issue":"It does not start."}';

interface Sent {
  readonly body?: string;
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function hooked(t: Test, hook: object = {}) {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const made = await server.call('PUT', '/api/blocks/a/hooks/issues', { body: { message: 'Sort it.', ...hook } });
  t.equal(made.status, 200);
  const secret = made.json['secret'] as string;
  /** Without the token. */
  const deliver = async (path = '/api/hooks/a/issues', { body = BODY, id = 'm1', headers = {} }: Sent = {}) => {
    const now = new Date();
    const signature = new Webhook(secret).sign(id, now, body);
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': signature,
        ...headers,
      },
    });
    return { status: response.status, headers: response.headers, json: (await response.json()) as Record<string, unknown> };
  };
  return { server, secret, deliver };
}

t.test('case 42: a signed delivery is 202 without a token, again the same, and marked as from outside', async (t) => {
  const { server, deliver } = await hooked(t);
  const first = await deliver();
  t.match(first, { status: 202, json: { messageId: /^m/ } });
  t.same((await deliver()).json, first.json);
  t.match((await server.call('GET', '/api/blocks/a/chat')).json, {
    messages: [{ id: first.json['messageId'], channel: 'hook', chain: [{ via: 'hook', hook: 'issues' }], status: 'queued' }],
  });
});

t.test('wrong, late and unknown are 401 alike', async (t) => {
  const { deliver, secret } = await hooked(t);
  const late = new Date(Date.now() - 301_000);
  const cases: [path: string, sent: Sent][] = [
    ['/api/hooks/nobody/issues', {}],
    ['/api/hooks/a/other', {}],
    ['/api/hooks/A%20b/__proto__', {}],
    ['/api/hooks/a/issues', { headers: { 'webhook-signature': 'v1,AAAA' } }],
    ['/api/hooks/a/issues', { headers: { 'webhook-signature': new Webhook(secret).sign('m2', new Date(), BODY) } }],
    [
      '/api/hooks/a/issues',
      { headers: { 'webhook-timestamp': String(Math.floor(late.getTime() / 1000)), 'webhook-signature': new Webhook(secret).sign('m1', late, BODY) } },
    ],
    ['/api/hooks/a/issues', { headers: { 'webhook-id': '', 'webhook-signature': '' } }],
    [
      '/api/hooks/a/issues',
      { headers: { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`, 'webhook-signature': 'v1' } },
    ],
  ];
  const answers = new Set<string>();
  for (const [path, sent] of cases) {
    const { status, json, headers } = await deliver(path, sent);
    const { requestId: _request, ...rest } = json;
    answers.add(JSON.stringify({ status, rest, headers: [...headers.keys()].filter((name) => name !== 'connection' && name !== 'keep-alive').sort() }));
    t.match({ status, rest }, { status: 401, rest: { code: 'HOOK_REFUSED' } }, `${path} ${JSON.stringify(sent).slice(0, 60)}`);
  }
  t.equal(answers.size, 1);
});

t.test('size and type are judged before anything else, whoever asks for whatever block', async (t) => {
  const { server, deliver } = await hooked(t);
  for (const path of ['/api/hooks/a/issues', '/api/hooks/nobody/x']) {
    t.match(await deliver(path, { body: JSON.stringify('x'.repeat(256 * 1024)) }), { status: 413, json: { code: 'BODY_TOO_LARGE' } }, path);
    for (const type of ['application/octet-stream', 'image/png', 'multipart/form-data; boundary=x'])
      t.match(await deliver(path, { headers: { 'content-type': type } }), { status: 415, json: { code: 'UNSUPPORTED_MEDIA_TYPE' } }, type);
    t.match(await deliver(path, { headers: { 'content-encoding': 'gzip' } }), { status: 415 });
  }
  for (const [id, type] of Object.entries({ f: 'application/x-www-form-urlencoded', t: 'text/plain; charset=utf-8', j: 'application/cloudevents+json' }))
    t.match(await deliver(undefined, { id, headers: { 'content-type': type } }), { status: 202 }, type);
  t.equal((await fetch(`${server.url}/api/hooks/a/issues`)).status, 401, 'only deliveries need no token');
});

t.test('a body that nobody has signed is not read', async (t) => {
  const { server } = await hooked(t);
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write(`POST /api/hooks/a/issues HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 200000\r\n\r\n{`);
  const answer = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
  t.match(answer, /^HTTP\/1\.1 401 /, 'at once, with one byte of 200,000');
});

t.test('bodies of unknown senders take no room from the token at the same address, as behind a proxy', async (t) => {
  const MIB = 1024 * 1024;
  const server = await startServer(t, { http: { bodies: { bytes: 2 * MIB, patienceMs: 50 } } });
  await createBlock(server, 'a');
  const port = Number(new URL(server.url).port);
  const signature = `x-hub-signature-256: sha256=${'0'.repeat(64)}`;
  const held: Socket[] = [];
  for (let n = 0; n < 8; n += 1) {
    const socket = connect(port, '127.0.0.1');
    held.push(socket);
    t.teardown(() => socket.destroy());
    socket.write(
      `POST /api/hooks/a/issues HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n${signature}\r\nexpect: 100-continue\r\ncontent-length: 262144\r\n\r\n`,
    );
  }
  const answers = await Promise.all(
    held.map((socket) => new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString().slice(0, 12))))),
  );
  t.strictSame(answers.filter((one) => one === 'HTTP/1.1 100').length, 7, 'seven eighths of the room');
  const body = { config: { systemPrompt: 'x'.repeat(200_000) } };
  t.match(await server.call('PUT', '/api/blocks/a/config', { body: body.config }), { status: 200 });
});

t.test('hooks are listed without secrets, and removed', async (t) => {
  const { server, secret, deliver } = await hooked(t, { style: 'standard', perHour: 1 });
  const listed = await server.call('GET', '/api/blocks/a/hooks');
  t.match(listed, { status: 200, json: { hooks: [{ id: 'issues', path: '/api/hooks/a/issues', hasSecret: true }] } });
  t.notMatch(JSON.stringify(listed.json), secret.slice(6));
  await deliver();
  const limited = await deliver(undefined, { id: 'm2' });
  t.match(limited, { status: 429, json: { code: 'HOOK_LIMIT' } });
  t.ok(Number(limited.headers.get('retry-after')) > 3000);
  t.match(await server.call('DELETE', '/api/blocks/a/hooks/issues'), { status: 200, json: { success: true } });
  t.match(await server.call('DELETE', '/api/blocks/a/hooks/issues'), { status: 404, json: { code: 'HOOK_NOT_FOUND' } });
  t.match(await deliver(), { status: 401 });
  t.match(await server.call('PUT', '/api/blocks/a/hooks/x', { body: {} }), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.equal((await fetch(`${server.url}/api/blocks/a/hooks`)).status, 401);
});

t.test('a full queue is 503 with a time', async (t) => {
  const { server, deliver } = await hooked(t);
  await server.call('PUT', '/api/blocks/a/config', { body: { queue: { cap: 1 } } });
  await deliver();
  const busy = await deliver(undefined, { id: 'm2' });
  t.match(busy, { status: 503, json: { code: 'HOOK_BUSY' } });
  t.equal(busy.headers.get('retry-after'), '5');
});
