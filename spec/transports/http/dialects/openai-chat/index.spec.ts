// Chat Completions through the official client, with a scripted provider behind the real server.
import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError } from 'openai';
import t, { type Test } from 'tap';
import { BlockhouseError, type ChatCall, type ChatEvent } from '../../../../../core/index.ts';
import { scriptedAdapter } from '../../../../support/scripted-adapter.ts';
import { startServer } from '../../../../support/server.ts';

const USAGE: ChatEvent = { type: 'usage', usage: { inputTokens: 11, outputTokens: 7, cacheReadTokens: 3, reasoningTokens: 2 } };
const END: ChatEvent = { type: 'stop', stopReason: 'end_turn' };
const CALLS: ChatEvent[] = [
  { type: 'toolCall', toolCall: { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } } },
  { type: 'toolCall', toolCall: { id: 'call_2', name: 'get_weather', arguments: { city: 'Rome' } } },
];
const TOOLS = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }] as const;
const HI = [{ role: 'user', content: 'hi' }] as const;

/** A client of a server whose provider emits these events, and the calls that it has got. */
async function clientOf(t: Test, answer: (ChatEvent | (() => never))[]) {
  const calls: ChatCall[] = [];
  const adapter = scriptedAdapter(
    {
      chat: (call) => {
        calls.push(call);
        for (const one of answer) {
          if (typeof one === 'function') one();
          else call.sink.emit([one]);
        }
      },
      listModels: () => ['m'],
    },
    'mine',
  );
  const one = {
    ...adapter,
    supports: { parts: ['image', 'document', 'audio'], options: ['topP', 'stop', 'seed', 'output', 'reasoning', 'toolChoice', 'metadata'] },
  } as const;
  const server = await startServer(t, { adapters: [one], retries: 0 });
  const client = new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  return { client, server, calls, last: () => calls.at(-1) as ChatCall };
}

async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

