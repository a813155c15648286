import t from 'tap';
import { mcpFault } from '../../../../transports/http/handlers/mcp.ts';
import { BlockhouseError } from '../../../../core/index.ts';
import { createBlock, historyOf } from '../../../support/block-calls.ts';
import { callByHand, callMcp, connectMcp, ERAS, keyWith, serveMcp } from '../../../support/mcp-clients.ts';

for (const era of ERAS)
  t.test(`${era}: the official client lists, sends, waits and reads`, async (t) => {
    const { server, daemon } = await serveMcp(t);
    const client = await connectMcp(t, server, era);
    t.equal(client.getServerVersion()?.name, 'blockhouse');
    const { tools } = await client.listTools();
    t.same(
      tools.map(({ name }) => name),
      ['list_blocks', 'send_message', 'read_answer', 'read_chat', 'why'],
    );
    t.match(await callMcp(client, 'list_blocks'), {
      structuredContent: { blocks: [{ name: 'ada', description: 'Knows the stock.', status: String, state: /^(starting|idle)$/, queue: 0 }], more: false },
    });
    const sending = callMcp(client, 'send_message', { block: 'ada', message: 'How many chairs?', waitSeconds: 50 });
    (await daemon.call(0)).answer('Twelve.');
    const sent = await sending;
    t.match(sent, { content: [{ type: 'text', text: 'Twelve.' }], structuredContent: { status: 'done', answer: 'Twelve.' }, isError: false });
    const messageId = sent.structuredContent?.['messageId'];
    t.match(await callMcp(client, 'read_answer', { block: 'ada', messageId, waitSeconds: 0 }), { structuredContent: { status: 'done', answer: 'Twelve.' } });
    t.match(await callMcp(client, 'read_chat', { block: 'ada', limit: 2 }), {
      structuredContent: {
        messages: [
          { id: messageId, role: 'user', text: 'How many chairs?', status: 'done' },
          { role: 'assistant', text: 'Twelve.', replyTo: messageId },
        ],
      },
    });
    t.match(await callMcp(client, 'why', { block: 'ada' }), { structuredContent: { name: 'ada', why: String } });
    t.match(await historyOf(server, 'ada'), [{ channel: 'mcp', chain: [{ via: 'mcp' }] }, {}]);
  });

t.test('who may come: the token, and a key with the right; a key without it learns nothing', async (t) => {
  const { server } = await serveMcp(t);
  await createBlock(server, 'ben');
  const list = async (headers: Record<string, string>) => callByHand(server, 'list_blocks', {}, headers);
  t.match(await list({}), { status: 200 });
  t.match(await list(await keyWith(server, 'all', { rights: ['mcp'] })), { result: { structuredContent: { blocks: [{ name: 'ada' }, { name: 'ben' }] } } });
  t.match(await list(await keyWith(server, 'one', { rights: ['mcp'], blocks: ['b*'] })), { result: { structuredContent: { blocks: [{ name: 'ben' }] } } });
  for (const [name, limits] of Object.entries({ none: {}, models: { rights: ['blocks'] }, asks: { blocks: ['ada'] } })) {
    const headers = await keyWith(server, name, limits);
    for (const body of [{ jsonrpc: '2.0', id: 1, method: 'ping' }, 'no JSON']) {
      const refused = await server.call('POST', '/mcp', { headers, body });
      t.match(refused, { status: 403, json: { jsonrpc: '2.0', id: null, error: { data: { code: 'KEY_FORBIDDEN' } } } }, name);
      t.notMatch(refused.text, /\b(ada|ben)\b/);
    }
  }
  const wrong = await server.call('POST', '/mcp', { headers: { authorization: `Bearer bhk_${'x'.repeat(43)}` }, body: {} });
  t.match(wrong, { status: 401, json: { error: { data: { code: 'UNAUTHORIZED' } } } });
  t.match(await server.call('POST', '/mcp', { token: false, body: {} }), { status: 401 });
});

t.test('a key with the right to MCP alone asks no block as a model, and reaches no other route', async (t) => {
  const { server } = await serveMcp(t);
  const headers = await keyWith(server, 'agent', { rights: ['mcp'], blocks: ['ada'] });
  const body = { model: 'block/ada', messages: [{ role: 'user', content: 'hi' }] };
  t.match(await server.call('POST', '/v1/chat/completions', { headers, body }), { status: 403 });
  t.match(await server.call('GET', '/api/blocks/ada', { headers }), { status: 403 });
  t.match(await server.call('POST', '/api/blocks/ada/chat', { headers, body: { message: 'hi' } }), { status: 403 });
});

t.test('foreign pages and foreign hosts are refused, and pages that may call the gateway, too', async (t) => {
  const { server } = await serveMcp(t, { http: { webOrigins: ['https://app.example'] } });
  const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'https://app.example' },
    { host: 'evil.example' },
    { host: `evil.example:${server.port}` },
    { origin: 'null' },
  ])
    t.match(
      await server.call('POST', '/mcp', { headers, body }),
      { status: 403, json: { error: { data: { code: 'FORBIDDEN_ORIGIN' } } } },
      JSON.stringify(headers),
    );
  t.match(await server.call('POST', '/mcp', { headers: { origin: server.url }, body }), { status: 200 });
});

t.test('GET and DELETE are 405, whatever session they name', async (t) => {
  const { server } = await serveMcp(t);
  for (const method of ['GET', 'DELETE', 'PUT'])
    t.match(
      await server.call(method, '/mcp', { headers: { 'mcp-session-id': 'x', accept: 'text/event-stream' } }),
      { status: 405, headers: { allow: /POST/ } },
      method,
    );
  const invented = await server.call('POST', '/mcp', { headers: { 'mcp-session-id': '../../x' }, body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
  t.match(invented, { status: 200, json: { id: 1, result: {} } });
  t.notOk('mcp-session-id' in invented.headers);
});

t.test('a call that this server itself makes is refused', async (t) => {
  const { server } = await serveMcp(t);
  const headers = { 'x-blockhouse-instance': server.core.ownAddresses.instance };
  t.match(await server.call('POST', '/mcp', { headers, body: {} }), { status: 508, json: { error: { data: { code: 'LOOP_DETECTED' } } } });
});

t.test('an error has the code of the server in its data', async (t) => {
  t.match(mcpFault(new BlockhouseError('INTERNAL_ERROR', 'A bug.'), 'req_1', {}), {
    status: 500,
    body: { jsonrpc: '2.0', id: null, error: { code: -32603, data: { requestId: 'req_1' } } },
  });
  t.match(mcpFault(new BlockhouseError('UNAUTHORIZED', 'No.'), 'req_1', {}), { status: 401, body: { error: { code: -32000 } } });
});

t.test('each request counts for its route', async (t) => {
  const { server } = await serveMcp(t);
  const served: unknown[] = [];
  server.core.events.on('request.served', ({ method, route, status }) => void served.push({ method, route, status }));
  await server.call('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
  await server.call('DELETE', '/mcp');
  t.match(served, [
    { method: 'POST', route: '/mcp', status: 200 },
    { method: 'DELETE', status: 405 },
  ]);
});
