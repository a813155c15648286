import t from 'tap';
import { BlockhouseError } from '../../../../../core/index.ts';
import { toolCall } from '../../../../../transports/http/handlers/mcp/tool-call.ts';
import type { RouteContext } from '../../../../../transports/http/wire/route.ts';
import { callByHand, serveMcp } from '../../../../support/mcp-clients.ts';
import type { TestServer } from '../../../../support/server.ts';

const post = (server: TestServer, body: unknown, headers: Record<string, string> = {}) => server.call('POST', '/mcp', { body, headers });
const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });

t.test('an earlier revision that is known is agreed on, another one becomes the newest of them', async (t) => {
  const { server } = await serveMcp(t);
  const initialize = async (protocolVersion: unknown) =>
    (await post(server, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion } })).json['result'];
  t.match(await initialize('2025-03-26'), {
    protocolVersion: '2025-03-26',
    capabilities: { tools: {} },
    serverInfo: { name: 'blockhouse' },
    instructions: String,
  });
  for (const other of ['2026-07-28', '1999-01-01', 5, undefined]) t.match(await initialize(other), { protocolVersion: '2025-11-25' });
});

t.test('a method that is not there, and a notification', async (t) => {
  const { server } = await serveMcp(t);
  t.match(await post(server, { jsonrpc: '2.0', id: 1, method: 'resources/list' }), { status: 200, json: { id: 1, error: { code: -32601 } } });
  t.match(await post(server, { jsonrpc: '2.0', method: 'notifications/initialized' }), { status: 202, text: '' });
});

t.test('a batch has a bound, and each of its requests an answer', async (t) => {
  const { server } = await serveMcp(t);
  const { status, text } = await post(server, [ping(1), { jsonrpc: '2.0', method: 'notifications/x' }, 'nonsense', ping(2)]);
  t.equal(status, 200);
  t.match(JSON.parse(text), [
    { id: 1, result: {} },
    { id: null, error: { code: -32600 } },
    { id: 2, result: {} },
  ]);
  t.match(await post(server, [{ jsonrpc: '2.0', method: 'notifications/x' }]), { status: 202, text: '' });
  for (const batch of [[], Array.from({ length: 17 }, (_, id) => ping(id))])
    t.match(await post(server, batch), { status: 400, json: { error: { code: -32600 } } });
  t.match(await post(server, [ping(1)], { 'mcp-protocol-version': '2026-07-28' }), { status: 400, json: { error: { code: -32600 } } });
});

t.test('the answer to a batch is bounded, and what is left out of it says so', async (t) => {
  const { server } = await serveMcp(t);
  await server.call('POST', '/api/blocks/ada/stop');
  for (let n = 0; n < 15; n += 1) await callByHand(server, 'send_message', { block: 'ada', message: 'x'.repeat(18_000), waitSeconds: 0 });
  const read = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'read_chat', arguments: { block: 'ada' } } });
  const { status, text } = await post(server, [...Array.from({ length: 15 }, (_, id) => read(id)), ping(15)]);
  t.equal(status, 200);
  t.ok(text.length < 1_200_000, `${text.length}`);
  const answers = JSON.parse(text) as { id: number; result: { isError?: boolean; content?: { text: string }[] } }[];
  t.strictSame(
    answers.map(({ id }) => id),
    [...Array(16).keys()],
  );
  t.match(answers[0], { result: { isError: false } });
  t.match(answers[14], { result: { isError: true, content: [{ text: /request of its own/ }] } });
  t.strictSame(answers[15]?.result, {});
});

t.test('bodies that lie are refused, and the server goes on', async (t) => {
  const { server } = await serveMcp(t);
  const args = (value: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_blocks","arguments":${value}}}`;
  const deep = '['.repeat(20_000) + ']'.repeat(20_000);
  const cases: [body: string | Buffer, expected: object][] = [
    ['{', { status: 400, json: { id: null, error: { code: -32700 } } }],
    [Buffer.from([0x22, 0xff, 0x22]), { status: 400, json: { error: { code: -32700 } } }],
    [args(deep), { status: 200, json: { error: { code: -32602 } } }],
    [args(`{"x":${deep}}`), { status: 200, json: { result: { isError: true } } }],
    [args('{"__proto__":{"x":1}}'), { status: 200, json: { result: { isError: true } } }],
    [args(`[${'0,'.repeat(200_000)}0]`), { status: 400, json: { error: { code: -32700 } } }],
    ['x'.repeat(1024 * 1024 + 1), { status: 413, json: { error: { data: { code: 'BODY_TOO_LARGE' } } } }],
    [args('{}').replace('list_blocks', 'constructor'), { status: 200, json: { error: { code: -32602 } } }],
    [args('{}').replace('"list_blocks"', '["list_blocks"]'), { status: 200, json: { error: { code: -32602 } } }],
    [args('"text"'), { status: 200, json: { error: { code: -32602 } } }],
    [args('null'), { status: 200, json: { error: { code: -32602 } } }],
  ];
  for (const [body, expected] of cases) t.match(await post(server, body), expected, String(body).slice(0, 90));
  t.match(await post(server, ping(1), { 'content-type': 'text/plain' }), { status: 415 });
  t.match(await callByHand(server, 'list_blocks'), { status: 200, result: { isError: false } });
});

t.test('a call without arguments has none, and a failure of the server is an error of the protocol', async (t) => {
  const { server } = await serveMcp(t);
  t.match(await post(server, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_blocks' } }), { json: { result: { isError: false } } });
  const { blocks } = server.core;
  blocks.page = async () => {
    throw new Error('a bug');
  };
  const failed = await callByHand(server, 'list_blocks');
  t.match(failed, { status: 500, json: { id: null, error: { code: -32603, data: { code: 'INTERNAL_ERROR' } } } });
  t.notMatch(failed.text, /a bug/);
  t.match(
    server.log.filter(({ level }) => level === 'error'),
    [{ fields: { path: '/mcp', status: 500 } }],
  );
  blocks.page = async () => {
    throw new BlockhouseError('STORAGE_FAILED', 'The disk can not be read.');
  };
  t.match(await callByHand(server, 'list_blocks'), { status: 500, json: { error: { data: { code: 'STORAGE_FAILED' } } } });
});

t.test('a tool that is not there is an error under the id of its request', async (t) => {
  await t.rejects(toolCall({} as RouteContext, 7, { name: 'delete_block', arguments: {} }), { code: -32602, id: 7, message: /"delete_block"/ });
});