t.test('a whole answer has the asked name, the text and the usage', async (t) => {
  const { client } = await clientOf(t, [{ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, USAGE, END]);
  const answer = await client.chat.completions.create({ model: 'mine/m', messages: [...HI] });
  t.match(answer, {
    id: /^chatcmpl-/,
    object: 'chat.completion',
    model: 'mine/m',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, finish_reason: 'stop', logprobs: null }],
    usage: {
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 18,
      prompt_tokens_details: { cached_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  });
});

t.test('case 1: the first chunk has the role, also if the answer begins with reasoning or with a call', async (t) => {
  for (const first of [{ type: 'text', text: 'Hello' }, { type: 'reasoning', text: 'Hm.' }, CALLS[0]] as ChatEvent[]) {
    const { client } = await clientOf(t, [first, END]);
    const chunks = await collected(await client.chat.completions.create({ model: 'mine/m', messages: [...HI], stream: true }));
    t.match(chunks[0]?.choices[0]?.delta, { role: 'assistant', content: '' }, first.type);
    t.notOk(chunks.slice(1).some((chunk) => chunk.choices[0]?.delta.role !== undefined));
  }
});

t.test('cases 2, 3 and 4: parallel calls have counting indices, are named once, and end in tool_calls', async (t) => {
  const pieces: ChatEvent[] = [
    { type: 'toolCallStart', index: 0, id: 'call_1', name: 'get_weather' },
    { type: 'toolCallDelta', index: 0, text: '{"city":' },
    { type: 'toolCallDelta', index: 0, text: '"Oslo"}' },
    { ...(CALLS[0] as ChatEvent & { type: 'toolCall' }), index: 0 },
    CALLS[1] as ChatEvent,
    END,
  ];
  for (const events of [[...CALLS, END], pieces]) {
    const { client } = await clientOf(t, events);
    const stream = client.chat.completions.stream({ model: 'mine/m', messages: [...HI], tools: [...TOOLS] });
    const message = await stream.finalMessage();
    t.match(message, {
      content: null,
      tool_calls: [
        { id: 'call_1', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
        { id: 'call_2', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
      ],
    });
    const chunks = await collected(await client.chat.completions.create({ model: 'mine/m', messages: [...HI], tools: [...TOOLS], stream: true }));
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    t.same([...new Set(deltas.map(({ index }) => index))], [0, 1]);
    t.same(
      deltas.flatMap(({ id }) => id ?? []),
      ['call_1', 'call_2'],
    );
    t.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'tool_calls');
  }
  const { client } = await clientOf(t, [...CALLS, END]);
  const whole = await client.chat.completions.create({ model: 'mine/m', messages: [...HI], tools: [...TOOLS] });
  t.match(whole.choices[0], { finish_reason: 'tool_calls', message: { content: null, tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] } });
});

t.test('case 5: usage comes in a chunk of its own, and only if it is asked for', async (t) => {
  const { client } = await clientOf(t, [{ type: 'text', text: 'Hello' }, USAGE, END]);
  const usages = async (include: boolean) => {
    const options = include ? { stream_options: { include_usage: true } } : {};
    const chunks = await collected(await client.chat.completions.create({ model: 'mine/m', messages: [...HI], stream: true, ...options }));
    return chunks.flatMap(({ usage, choices }) => (usage == null ? [] : [{ usage, choices }]));
  };
  t.same(await usages(false), []);
  t.match(await usages(true), [{ usage: { prompt_tokens: 11, completion_tokens: 7 }, choices: [] }]);
});

t.test('cases 7 and 8: a conversation comes back with its calls, results, developer turns and empty contents', async (t) => {
  const { client, last } = await clientOf(t, [{ type: 'text', text: 'Hello' }, END]);
  await client.chat.completions.create({
    model: 'mine/m',
    tools: [...TOOLS],
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'weather?' }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: '3 C' },
      { role: 'system', content: 'Use metric units.' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'and tomorrow?' },
    ],
  });
  t.match(last().prompt, {
    system: 'Be brief.\n\nUse metric units.',
    turns: [
      { role: 'user', text: 'weather?' },
      { role: 'assistant', text: '', toolCalls: [{ id: 'call_1', arguments: { city: 'Oslo' } }] },
      { role: 'tool', results: [{ content: '3 C' }] },
      { role: 'user', text: 'and tomorrow?' },
    ],
  });
});

t.test('a call without a result gets one, and a result without its call becomes text', async (t) => {
  const { server, last } = await clientOf(t, [{ type: 'text', text: 'Hello' }, END]);
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'get_weather', arguments: '' } }] },
    { role: 'user', content: 'never mind' },
    { role: 'tool', tool_call_id: 'nobody', content: 'late' },
  ];
  const answer = await server.call('POST', '/v1/chat/completions', { body: { model: 'mine/m', messages, tools: TOOLS } });
  t.match(answer, { status: 200, headers: { 'x-blockhouse-warnings': 'messages' } });
  t.match(last().prompt.turns, [
    { text: 'hi' },
    { role: 'assistant' },
    { role: 'tool', results: [{ content: '(no result)' }] },
    { text: 'never mind' },
    { text: 'late' },
  ]);
});

t.test('cases 9, 10 and 12: limits, formats, images and sampling reach the provider', async (t) => {
  const { client, last } = await clientOf(t, [{ type: 'text', text: '{}' }, END]);
  await client.chat.completions.create({
    model: 'mine/m',
    max_tokens: 5,
    max_completion_tokens: 50,
    top_p: 0.5,
    stop: 'END',
    seed: 1,
    reasoning_effort: 'low',
    metadata: { a: 'b' },
    tools: [...TOOLS],
    tool_choice: { type: 'function', function: { name: 'get_weather' } },
    response_format: { type: 'json_schema', json_schema: { name: 'a b', schema: { type: 'object' }, strict: true } },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        ],
      },
    ],
  });
  t.match(last().prompt, {
    maxTokens: 50,
    options: {
      topP: 0.5,
      stop: ['END'],
      seed: 1,
      reasoning: { effort: 'low' },
      metadata: { a: 'b' },
      toolChoice: { name: 'get_weather' },
      output: { type: 'json_schema', name: 'a_b', schema: { type: 'object' }, strict: true },
    },
    turns: [
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'look' },
          { type: 'image', mediaType: 'image/png', data: 'AAAA', detail: 'low' },
        ],
      },
    ],
  });
});

