import { findProvider } from '@pydantic/genai-prices';
import t, { type Test } from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { PRESETS } from '../../../adapters/anthropic/presets.ts';
import type { ChatRequest, ChatResponse, ChatStreamEvent, Environment } from '../../../core/index.ts';
import { coreWith, settingsFor } from '../../support/adapter-call.ts';
import { type Answerer, sendInPieces, sendJson, startUpstream } from '../../support/upstream.ts';

const MODEL = 'claude-opus-5-5';
const REQUEST: ChatRequest = { adapter: 'anthropic', model: MODEL, messages: [{ role: 'user', content: 'weather?' }] };
const OK = { type: 'message', content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn', usage: { input_tokens: 3, output_tokens: 1 } };
const THOUGHT = {
  ...OK,
  content: [
    { type: 'thinking', thinking: '', signature: 'c2lnbmF0dXJl' },
    { type: 'redacted_thinking', data: 'b3BhcXVl' },
    { type: 'text', text: 'Let me look. ' },
    { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
    { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Rome' } },
  ],
  stop_reason: 'tool_use',
};

async function start(t: Test, answer: Answerer, env: Environment = {}) {
  const upstream = await startUpstream(t, answer);
  const core = coreWith(t, createAnthropic(), { ANTHROPIC_BASE_URL: upstream.url, ANTHROPIC_API_KEY: 'stored-key', ...env });
  return { upstream, core, sent: (index: number) => JSON.parse(upstream.requests[index]?.body ?? '{}') };
}

function event(type: string, more: Record<string, unknown> = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

/** A message as the stream that it would be. */
function streamOf(message: typeof OK | typeof THOUGHT): string {
  const blocks = message.content.flatMap((block: Record<string, unknown>, index) => {
    const { input, text, ...rest } = block;
    const opened = event('content_block_start', {
      index,
      content_block: { ...rest, ...(text !== undefined && { text: '' }), ...(input !== undefined && { input: {} }) },
    });
    const deltas = [
      ...(text === undefined ? [] : [{ type: 'text_delta', text }]),
      ...(input === undefined ? [] : [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]),
    ];
    return [opened, ...deltas.map((delta) => event('content_block_delta', { index, delta })), event('content_block_stop', { index })];
  });
  const { input_tokens, output_tokens } = message.usage;
  return [
    event('message_start', { message: { content: [], usage: { input_tokens, output_tokens: 0 } } }),
    ...blocks,
    event('message_delta', { delta: { stop_reason: message.stop_reason }, usage: { output_tokens } }),
    event('message_stop'),
  ].join('');
}

async function collect(events: AsyncIterable<ChatStreamEvent>): Promise<ChatStreamEvent[]> {
  const all: ChatStreamEvent[] = [];
  for await (const item of events) all.push(item);
  return all;
}

/** The next request of a tool loop: the answer replayed, and a result for each of its calls. */
function nextRequest(answer: ChatResponse['message'], changed: Partial<ChatRequest> = {}): ChatRequest {
  const toolResults = (answer.toolCalls ?? []).map(({ id }) => ({ toolCallId: id, content: '3 C' }));
  return { ...REQUEST, messages: [...REQUEST.messages, answer, { role: 'tool', toolResults }], ...changed };
}

t.test('headers: the key, the pinned version, and nothing that asks for compression', async (t) => {
  const { core, upstream } = await start(t, (_request, res) => sendJson(res, OK));
  await core.chat(REQUEST);
  t.match(upstream.requests[0]?.headers, { 'x-api-key': 'stored-key', 'anthropic-version': '2023-06-01', 'accept-encoding': 'identity' });
  t.equal(upstream.requests[0]?.headers.authorization, undefined);
});

t.test('ANTHROPIC_AUTH_TOKEN is sent as Bearer; the key wins where both are set; a request never mixes in a stored one', async (t) => {
  const { core, upstream } = await start(t, (_request, res) => sendJson(res, OK), { ANTHROPIC_API_KEY: '', ANTHROPIC_AUTH_TOKEN: 'stored-token' });
  await core.chat(REQUEST);
  await core.chat({ ...REQUEST, config: { apiKey: 'own-key' } });
  t.match(upstream.requests[0]?.headers, { authorization: 'Bearer stored-token' });
  t.equal(upstream.requests[0]?.headers['x-api-key'], undefined);
  t.match(upstream.requests[1]?.headers, { 'x-api-key': 'own-key' });
  t.equal(upstream.requests[1]?.headers.authorization, undefined);
  const both = await start(t, (_request, res) => sendJson(res, OK), { ANTHROPIC_AUTH_TOKEN: 'stored-token' });
  await both.core.chat(REQUEST);
  t.match(both.upstream.requests[0]?.headers, { 'x-api-key': 'stored-key' });
  t.equal(both.upstream.requests[0]?.headers.authorization, undefined);
});

t.test('without a credential the answer names every way to give one', async (t) => {
  await t.rejects(coreWith(t, createAnthropic()).chat(REQUEST), {
    code: 'ADAPTER_NOT_CONFIGURED',
    message: /ANTHROPIC_API_KEY.*auth set anthropic/,
  });
  t.equal(createAnthropic().missingCredential(settingsFor(createAnthropic(), { env: { ANTHROPIC_AUTH_TOKEN: 'x' } })), undefined);
});

t.test('gotcha 10: a base URL with /v1 reaches the same path', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, OK));
  const core = coreWith(t, createAnthropic(), { ANTHROPIC_BASE_URL: `${upstream.url}/v1/`, ANTHROPIC_API_KEY: 'k' });
  await core.chat(REQUEST);
  t.equal(upstream.requests[0]?.path, '/v1/messages');
});

t.test('gotcha 4: thinking makes the round trip, all of it', async (t) => {
  for (const streamed of [false, true]) {
    t.test(streamed ? 'streamed' : 'whole', async (t) => {
      const { core, sent } = await start(t, async (_request, res, index) => {
        const message = index === 0 ? THOUGHT : OK;
        if (streamed) await sendInPieces(res, Buffer.from(streamOf(message)), 7);
        else sendJson(res, message);
      });
      const ask = async (request: ChatRequest): Promise<Pick<ChatResponse, 'message' | 'warnings'>> => {
        if (!streamed) return core.chat(request);
        const events = await collect(core.stream(request));
        const content = events.flatMap((item) => (item.type === 'content' ? [item.text] : [])).join('');
        const { toolCalls, providerMetadata, warnings } = events.at(-1) as Extract<ChatStreamEvent, { type: 'done' }>;
        return {
          message: { role: 'assistant', content, toolCalls: toolCalls ?? [], providerMetadata: providerMetadata ?? {} },
          ...(warnings !== undefined && { warnings }),
        };
      };
      const first = await ask({ ...REQUEST, config: { cacheControl: true } });
      const clientSide = JSON.parse(JSON.stringify(first.message));
      const second = await ask(nextRequest(clientSide, { config: { cacheControl: true } }));
      t.same(sent(1).messages[1], { role: 'assistant', content: THOUGHT.content });
      t.match(sent(1).messages[2].content, [
        { type: 'tool_result', tool_use_id: 'toolu_1' },
        { type: 'tool_result', tool_use_id: 'toolu_2' },
      ]);
      t.equal(second.warnings, undefined);
    });
  }
});

t.test('gotcha 4: where the thinking may not go back, none of it does, and a warning says so', async (t) => {
  const cases: [string, (message: ChatResponse['message']) => ChatRequest, boolean][] = [
    [
      'the system prompt has changed',
      (message) => nextRequest(message, { messages: [{ role: 'system', content: 'New.' }, ...nextRequest(message).messages] }),
      true,
    ],
    ['the tools have changed', (message) => nextRequest(message, { tools: [{ name: 'other' }] }), true],
    ['another model is asked', (message) => nextRequest(message, { model: 'claude-sonnet-5-5' }), true],
    [
      'the arguments were edited',
      (message) => nextRequest({ ...message, toolCalls: message.toolCalls?.map((call) => ({ ...call, arguments: { city: 'Bonn' } })) ?? [] }),
      true,
    ],
    ['the metadata is damaged', (message) => nextRequest({ ...message, providerMetadata: { anthropic: { model: MODEL, prefix: '', content: [null] } } }), true],
    ['the metadata was dropped', ({ role, content, toolCalls }) => nextRequest({ role, content, toolCalls: toolCalls ?? [] }), false],
  ];
  for (const [why, next, warns] of cases) {
    t.test(why, async (t) => {
      const { core, sent } = await start(t, (_request, res, index) => sendJson(res, index === 0 ? THOUGHT : OK));
      const first = await core.chat(REQUEST);
      const request = next(first.message);
      const second = await core.chat(request);
      t.notMatch(JSON.stringify(sent(1)), /thinking/);
      const assistant = sent(1).messages[1];
      t.same(
        assistant.content.map(({ type }: { type: string }) => type),
        ['text', 'tool_use', 'tool_use'],
      );
      t.same(assistant.content[1].input, request.messages.find((message) => message.role === 'assistant')?.toolCalls?.[0]?.arguments);
      t.equal(second.warnings?.some(({ field, message }) => field === 'messages' && /thinking was not sent/i.test(message)) ?? false, warns);
    });
  }
});

t.test('gotcha 4: a third request sends the thinking of both earlier turns, or of none', async (t) => {
  const again = { ...THOUGHT, content: THOUGHT.content.map((block) => ('id' in block ? { ...block, id: `${block.id}_b` } : block)) };
  const { core, sent } = await start(t, (_request, res, index) => sendJson(res, [THOUGHT, again, OK, OK][index]));
  const first = (await core.chat(REQUEST)).message;
  const second = nextRequest(first);
  const answer = (await core.chat(second)).message;
  const results = { role: 'tool' as const, toolResults: (answer.toolCalls ?? []).map(({ id }) => ({ toolCallId: id, content: 'x' })) };
  await core.chat({ ...second, messages: [...second.messages, answer, results] });
  t.same(sent(2).messages[1].content, THOUGHT.content);
  t.same(sent(2).messages[3].content, again.content);
  const { providerMetadata: _dropped, ...bare } = first;
  const lost = await core.chat({ ...second, messages: [...nextRequest(bare).messages, answer, results] });
  t.notMatch(JSON.stringify(sent(3)), /thinking/);
  t.match(lost.warnings, [{ field: 'messages' }]);
});

t.test('both forms give equal answers', async (t) => {
  const { core } = await start(t, async (request, res) => {
    if (request.body.includes('"stream":true')) await sendInPieces(res, Buffer.from(streamOf(THOUGHT)), 11);
    else sendJson(res, THOUGHT);
  });
  const whole = await core.chat(REQUEST);
  const events = await collect(core.stream(REQUEST));
  const { type: _type, usage, stopReason, ...message } = events.at(-1) as Extract<ChatStreamEvent, { type: 'done' }>;
  const content = events.flatMap((item) => (item.type === 'content' ? [item.text] : [])).join('');
  t.same({ role: 'assistant', content, ...message }, whole.message);
  t.same(usage, whole.usage);
  t.equal(stopReason, whole.stopReason);
});

t.test('more than 21,333 tokens are streamed inside although the caller wants the whole', async (t) => {
  const { core, sent } = await start(t, (_request, res) => sendInPieces(res, Buffer.from(streamOf(THOUGHT)), 50));
  const answer = await core.chat({ ...REQUEST, config: { maxTokens: 64_000 } });
  t.equal(sent(0).stream, true);
  t.equal(answer.message.content, 'Let me look. ');
  t.equal(answer.message.toolCalls?.length, 2);
});

t.test('gotcha 8: an error event before the first text is one failed attempt; another one is made', async (t) => {
  const { core, upstream } = await start(t, (_request, res, index) => {
    res.end(
      index === 0
        ? `${event('message_start', { message: {} })}${event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })}`
        : streamOf(OK),
    );
  });
  const events = await collect(core.stream(REQUEST));
  t.match(
    events.map(({ type }) => type),
    ['start', 'content', 'done'],
  );
  t.equal(upstream.requests.length, 2);
});

t.test('gotcha 8: an error event after the first text ends the stream with an error, without a second attempt', async (t) => {
  const { core, upstream } = await start(t, (_request, res) => {
    res.write(event('message_start', { message: {} }));
    res.write(event('content_block_start', { index: 0, content_block: { type: 'text', text: 'half' } }));
    setTimeout(() => res.end(event('error', { error: { type: 'overloaded_error', message: 'Overloaded, stored-key' } })), 50);
  });
  const seen: ChatStreamEvent[] = [];
  await t.rejects(
    async () => {
      for await (const item of core.stream(REQUEST)) seen.push(item);
    },
    { code: 'UPSTREAM_FAILED', message: 'Anthropic: Overloaded, [redacted]', upstreamStatus: undefined },
  );
  t.match(seen, [{ type: 'start' }, { type: 'content', text: 'half' }]);
  t.equal(upstream.requests.length, 1);
});

t.test('a stream that ends after text without message_stop is an error', async (t) => {
  const { core, upstream } = await start(t, (_request, res) => void res.end(streamOf(OK).replace(event('message_stop'), '')));
  await t.rejects(collect(core.stream(REQUEST)), { code: 'UPSTREAM_MALFORMED', message: /message_stop/ });
  t.equal(upstream.requests.length, 1);
});

t.test('an error answer is mapped, redacted, and not repeated when that is of no use', async (t) => {
  const { core, upstream } = await start(t, (_request, res) =>
    sendJson(res, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key stored-key' } }, 401),
  );
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_AUTH', upstreamStatus: 401, message: 'Anthropic (HTTP 401): invalid x-api-key [redacted]' });
  t.equal(upstream.requests.length, 1);
});

t.test('verify asks for one model; a refused key is told', async (t) => {
  const { core, upstream } = await start(t, (_request, res, index) => {
    if (index === 2) sendJson(res, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }, 401);
    else sendJson(res, { data: index === 0 ? [{ id: MODEL }] : [] });
  });
  t.match(await core.verify('anthropic'), { ok: true, detail: 'The key is valid.' });
  t.match(await core.verify('anthropic'), { ok: true, detail: /lists no models/ });
  t.match(await core.verify('anthropic'), { ok: false, detail: /invalid x-api-key/ });
  t.match(upstream.requests[0], { method: 'GET', path: '/v1/models?limit=1', headers: { 'anthropic-version': '2023-06-01' } });
});

t.test('the default model is in the list', async (t) => {
  const core = coreWith(t, createAnthropic());
  t.ok((await core.models('anthropic')).models.includes(createAnthropic().defaultModel));
});

t.test('the price data has every preset that names it, at the host of the preset', async (t) => {
  for (const [name, { baseURL, baseURLForm, prices = '' }] of Object.entries(PRESETS)) {
    const address = baseURL ?? baseURLForm?.replace('<resource>', 'acme') ?? '';
    t.match(address, new RegExp(`^${findProvider({ providerId: prices })?.api_pattern ?? 'no such provider'}`), name);
  }
});
