// What has to be the same before and behind each of the five providers.
import t from 'tap';
import { ERROR_TABLE } from '../../core/errors.ts';
import type { Meaning } from '../conformance/wire.ts';
import { sse } from '../conformance/wire.ts';
import { bedrock } from '../conformance/wires/bedrock.ts';
import { ollama } from '../conformance/wires/ollama.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { framesOf } from '../support/server.ts';
import type { RecordedRequest } from '../support/upstream.ts';
import { answerWith, bodyOf, PLAIN, startWireServer, stringsNamed, WIRES, type WireServer } from '../support/wire-server.ts';

const ALWAYS = ['inputTokens', 'outputTokens', 'totalTokens'];
const SOMETIMES = ['cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'];
const OSLO = { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } };
const ROME = { id: 'call_2', name: 'get_weather', arguments: { city: 'Rome' } };
const TOOL = { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };

/** The usage of both forms of a chat. */
async function usages(server: WireServer): Promise<Record<string, unknown>[]> {
  const whole = await server.call('POST', '/v1/chat', { body: server.chat() });
  const streamed = await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) });
  return [whole.json['usage'], framesOf(streamed.text).at(-1)?.data['usage']] as Record<string, unknown>[];
}

t.test('every provider, in both forms, gives usage under the same keys with the same meaning', async (t) => {
  for (const wire of WIRES) {
    const server = await startWireServer(t, wire, answerWith(wire));
    for (const usage of await usages(server)) {
      t.match(usage, { inputTokens: 12, outputTokens: 5, totalTokens: 17 }, wire.name);
      t.same(
        Object.keys(usage).filter((key) => !ALWAYS.includes(key) && !SOMETIMES.includes(key)),
        [],
        `${wire.name}: no other keys`,
      );
    }
    if (wire.gaps['cache counts'] !== undefined) continue;
    const cached: Meaning = { ...PLAIN, usage: { input: 100, output: 5, cacheRead: 60 } };
    const second = await startWireServer(t, wire, answerWith(wire, cached));
    for (const usage of await usages(second))
      t.match(usage, { inputTokens: 100, outputTokens: 5, totalTokens: 105, cacheReadTokens: 60 }, `${wire.name}: cached tokens are part of the input`);
  }
});

t.test('every request to every provider asks for no compression', async (t) => {
  for (const wire of WIRES) {
    const server = await startWireServer(t, wire, answerWith(wire));
    await server.call('POST', '/v1/chat', { body: server.chat() });
    await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) });
    await server.call('POST', `/v1/adapters/${wire.adapter}/verify`);
    await server.call('GET', `/v1/adapters/${wire.adapter}/models`);
    t.ok(server.upstream.requests.length >= 3, `${wire.name}: ${server.upstream.requests.length} requests`);
    for (const { path, headers } of server.upstream.requests) t.equal(headers['accept-encoding'], 'identity', `${wire.name} ${path}`);
  }
});

t.test('a compressed answer of any provider is told as such, and read by nobody', async (t) => {
  for (const wire of WIRES) {
    const server = await startWireServer(t, wire, (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      res.end(Buffer.from('1f8b0800', 'hex'));
    });
    for (const body of [server.chat(), server.chat({ stream: true })])
      t.match(await server.call('POST', '/v1/chat', { body }), { status: 502, json: { code: 'UPSTREAM_MALFORMED', error: /gzip/ } }, wire.name);
  }
});