t.test('case 11: what would be answered wrongly is refused by its field, and what is unknown is ignored', async (t) => {
  const { server } = await clientOf(t, [{ type: 'text', text: 'Hello' }, END]);
  const post = (body: object) => server.call('POST', '/v1/chat/completions', { body: { model: 'mine/m', messages: HI, ...body } });
  for (const [body, param] of [
    [{ n: 2 }, 'n'],
    [{ functions: [] }, 'functions'],
    [{ modalities: ['audio'] }, 'modalities'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'function', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] }, 'messages[0].content[0].file.file_id'],
    [{ temperature: 3 }, 'temperature'],
    [{ model: '' }, 'model'],
    [{ tools: [{ type: 'web' }] }, 'tools[0].type'],
  ] as const)
    t.match(await post(body), { status: 400, json: { error: { type: 'invalid_request_error', param } } }, param);
  t.match(await post({ n: 1, next_month: { field: true }, logit_bias: { 1: 2 }, temperature: 1.5 }), {
    status: 200,
    headers: { 'x-blockhouse-warnings': 'logit_bias; temperature' },
  });
});

t.test('a custom tool gets its text raw, whole and streamed', async (t) => {
  const call: ChatEvent = { type: 'toolCall', toolCall: { id: 'call_1', name: 'run', arguments: { input: 'print("hi")\n' } } };
  const { client, last } = await clientOf(t, [call, END]);
  const tools = [{ type: 'custom', custom: { name: 'run', description: 'Runs code' } }] as const;
  const whole = await client.chat.completions.create({ model: 'mine/m', messages: [...HI], tools: [...tools] });
  t.match(whole.choices[0]?.message.tool_calls, [{ id: 'call_1', type: 'custom', custom: { name: 'run', input: 'print("hi")\n' } }]);
  t.match(last().prompt.tools, [{ name: 'run', parameters: { required: ['input'] } }]);
  const chunks = await collected(await client.chat.completions.create({ model: 'mine/m', messages: [...HI], tools: [...tools], stream: true }));
  const inputs = chunks
    .flatMap((chunk) => (chunk.choices[0]?.delta.tool_calls ?? []) as { custom?: { input?: string } }[])
    .map(({ custom }) => custom?.input ?? '');
  t.equal(inputs.join(''), 'print("hi")\n');
});

t.test('case 36: names that the gateway does not take are mapped there and back', async (t) => {
  const call: ChatEvent = { type: 'toolCall', toolCall: { id: 'call_1', name: 't_mcp_git_status', arguments: {} } };
  const { client, last } = await clientOf(t, [call, END]);
  const tools = [{ type: 'function', function: { name: 'mcp.git/status' } }] as const;
  const { choices } = await client.chat.completions.create({ model: 'mine/m', messages: [...HI], tools: [...tools] });
  t.equal(last().prompt.tools[0]?.name, 't_mcp_git_status');
  t.match(choices[0]?.message.tool_calls, [{ function: { name: 'mcp.git/status' } }]);
});

