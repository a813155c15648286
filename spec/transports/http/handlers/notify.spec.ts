import t from 'tap';
import { createNoticeSender } from '../../../../adapters/outbound/notice-sender.ts';
import { startReceiver } from '../../../support/notify/receiver.ts';
import { startServer } from '../../../support/server.ts';

t.test('a target is made, listed, tried, replaced and removed', async (t) => {
  const receiver = await startReceiver(t);
  const server = await startServer(t, { notices: createNoticeSender() });
  t.match(await server.call('GET', '/api/notify'), { status: 200, json: { targets: [] } });
  const made = await server.call('PUT', '/api/notify/phone', { body: { url: receiver.url } });
  t.match(made, { status: 200, json: { success: true, secret: /^whsec_/, target: { name: 'phone', state: 'on' } } });
  t.match(await server.call('POST', '/api/notify/phone/test'), { status: 200, json: { delivered: true, status: 204, problem: null } });
  t.match(receiver.received(String(made.json['secret'])), [{ type: 'test' }]);
  t.equal((await server.call('PUT', '/api/notify/phone', { body: { url: receiver.url } })).json['secret'], undefined);
  t.match(await server.call('DELETE', '/api/notify/phone'), { status: 200, json: { success: true } });
  for (const [method, path] of [
    ['DELETE', '/api/notify/phone'],
    ['POST', '/api/notify/phone/test'],
  ] as const)
    t.match(await server.call(method, path), { status: 404, json: { code: 'NOTIFY_TARGET_NOT_FOUND' } });
});

t.test('nobody without the token sees or sets a target, and bodies that lie are refused', async (t) => {
  const server = await startServer(t, { notices: createNoticeSender() });
  const key = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json['secret'] as string | undefined;
  for (const [method, path] of [
    ['GET', '/api/notify'],
    ['PUT', '/api/notify/phone'],
    ['DELETE', '/api/notify/phone'],
    ['POST', '/api/notify/phone/test'],
  ] as const) {
    t.equal((await server.call(method, path, { token: false })).status, 401, path);
    if (key !== undefined) t.equal((await server.call(method, path, { token: false, headers: { authorization: `Bearer ${key}` } })).status, 403, path);
  }
  for (const body of [undefined, '{', '[]', { url: 'http://8.8.8.8/' }, { url: 'https://x.example', more: 1 }])
    t.equal((await server.call('PUT', '/api/notify/phone', { body: body as never })).status, 400, JSON.stringify(body));
});