t.test("every provider's error has our one shape, its own status and its own words", async (t) => {
  for (const wire of WIRES) {
    for (const { title, status, headers, body, code, retryable } of wire.errors) {
      const server = await startWireServer(t, wire, (_request, res) => {
        res.writeHead(status, { 'content-type': 'application/json', ...headers });
        res.end(body);
      });
      const words = /"message":"([^"]+)"/i.exec(body)?.[1] ?? /"error":"((?:\\.|[^"\\])+)"/.exec(body)?.[1] ?? 'web page';
      for (const parts of [{}, { stream: true }]) {
        const answer = await server.call('POST', '/v1/chat', { body: server.chat(parts) });
        const what = `${wire.name}: ${title}`;
        t.equal(answer.status, ERROR_TABLE[code].status, what);
        t.match(answer.json, { status: answer.status, code, upstreamStatus: status, retryable, requestId: answer.headers['x-request-id'] }, what);
        t.same(Object.keys(answer.json).sort(), ['code', 'error', 'requestId', 'retryable', 'status', 'upstreamStatus'], what);
        t.ok(String(answer.json['error']).includes(words.replaceAll('\\"', '"')), `${what}: ${String(answer.json['error'])}`);
      }
    }
  }
});

t.test('every provider fails alike on the side routes', async (t) => {
  for (const wire of WIRES) {
    const { status, headers, body } = wire.errors.find(({ code }) => code === 'UPSTREAM_AUTH') ?? { status: 401, headers: {}, body: '{}' };
    const server = await startWireServer(t, wire, (_request, res) => {
      res.writeHead(status, { 'content-type': 'application/json', ...headers });
      res.end(body);
    });
    const verify = await server.call('POST', `/v1/adapters/${wire.adapter}/verify`);
    t.equal(verify.status, 503, wire.name);
    t.match(verify.json, { provider: wire.adapter, ok: false, detail: /\S/ });
    t.same(Object.keys(verify.json), ['provider', 'ok', 'detail'], 'nothing of the provider’s body beside it');
    const models = await server.call('GET', `/v1/adapters/${wire.adapter}/models`);
    if (server.upstream.requests.some(({ path }) => path.includes('/tags'))) t.match(models, { status: 502, json: { code: 'UPSTREAM_AUTH' } });
    else t.equal(models.status, 200, 'its list is curated');
  }
});

t.test('no provider is sent a blank text, wherever the caller put one', async (t) => {
  const messages = [
    { role: 'system', content: ' ' },
    { role: 'user', content: 'weather?' },
    { role: 'assistant', content: ' \n', toolCalls: [OSLO] },
    { role: 'tool', content: '\t', toolResults: [{ toolCallId: 'call_1', content: 'rain' }] },
    { role: 'assistant', content: '\n' },
    { role: 'user', content: '' },
    { role: 'user', content: 'and?' },
  ];
  for (const wire of WIRES) {
    const server = await startWireServer(t, wire, answerWith(wire));
    const answer = await server.call('POST', '/v1/chat', { body: server.chat({ messages, tools: [TOOL] }) });
    t.equal(answer.status, 200);
    t.match(answer.json['warnings'], [{ field: 'messages[4].content' }, { field: 'messages[5].content' }]);
    const [request] = server.upstream.requests as [RecordedRequest];
    const { texts, system } = wire.readRequest(request);
    t.same(texts, ['user: weather?', 'user: and?'], wire.name);
    t.equal(system, undefined, wire.name);
    const blank = stringsNamed(bodyOf(request), new Set(['text', 'input_text'])).filter((text) => text.trim() === '');
    t.same(blank, [], wire.name);
  }
});

t.test('calls and results that do not pair up are a 400 that names the place, before any provider is asked', async (t) => {
  const call = (...toolCalls: object[]) => ({ role: 'assistant', content: '', toolCalls });
  const results = (...ids: string[]) => ({ role: 'tool', toolResults: ids.map((toolCallId) => ({ toolCallId, content: 'x' })) });
  const user = { role: 'user', content: 'hi' };
  const cases: [unknown[], string][] = [
    [[user, call(OSLO, ROME), results('call_1')], 'messages[1].toolCalls[1]'],
    [[user, call(OSLO), results('call_1', 'call_2')], 'messages[2].toolResults[1].toolCallId'],
    [[user, call(OSLO), results('call_1', 'call_1')], 'messages[2].toolResults[1].toolCallId'],
    [[user, results('call_1')], 'messages[1].toolResults[0].toolCallId'],
    [[user, call(OSLO), user], 'messages[1].toolCalls[0]'],
  ];
  for (const wire of WIRES) {
    const server = await startWireServer(t, wire, answerWith(wire));
    for (const [messages, path] of cases) {
      for (const stream of [false, true]) {
        const answer = await server.call('POST', '/v1/chat', { body: server.chat({ messages, stream, tools: [TOOL] }) });
        t.match(answer, { status: 400, json: { code: 'INVALID_REQUEST', details: [{ path }] } }, `${wire.name} ${path}`);
      }
    }
    t.equal(server.upstream.requests.length, 0, wire.name);
  }
});

t.test('what a provider can not be asked for is a 400 that names the field, in both forms', async (t) => {
  for (const wire of WIRES) {
    const server = await startWireServer(t, wire, answerWith(wire));
    for (const field of ['response_format', 'responseFormat', 'json_schema']) {
      for (const stream of [false, true]) {
        const body = server.chat({ stream, [field]: { type: 'json_object' } });
        t.match(await server.call('POST', '/v1/chat', { body }), { status: 400, json: { code: 'INVALID_REQUEST', details: [{ path: field }] } }, wire.name);
      }
    }
    t.equal(server.upstream.requests.length, 0, 'and never prose in place of it');
  }
});

t.test('every tool call that goes out has an id of its own, a name and an object, in both forms', async (t) => {
  const twins: Meaning = {
    ...PLAIN,
    toolCalls: [
      { ...OSLO, id: 'same' },
      { ...ROME, id: 'same' },
    ],
    stop: 'tool_use',
  };
  for (const wire of WIRES) {
    const server = await startWireServer(t, wire, answerWith(wire, twins));
    const whole = await server.call('POST', '/v1/chat', { body: server.chat({ tools: [TOOL] }) });
    const streamed = await server.call('POST', '/v1/chat', { body: server.chat({ tools: [TOOL], stream: true }) });
    const done = framesOf(streamed.text).at(-1)?.data;
    const message = whole.json['message'] as Record<string, unknown>;
    for (const [stopReason, toolCalls] of [
      [whole.json['stopReason'], message['toolCalls']],
      [done?.['stopReason'], done?.['toolCalls']],
    ] as [string, { id: string; name: string; arguments: unknown }[]][]) {
      t.equal(stopReason, 'tool_use', wire.name);
      t.equal(new Set(toolCalls.map(({ id }) => id)).size, 2, `${wire.name}: ids`);
      t.same(
        toolCalls.map(({ name, arguments: args }) => [name, args]),
        [
          ['get_weather', { city: 'Oslo' }],
          ['get_weather', { city: 'Rome' }],
        ],
        wire.name,
      );
    }
  }
});

t.test('fragments of tool calls without id, with a late name or with an index below 0 become whole calls', async (t) => {
  const chunk = (...toolCalls: object[]) => sse({ choices: [{ index: 0, delta: { tool_calls: toolCalls }, finish_reason: null }] });
  const end = [sse({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), sse('[DONE]')];
  const cases: [title: string, chunks: Buffer[], count: number][] = [
    ['no id', [chunk({ index: 0, function: { name: 'f', arguments: '{"a"' } }), chunk({ index: 0, function: { arguments: ':1}' } })], 1],
    ['late id and name', [chunk({ index: 0, function: { arguments: '' } }), chunk({ index: 0, id: 'x', function: { name: 'f', arguments: '{"a":1}' } })], 1],
    ['index -1', [chunk({ index: -1, id: 'x', function: { name: 'f', arguments: '{"a"' } }), chunk({ index: -1, function: { arguments: ':1}' } })], 1],
    [
      'whole calls, all with index -1 and no id',
      [chunk({ index: -1, function: { name: 'f', arguments: '{"a":1}' } }), chunk({ index: -1, function: { name: 'f', arguments: '{"a":1}' } })],
      2,
    ],
  ];
  for (const [title, chunks, count] of cases) {
    const server = await startWireServer(t, openaiChat, (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(Buffer.concat([...chunks, ...end]));
    });
    const { text } = await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) });
    const done = framesOf(text).at(-1);
    const toolCalls = Array.from({ length: count }, () => ({ id: /./, name: 'f', arguments: { a: 1 } }));
    t.match(done, { event: 'done', data: { stopReason: 'tool_use', toolCalls } }, title);
    t.match(done?.data['toolCalls'], { length: count }, title);
  }
});

