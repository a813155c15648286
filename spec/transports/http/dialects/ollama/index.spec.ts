// Ollama's own API through the official client, with a scripted provider behind the real server.
import { setTimeout as delay } from 'node:timers/promises';
import { Ollama } from 'ollama';
import t, { type Test } from 'tap';
import { BlockhouseError, type ChatCall, type ChatEvent } from '../../../../../core/index.ts';
import type { HttpTransportOptions } from '../../../../../transports/http/index.ts';
import { scriptedAdapter } from '../../../../support/scripted-adapter.ts';
import { startServer } from '../../../../support/server.ts';
import { until } from '../../../../support/until.ts';

const USAGE: ChatEvent = { type: 'usage', usage: { inputTokens: 11, outputTokens: 7 } };
const END: ChatEvent = { type: 'stop', stopReason: 'end_turn' };
const CALLS: ChatEvent[] = [
  { type: 'toolCall', toolCall: { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } } },
  { type: 'toolCall', toolCall: { id: 'call_2', name: 'get_weather', arguments: { city: 'Rome' } } },
];
const TOOLS = [
  { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
];
const HI = [{ role: 'user', content: 'hi' }];
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A client of a server whose provider emits these events, and the calls that it has got. */
async function clientOf(t: Test, answer: (ChatEvent | ((call: ChatCall) => Promise<void> | never))[], http: HttpTransportOptions = {}) {
  const calls: ChatCall[] = [];
  const adapter = scriptedAdapter(
    {
      chat: async (call) => {
        calls.push(call);
        for (const one of answer) {
          if (typeof one === 'function') await one(call);
          else call.sink.emit([one]);
        }
      },
      listModels: () => ['m'],
    },
    'mine',
  );
  const one = {
    ...adapter,
    supports: { parts: ['image'], options: ['topP', 'topK', 'stop', 'seed', 'presencePenalty', 'frequencyPenalty', 'output', 'reasoning'] },
  } as const;
  const server = await startServer(t, { adapters: [one], retries: 0, http });
  const client = new Ollama({ host: `${server.url}/ollama`, headers: { authorization: `Bearer ${server.token}` } });
  const post = (path: string, body: object) => server.call('POST', `/ollama/api/${path}`, { body: { model: 'mine/m', ...body } });
  return { client, server, calls, post, last: () => calls.at(-1) as ChatCall };
}

async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const broken = (): never => {
  throw new BlockhouseError('UPSTREAM_FAILED', 'It broke.', { mayHaveRun: true });
};

t.test('a whole chat has the asked name, the text, the thinking, the counts and the durations', async (t) => {
  const { client } = await clientOf(t, [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, USAGE, END]);
  const answer = await client.chat({ model: 'mine/m', messages: HI });
  t.match(answer, {
    model: 'mine/m',
    created_at: /^\d{4}-\d\d-\d\dT/,
    message: { role: 'assistant', content: 'Hello', thinking: 'Hm.' },
    done: true,
    done_reason: 'stop',
    load_duration: 0,
    prompt_eval_count: 11,
    eval_count: 7,
  });
  for (const duration of [answer.total_duration, answer.prompt_eval_duration, answer.eval_duration])
    t.ok(Number.isInteger(duration) && duration > 0, String(duration));
});

t.test('a streamed chat comes in pieces and ends in a done line with the counts', async (t) => {
  const { client, post } = await clientOf(t, [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
    USAGE,
    { type: 'stop', stopReason: 'max_tokens' },
  ]);
  const parts = await collected(await client.chat({ model: 'mine/m', messages: HI, stream: true }));
  t.same(
    parts.map(({ message, done }) => [message.thinking ?? '', message.content, done]),
    [
      ['Hm.', '', false],
      ['', 'Hel', false],
      ['', 'lo', false],
      ['', '', true],
    ],
  );
  t.match(parts.at(-1), { model: 'mine/m', done_reason: 'length', prompt_eval_count: 11, eval_count: 7, load_duration: 0 });
  const raw = await post('chat', { messages: HI });
  t.match(raw.headers, { 'content-type': 'application/x-ndjson', 'x-blockhouse-model': 'mine/m' }, 'a stream is the default');
  t.ok(raw.text.split('\n').length === 5 && raw.text.endsWith('}\n'), raw.text);
});

t.test('parallel calls come complete, and their results find them by id, by the name of the tool and by their order', async (t) => {
  const { client, last } = await clientOf(t, [...CALLS, END]);
  const whole = await client.chat({ model: 'mine/m', messages: HI, tools: TOOLS });
  t.match(whole.message, {
    content: '',
    tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Oslo' } } }, { function: { arguments: { city: 'Rome' } } }],
  });
  t.equal(whole.done_reason, 'stop');
  t.match(last().prompt.tools, [{ name: 'get_weather', description: 'Weather', parameters: { properties: { city: {} } } }]);
  const parts = await collected(await client.chat({ model: 'mine/m', messages: HI, tools: TOOLS, stream: true }));
  t.match(
    parts.flatMap(({ message }) => message.tool_calls ?? []),
    [{ function: { index: 0, arguments: { city: 'Oslo' } } }, { function: { index: 1, arguments: { city: 'Rome' } } }],
  );
  const oslo = { function: { name: 'get_weather', arguments: { city: 'Oslo' } } };
  const time = { function: { name: 'mcp.get/time', arguments: {} } };
  const results = [
    { role: 'tool', tool_name: 'mcp.get/time', content: 'noon' },
    { role: 'tool', tool_name: 'get_weather', content: '3 C' },
  ];
  await client.chat({ model: 'mine/m', messages: [...HI, { role: 'assistant', content: '', tool_calls: [oslo, time] }, ...results], tools: TOOLS });
  const [, asked, got] = last().prompt.turns;
  const ids = asked?.role === 'assistant' ? asked.toolCalls.map(({ id }) => id) : [];
  t.equal(new Set(ids).size, 2);
  t.same(got?.role === 'tool' ? got.results.map(({ toolCallId, content }) => [toolCallId, content]) : [], [
    [ids[0], '3 C'],
    [ids[1], 'noon'],
  ]);
});

t.test('options, the form of the answer and thinking reach the provider', async (t) => {
  const { client, last } = await clientOf(t, [{ type: 'text', text: '{}' }, END]);
  const schema = { type: 'object', properties: { age: { type: 'number' } }, required: ['age'] };
  const options = { temperature: 0.5, top_p: 0.9, top_k: 40, num_predict: 50, stop: ['END'], seed: 1, presence_penalty: 1, frequency_penalty: 0.5, num_ctx: 9 };
  await client.chat({ model: 'mine/m', messages: HI, format: schema, options, think: 'low', keep_alive: '5m' });
  t.match(last().prompt, {
    temperature: 0.5,
    maxTokens: 50,
    options: {
      topP: 0.9,
      topK: 40,
      stop: ['END'],
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 0.5,
      output: { type: 'json_schema', schema },
      reasoning: { effort: 'low', summary: true },
    },
  });
  await client.chat({ model: 'mine/m', messages: HI, format: 'json', think: false });
  t.match(last().prompt.options, { output: { type: 'json' }, reasoning: { effort: 'none' } });
});

t.test('images are read by their first bytes', async (t) => {
  const { client, last, post } = await clientOf(t, [{ type: 'text', text: 'a dot' }, END]);
  await client.chat({ model: 'mine/m', messages: [{ role: 'user', content: 'look', images: [new Uint8Array(Buffer.from(PNG, 'base64'))] }] });
  const turn = {
    role: 'user',
    parts: [
      { type: 'text', text: 'look' },
      { type: 'image', mediaType: 'image/png', data: PNG },
    ],
  };
  t.match(last().prompt.turns, [turn]);
  await client.generate({ model: 'mine/m', prompt: 'look', images: [PNG] });
  t.match(last().prompt.turns, [turn]);
  t.match(await post('chat', { messages: [{ role: 'user', content: 'look', images: ['AAAA'] }] }), {
    status: 400,
    json: { error: /messages\[0\]\.images\[0\]/ },
  });
});

t.test('a prompt is answered whole and streamed, and its system text counts', async (t) => {
  const { client, last, post } = await clientOf(t, [{ type: 'text', text: 'Hello' }, USAGE, END]);
  t.match(await client.generate({ model: 'mine/m', prompt: 'hi', system: 'Be brief.' }), { response: 'Hello', done: true, done_reason: 'stop', eval_count: 7 });
  t.match(last().prompt, { system: 'Be brief.', turns: [{ role: 'user', text: 'hi' }] });
  const parts = await collected(await client.generate({ model: 'mine/m', prompt: 'hi', stream: true }));
  t.same(
    parts.map(({ response, done }) => [response, done]),
    [
      ['Hello', false],
      ['', true],
    ],
  );
  t.match(await post('generate', { prompt: 'hi', raw: true, context: [1, 2], stream: false }), {
    status: 200,
    headers: { 'x-blockhouse-warnings': 'raw; context' },
  });
  t.match(await post('generate', { prompt: 'hi', suffix: 'end' }), { status: 400, json: { error: /suffix/ } });
});

t.test('a request that only loads a model is answered without the provider', async (t) => {
  const { client, calls, post } = await clientOf(t, [END]);
  t.match(await client.generate({ model: 'mine/m', prompt: '' }), { response: '', done: true, done_reason: 'load' });
  t.match(await client.chat({ model: 'mine/m', messages: [], keep_alive: 0 }), { message: { content: '' }, done: true, done_reason: 'unload' });
  t.match(await post('generate', {}), { status: 200, json: { done: true }, headers: { 'content-type': /^application\/json/ } });
  t.match(await post('generate', { model: 'mystery' }), { status: 404 });
  t.equal(calls.length, 0);
});

t.test('a stream that broke off ends in an error line without a done line', async (t) => {
  const { client, post } = await clientOf(t, [{ type: 'text', text: 'Hel' }, broken]);
  await t.rejects(collected(await client.chat({ model: 'mine/m', messages: HI, stream: true })), { message: 'It broke.' });
  const { text } = await post('chat', { messages: HI });
  t.match(text, /\n\{"error":"It broke\."\}\n$/);
  t.notMatch(text, '"done":true');
});

t.test('an error before the first byte keeps its status, and every error is one text', async (t) => {
  const limited = (): never => {
    throw new BlockhouseError('UPSTREAM_RATE_LIMITED', 'Slow down.', { retryAfterMs: 100_000 });
  };
  const { client, server, post } = await clientOf(t, [limited]);
  for (const stream of [false, true])
    t.match(await failureOf(client.chat({ model: 'mine/m', messages: HI, stream: stream as true })), {
      name: 'ResponseError',
      status_code: 429,
      error: 'Slow down.',
    });
  t.match(await post('chat', { messages: HI }), { status: 429, headers: { 'retry-after': '100' }, json: { error: 'Slow down.' } });
  t.match(await failureOf(client.chat({ model: 'mystery', messages: HI })), { status_code: 404, error: /mystery/ });
  const stranger = new Ollama({ host: `${server.url}/ollama`, headers: { authorization: 'Bearer wrong' } });
  t.match(await failureOf(stranger.chat({ model: 'mine/m', messages: HI })), { status_code: 401 });
  t.match(await post('chat', { messages: [{ role: 'user', content: 7 }] }), { status: 400, json: { error: /messages\[0\]\.content/ } });
});

t.test('a client that leaves ends the call of the provider', async (t) => {
  let left = false;
  const waiting = (call: ChatCall) =>
    new Promise<void>((_resolve, reject) => {
      call.signal.addEventListener('abort', () => {
        left = true;
        reject(new BlockhouseError('CANCELLED', 'The client left.'));
      });
    });
  const { client } = await clientOf(t, [{ type: 'text', text: 'Hel' }, waiting]);
  const stream = await client.chat({ model: 'mine/m', messages: HI, stream: true });
  await t.rejects(
    (async () => {
      for await (const part of stream) if (part.message.content === 'Hel') stream.abort();
    })(),
    { name: 'AbortError' },
  );
  await until('the call of the provider has ended', () => left);
});

t.test('models are listed and shown, none is loaded, and none can be changed', async (t) => {
  const { client, server } = await clientOf(t, [END]);
  t.match((await client.list()).models, [{ name: 'mine/m', model: 'mine/m', digest: /^[0-9a-f]{64}$/, details: { family: 'mine' } }]);
  t.match(await client.show({ model: 'mine/m' }), { capabilities: ['completion', 'tools', 'vision', 'thinking'], details: { family: 'mine' } });
  t.match(await server.call('POST', '/ollama/api/show', { body: { name: 'mine/m' } }), { status: 200 }, 'older clients call it name');
  t.same((await client.ps()).models, []);
  t.match(await client.version(), { version: /^\d+\.\d+\.\d+$/ });
  const refused = { status_code: 404, error: /does not manage models/ };
  t.match(await failureOf(client.show({ model: 'mystery' })), { status_code: 404, error: /mystery/ });
  t.match(await failureOf(client.pull({ model: 'm' })), refused);
  t.match(await failureOf(client.push({ model: 'm' })), refused);
  t.match(await failureOf(client.create({ model: 'm', from: 'n' })), refused);
  t.match(await failureOf(client.copy({ source: 'm', destination: 'n' })), refused);
  t.match(await failureOf(client.delete({ model: 'm' })), refused);
  t.match(await server.call('GET', '/ollama', { token: false }), { status: 200, text: 'Ollama is running', headers: { 'content-type': /^text\/plain/ } });
});

t.test('a body is JSON whatever its media type says, as the examples with curl send it', async (t) => {
  const { server } = await clientOf(t, [{ type: 'text', text: 'Hello' }, END]);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  t.match(await server.call('POST', '/ollama/api/generate', { headers, body: { model: 'mine/m', prompt: 'hi' } }), { status: 200 });
  t.match(await server.call('POST', '/ollama/api/show', { headers, body: { model: 'mine/m' } }), { status: 200 });
  t.match(await server.call('POST', '/v1/chat/completions', { headers, body: { model: 'mine/m', messages: HI } }), { status: 415 });
  const packed = { 'content-encoding': 'gzip' };
  t.match(await server.call('POST', '/ollama/api/generate', { headers: packed, body: { model: 'mine/m' } }), { status: 415, json: { error: /gzip/ } });
});

t.test('a silent stream is kept open by lines that the client takes for pieces without text', async (t) => {
  const slow = () => delay(150);
  const { client } = await clientOf(t, [slow, { type: 'text', text: 'Hel' }, slow, { type: 'text', text: 'lo' }, END], {
    sse: { openAfterMs: 20, keepAliveMs: 20 },
  });
  const parts = await collected(await client.chat({ model: 'mine/m', messages: HI, stream: true }));
  t.equal(parts.map(({ message }) => message.content).join(''), 'Hello');
  t.ok(parts.findIndex(({ message }) => message.content === 'Hel') > 0, 'there were lines before the first text');
});

t.test('a key of an application is taken', async (t) => {
  const { server } = await clientOf(t, [{ type: 'text', text: 'Hello' }, END]);
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json as { key: string };
  for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
    t.match(await server.call('GET', '/ollama/api/tags', { token: false, headers }), { status: 200 });
    t.match(await server.call('POST', '/ollama/api/chat', { token: false, headers, body: { model: 'mine/m', messages: HI } }), { status: 200 });
  }
});
