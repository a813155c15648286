import t, { type Test } from 'tap';
import { schemas } from '../../../../../core/index.ts';
import { CALLS } from '../../../../../transports/http/handlers/mcp/calls.ts';
import { createBlock, historyOf } from '../../../../support/block-calls.ts';
import { callByHand, keyWith, serveMcp } from '../../../../support/mcp-clients.ts';
import { responseOf, type TestServer, until } from '../../../../support/server.ts';

const sent = async (server: TestServer, block = 'ada') => (await historyOf(server, block)).filter(({ role }) => role === 'user');
const hasSent = (server: TestServer, count: number) => until(async () => (await sent(server)).length === count, `${count} messages`);

t.test('each tool has what it does', async (t) => {
  t.strictSame(Object.keys(CALLS), ['list_blocks', 'send_message', 'read_answer', 'read_chat', 'why']);
});

t.test('an answer that takes longer than the wait is read later, and the same clientId sends nothing again', async (t) => {
  const { server, daemon } = await serveMcp(t);
  const send = (message = 'hi') => callByHand(server, 'send_message', { block: 'ada', message, clientId: '1', waitSeconds: 0 });
  const { result } = await send();
  t.match(result, { isError: false, structuredContent: { status: /queued|processing/, note: String }, content: [{ text: /read_answer/ }] });
  t.match((await send()).result.structuredContent?.['messageId'], result.structuredContent?.['messageId']);
  t.match((await send('another')).result, { isError: true, content: [{ text: /^IDEMPOTENCY_KEY_REUSED: / }] });
  t.equal((await sent(server)).length, 1);
  const reading = callByHand(server, 'read_answer', { block: 'ada', messageId: result.structuredContent?.['messageId'], waitSeconds: 50 });
  (await daemon.call(0)).answer('Hello');
  t.match((await reading).result, { structuredContent: { status: 'done', answer: 'Hello' } });
  const answer = (await historyOf(server, 'ada')).find(({ role }) => role === 'assistant');
  t.match((await callByHand(server, 'read_answer', { block: 'ada', messageId: answer?.id, waitSeconds: 0 })).result, {
    structuredContent: { status: 'done', answer: 'Hello' },
  });
});