t.test('calls that Ollama sends apart, all with index 0, without ids and with the reason stop, are told apart in both forms', async (t) => {
  const call = (city: string) => ({ message: { role: 'assistant', content: '', tool_calls: [{ function: { index: 0, name: 'f', arguments: { city } } }] } });
  const end = { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 2 };
  const server = await startWireServer(t, ollama, (request, res) => {
    const lines = [call('Oslo'), call('Rome'), end];
    const both = { ...end, message: { role: 'assistant', content: '', tool_calls: [call('Oslo'), call('Rome')].flatMap(({ message }) => message.tool_calls) } };
    res.end(request.body.includes('"stream":true') ? lines.map((line) => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(both));
  });
  const whole = await server.call('POST', '/v1/chat', { body: server.chat() });
  const streamed = await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) });
  const done = framesOf(streamed.text).at(-1)?.data;
  for (const [stopReason, calls] of [
    [whole.json['stopReason'], (whole.json['message'] as Record<string, unknown>)['toolCalls']],
    [done?.['stopReason'], done?.['toolCalls']],
  ] as [string, { id: string; arguments: unknown }[]][]) {
    t.equal(stopReason, 'tool_use');
    t.same(
      calls.map(({ arguments: args }) => args),
      [{ city: 'Oslo' }, { city: 'Rome' }],
    );
    t.equal(new Set(calls.map(({ id }) => id)).size, 2);
  }
});