t.test('case 15: a stream that broke off is an error for the client, without an end mark', async (t) => {
  const broken = (): never => {
    throw new BlockhouseError('UPSTREAM_FAILED', 'It broke.', { mayHaveRun: true });
  };
  const { client, server } = await clientOf(t, [{ type: 'text', text: 'Hel' }, broken]);
  const failure = await collected(await client.chat.completions.create({ model: 'mine/m', messages: [...HI], stream: true })).catch((error: unknown) => error);
  t.ok(failure instanceof APIError, String(failure));
  const { text } = await server.call('POST', '/v1/chat/completions', { body: { model: 'mine/m', messages: HI, stream: true } });
  t.match(text, /data: \{"error":\{"message":"It broke\.","type":"server_error","param":null,"code":"server_is_overloaded"\}\}\n\n$/);
  t.notMatch(text, /\[DONE\]|"finish_reason":"/);
});

t.test('case 16: an error before the first byte keeps its status, whole and streamed', async (t) => {
  const limited = (): never => {
    throw new BlockhouseError('UPSTREAM_RATE_LIMITED', 'Slow down.', { retryAfterMs: 100_000 });
  };
  const { client, server } = await clientOf(t, [limited]);
  for (const stream of [false, true]) {
    const failure = await client.chat.completions.create({ model: 'mine/m', messages: [...HI], stream }).then(
      () => undefined,
      (error: RateLimitError) => error,
    );
    t.ok(failure instanceof RateLimitError, String(failure));
  }
  t.match(await server.call('POST', '/v1/chat/completions', { body: { model: 'mine/m', messages: HI } }), {
    status: 429,
    headers: { 'retry-after': '100' },
    json: { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
  });
});

t.test('cases 38 and 39: unknown models, wrong keys and odd names have the errors that clients know', async (t) => {
  const { client, server } = await clientOf(t, [{ type: 'text', text: 'Hello' }, END]);
  t.ok((await client.chat.completions.create({ model: 'mystery', messages: [...HI] }).catch((error: unknown) => error)) instanceof NotFoundError);
  const stranger = new OpenAI({ apiKey: 'wrong', baseURL: `${server.url}/v1`, maxRetries: 0 });
  t.ok((await stranger.chat.completions.create({ model: 'mine/m', messages: [...HI] }).catch((error: unknown) => error)) instanceof AuthenticationError);
  t.match(
    await server.call('POST', '/v1/chat/completions', { token: false, headers: { 'x-api-key': server.token }, body: { model: 'mine/a/b', messages: HI } }),
    {
      status: 200,
      json: { model: 'mine/a/b' },
      headers: { 'x-blockhouse-model': 'mine/a/b' },
    },
  );
  t.same(
    (await client.models.list()).data.map(({ id }) => id),
    ['mine/m'],
  );
  for (const path of ['/v1/models/mine%2Fm', '/v1/models/mine/m'])
    t.match(await server.call('GET', path), { status: 200, json: { id: 'mine/m', object: 'model', owned_by: 'mine' } }, path);
  t.match((await server.call('GET', '/v1/models', { headers: { 'anthropic-version': '2023-06-01' } })).json, {
    data: [{ type: 'model', id: 'mine/m', display_name: 'm' }],
    has_more: false,
    first_id: 'mine/m',
  });
  t.match(await server.call('GET', '/v1/models/mystery'), { status: 404, json: { error: { code: 'model_not_found' } } });
});

t.test('case 17: a client that leaves ends the work of the provider', async (t) => {
  let resolve = (): void => undefined;
  const left = new Promise<void>((done) => {
    resolve = done;
  });
  const adapter = scriptedAdapter(
    {
      chat: async ({ sink, signal }) => {
        sink.emit([{ type: 'text', text: 'Hello' }]);
        await new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
      },
    },
    'mine',
  );
  const slow = { ...adapter, chat: (call: ChatCall) => adapter.chat(call).finally(() => resolve()) };
  const server = await startServer(t, { adapters: [slow] });
  const client = new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const stream = await client.chat.completions.create({ model: 'mine/m', messages: [...HI], stream: true });
  for await (const _chunk of stream) break;
  await left;
  t.pass('its signal fired');
});