t.test('a client that leaves ends its wait, and its message is answered', async (t) => {
  const { server, daemon } = await serveMcp(t);
  const params = { name: 'send_message', arguments: { block: 'ada', message: 'hi', waitSeconds: 50 } };
  const request = server.open('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } });
  const call = await daemon.call(0);
  request.destroy();
  await until(() => server.log.some(({ fields }) => fields['path'] === '/mcp' && fields['status'] === 499), 'the request is over');
  call.answer('Hello');
  await until(async () => (await historyOf(server, 'ada')).length === 2, 'an answer');
  t.match(await historyOf(server, 'ada'), [{ status: 'done' }, { content: 'Hello' }]);
});

t.test('a server that ends lets go of those who wait', async (t) => {
  const { server } = await serveMcp(t);
  const waiting = callByHand(server, 'send_message', { block: 'ada', message: 'hi', waitSeconds: 50 });
  await hasSent(server, 1);
  server.transport.drain();
  t.match((await waiting).result, { isError: false, structuredContent: { status: /queued|processing/ } });
});

t.test('of a thousand waits so many have a place, and the others send nothing', async (t) => {
  const { server, daemon } = await serveMcp(t);
  const headers = await keyWith(server, 'agent', { rights: ['mcp'] });
  const all = Array.from({ length: 1000 }, (_, n) => {
    const params = { name: 'send_message', arguments: { block: 'ada', message: `message ${n}`, waitSeconds: 50 } };
    return responseOf(server.open('POST', '/mcp', { headers, body: { jsonrpc: '2.0', id: n, method: 'tools/call', params } }));
  });
  let refused = 0;
  for (const one of all) void one.then(() => (refused += 1));
  await until(() => refused >= 976, 'those without a place');
  t.equal((await sent(server)).length, 24, 'three quarters of the places of a block');
  t.match((await callByHand(server, 'read_chat', { block: 'ada' }, headers)).result, { isError: false }, 'what does not wait passes');
  server.transport.drain();
  await Promise.all(all);
  t.ok(daemon.calls.length <= 24);
});

t.test('messages that fail, are cancelled, or can not be answered now', async (t) => {
  const { server, daemon } = await serveMcp(t);
  const agent = await keyWith(server, 'agent', { rights: ['mcp'] });
  const sending = callByHand(server, 'send_message', { block: 'ada', message: 'hi', waitSeconds: 50 });
  (await daemon.call(0)).refuse(400, 'The address http://secret.internal is wrong.');
  const failed = (await sending).result;
  t.match(failed, { isError: true, structuredContent: { status: 'failed' }, content: [{ text: /has failed.*secret\.internal/ }] });
  const messageId = failed.structuredContent?.['messageId'];
  const forKey = await callByHand(server, 'read_answer', { block: 'ada', messageId, waitSeconds: 0 }, agent);
  t.match(forKey.result, { isError: true, content: [{ text: /has failed \(UPSTREAM_REJECTED\)\.$/ }] });
  await server.call('POST', '/api/blocks/ada/stop');
  const stopped = (headers: Record<string, string> = {}) =>
    callByHand(server, 'send_message', { block: 'ada', message: 'are you there?', waitSeconds: 50 }, headers);
  t.match((await stopped()).result, { isError: false, structuredContent: { status: 'queued', note: /monitor is stopped/ } });
  const noted = await stopped(agent);
  t.match(noted.result, { isError: false, structuredContent: { status: 'queued', note: 'There is no answer yet.' } });
  await server.call('POST', `/api/blocks/ada/chat/${noted.result.structuredContent?.['messageId']}/cancel`);
  t.match((await callByHand(server, 'read_answer', { block: 'ada', messageId: noted.result.structuredContent?.['messageId'] })).result, {
    isError: true,
    structuredContent: { status: 'cancelled' },
  });
});

/** A server whose key may reach ada alone, where ben is, too. */
async function withAgent(t: Test) {
  const { server, daemon } = await serveMcp(t);
  await createBlock(server, 'ben');
  return { server, daemon, headers: await keyWith(server, 'agent', { rights: ['mcp'], blocks: ['ada', 'gone'] }) };
}

t.test('of a block that a key may not reach it learns as much as of one that is not there', async (t) => {
  const { server, headers } = await withAgent(t);
  const texts = async (block: string) => {
    const calls = [
      ['send_message', { block, message: 'hi' }],
      ['read_answer', { block, messageId: 'm1' }],
      ['read_chat', { block }],
      ['why', { block }],
    ] as const;
    return Promise.all(calls.map(async ([name, args]) => (await callByHand(server, name, args, headers)).text.replaceAll(block, '*')));
  };
  const ofBen = await texts('ben');
  for (const text of ofBen) t.match(text, /KEY_FORBIDDEN/);
  t.strictSame(await texts('nobody'), ofBen);
  t.strictSame(await texts('../ada'), ofBen);
  t.equal((await sent(server, 'ben')).length, 0);
  for (const text of await texts('gone')) t.match(text, /BLOCK_NOT_FOUND: There is no such block/);
});

t.test('a key reads no path, no command and no other names', async (t) => {
  const { server, headers } = await withAgent(t);
  t.match((await callByHand(server, 'why', { block: 'ada' }, headers)).result, { structuredContent: { name: 'ada', why: 'The block ada answers messages.' } });
  await server.call('POST', '/api/blocks/ada/stop');
  const blocked = await callByHand(server, 'why', { block: 'ada' }, headers);
  t.match(blocked.result, { structuredContent: { why: 'The block ada does not answer now. Try again later.' } });
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${server.workspace}/blocks/ada/chat.json`, '{ broken');
  for (const name of ['read_chat', 'why', 'send_message']) {
    const { text } = await callByHand(server, name, { block: 'ada', ...(name === 'send_message' && { message: 'hi' }) }, headers);
    t.notMatch(text, new RegExp(`chat\\.json|${server.workspace}|blockhouse `), name);
  }
});

t.test('a key at its cap sends nothing, and a key has its messages an hour', async (t) => {
  const { server } = await serveMcp(t);
  const capped = await keyWith(server, 'capped', { rights: ['mcp'], requestsPerMinute: 1 });
  const send = (headers: Record<string, string>) => callByHand(server, 'send_message', { block: 'ada', message: 'hi', waitSeconds: 0 }, headers);
  t.match((await send(capped)).result, { isError: false });
  t.match((await send(capped)).result, { isError: true, content: [{ text: /^KEY_RATE_LIMITED: / }] });
});

t.test('a key at its cap gets the answer to a message with the same clientId, and sends no new one', async (t) => {
  const { server, daemon } = await serveMcp(t);
  const headers = await keyWith(server, 'agent', { rights: ['mcp'], tokensPerDay: 5 });
  const send = (clientId: string) => callByHand(server, 'send_message', { block: 'ada', message: 'hi', clientId, waitSeconds: 50 }, headers);
  const sending = send('1');
  (await daemon.call(0)).answer('Hello');
  t.match((await sending).result, { isError: false });
  t.match((await send('1')).result, { isError: false, structuredContent: { status: 'done', answer: 'Hello' } });
  t.match((await send('2')).result, { isError: true, content: [{ text: /^KEY_CAP_REACHED: / }] });
  t.equal((await sent(server)).length, 1);
});

t.test('arguments that lie are results that name the field', async (t) => {
  const { server } = await serveMcp(t);
  const cases: [tool: string, args: object, says: RegExp][] = [
    ['send_message', { block: 'ada' }, /message/],
    ['send_message', { block: 'ada', message: ' ' }, /message/],
    ['send_message', { block: 'ada', message: 'x'.repeat(schemas.MAX_MESSAGE_CHARACTERS + 1) }, /message/],
    ['send_message', { block: 'ada', message: 'x', waitSeconds: 51 }, /waitSeconds/],
    ['send_message', { block: 'ada', message: 'x', waitSeconds: -1 }, /waitSeconds/],
    ['send_message', { block: 'ada', message: 'x', waitSeconds: '5' }, /waitSeconds/],
    ['send_message', { block: 'ada', message: 'x', channel: 'web' }, /channel/],
    ['send_message', { block: ['ada'], message: 'x' }, /block/],
    ['send_message', { block: 'a'.repeat(65), message: 'x' }, /block/],
    ['read_chat', { block: 'ada', limit: 51 }, /limit/],
    ['read_answer', { block: 'ada', messageId: '' }, /messageId/],
    ['list_blocks', { all: true }, /all/],
  ];
  for (const [tool, args, says] of cases) {
    const { result } = await callByHand(server, tool, args);
    t.match(result, { isError: true, content: [{ text: /^INVALID_REQUEST: / }] }, JSON.stringify(args).slice(0, 80));
    t.match(result.content[0]?.text, says);
  }
  t.equal((await sent(server)).length, 0);
  t.match((await callByHand(server, 'read_answer', { block: 'ada', messageId: '../../x', waitSeconds: 0 })).result, {
    isError: true,
    content: [{ text: /^MESSAGE_NOT_FOUND: / }],
  });
});

t.test('a long message of a conversation is cut, and says so', async (t) => {
  const { server } = await serveMcp(t);
  await server.call('POST', '/api/blocks/ada/stop');
  await callByHand(server, 'send_message', { block: 'ada', message: 'x'.repeat(20_005), waitSeconds: 0 });
  const { result } = await callByHand(server, 'read_chat', { block: 'ada' });
  t.match(result.structuredContent, { messages: [{ text: /^x{20000}… \(5 more characters\)$/ }] });
});

t.test('a conversation of long messages is as long as a model can read, whatever its characters become in JSON', async (t) => {
  const { server } = await serveMcp(t);
  await server.call('POST', '/api/blocks/ada/stop');
  for (let n = 0; n < 8; n += 1) await callByHand(server, 'send_message', { block: 'ada', message: `${n}${'\u0001'.repeat(19_000)}`, waitSeconds: 0 });
  const { result, text } = await callByHand(server, 'read_chat', { block: 'ada', limit: 50 });
  t.match(result.structuredContent, { messages: [{ text: /^6/ }, { text: /^7/ }], cut: 6 }, 'the newest');
  t.ok(text.length < 1_000_000, 'and its escapes are counted');
  const { result: one } = await callByHand(server, 'read_chat', { block: 'ada', limit: 1 });
  t.notMatch(one.structuredContent, { cut: Number });
});

t.test('a server without blocks says so', async (t) => {
  const { server } = await serveMcp(t);
  Object.defineProperty(server.core, 'gatewayOnly', { value: true });
  for (const [name, args] of [
    ['list_blocks', {}],
    ['read_chat', { block: 'ada' }],
  ] as const)
    t.match((await callByHand(server, name, args)).result, { isError: true, content: [{ text: /^BLOCK_NOT_RUNNING: .*gateway-only/ }] });
});