t.test('the cache point behind tool results is their sibling, and history with calls has its tool config', async (t) => {
  const server = await startWireServer(t, bedrock, answerWith(bedrock));
  const messages = [
    { role: 'user', content: 'weather?' },
    { role: 'assistant', toolCalls: [OSLO, ROME] },
    { role: 'tool', toolResults: [OSLO, ROME].map(({ id }) => ({ toolCallId: id, content: 'rain' })) },
  ];
  const body = server.chat({ model: 'anthropic.claude-sonnet-4-5-20250929-v1:0', messages, config: { cacheControl: true } });
  t.equal((await server.call('POST', '/v1/chat', { body })).status, 200);
  const sent = bodyOf(server.upstream.requests[0]) as { messages: { content: object[] }[]; toolConfig: { tools: { toolSpec?: { name: string } }[] } };
  t.strictSame(
    sent.messages.at(-1)?.content.map((block) => Object.keys(block)),
    [['toolResult'], ['toolResult'], ['cachePoint']],
  );
  t.notMatch(JSON.stringify(sent.messages.at(-1)?.content.slice(0, 2)), /cachePoint/);
  t.equal(sent.toolConfig.tools[0]?.toolSpec?.name, 'get_weather');
});

t.test('an exception in a Bedrock stream is judged by its type, whatever status stands in its body', async (t) => {
  const outcomes: [type: string, status: number, requests: number][] = [
    ['internalServerException', 200, 2],
    ['throttlingException', 200, 2],
    ['validationException', 502, 1],
  ];
  const { EventStreamCodec } = await import('@smithy/eventstream-codec');
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
    (text) => Buffer.from(text, 'utf8'),
  );
  const header = (value: string) => ({ type: 'string' as const, value });
  for (const [type, status, requests] of outcomes) {
    const server = await startWireServer(
      t,
      bedrock,
      (request, res, index) => {
        if (index > 0) return answerWith(bedrock)(request, res, index);
        res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
        const headers = { ':message-type': header('exception'), ':exception-type': header(type), ':content-type': header('application/json') };
        res.end(codec.encode({ headers, body: Buffer.from('{"message":"why","status_code":400,"originalStatusCode":400}') }));
      },
      { retries: 2, random: () => 0 },
    );
    t.equal((await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) })).status, status, type);
    t.equal(server.upstream.requests.length, requests, type);
  }
});
