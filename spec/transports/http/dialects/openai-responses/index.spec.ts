// Responses through the official client, with a scripted provider behind the real server.
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI, { APIError, AuthenticationError, BadRequestError, NotFoundError, RateLimitError } from 'openai';
import type { Response as OpenAIResponse, ResponseStreamEvent } from 'openai/resources/responses/responses';
import t, { type Test } from 'tap';
import { BlockhouseError, type ChatCall, type ChatEvent } from '../../../../../core/index.ts';
import { scriptedAdapter } from '../../../../support/scripted-adapter.ts';
import { startServer } from '../../../../support/server.ts';

const USAGE: ChatEvent = { type: 'usage', usage: { inputTokens: 11, outputTokens: 7, cacheReadTokens: 3, reasoningTokens: 2 } };
const END: ChatEvent = { type: 'stop', stopReason: 'end_turn' };
const HELLO: ChatEvent[] = [{ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, USAGE, END];
const OSLO = { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } };
const ROME = { id: 'call_2', name: 'get_weather', arguments: { city: 'Rome' } };
const CALLS: ChatEvent[] = [
  { type: 'toolCall', toolCall: OSLO },
  { type: 'toolCall', toolCall: ROME },
];
const PIECES: ChatEvent[] = [
  { type: 'toolCallStart', index: 0, id: 'call_1', name: 'get_weather' },
  { type: 'toolCallDelta', index: 0, text: '{"city":' },
  { type: 'toolCallStart', index: 1, id: 'call_2', name: 'get_weather' },
  { type: 'toolCallDelta', index: 1, text: '{"city":"Rome"}' },
  { type: 'toolCallDelta', index: 0, text: '"Oslo"}' },
  { type: 'toolCall', toolCall: OSLO, index: 0 },
  { type: 'toolCall', toolCall: ROME, index: 1 },
];
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const TOOLS = [{ type: 'function', name: 'get_weather', parameters: PARAMETERS, strict: true }] as const;
const ASK = { model: 'mine/m', input: 'hi' } as const;
/** Every field of a response that clients' schemas want. */
const FIELDS =
  'id object created_at completed_at status background error incomplete_details instructions max_output_tokens max_tool_calls model output parallel_tool_calls previous_response_id prompt_cache_key reasoning safety_identifier service_tier store temperature text tool_choice tools top_logprobs top_p truncation presence_penalty frequency_penalty usage user metadata'.split(
    ' ',
  );

type Step = ChatEvent | (() => never);

/** A client of a server whose provider emits these events, and the calls that it has got. */
async function clientOf(t: Test, answer: readonly Step[]) {
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
    supports: { parts: ['image', 'document'], options: ['topP', 'output', 'reasoning', 'toolChoice', 'metadata', 'user', 'cacheKey', 'parallelToolCalls'] },
  } as const;
  const server = await startServer(t, { adapters: [one], retries: 0 });
  const client = new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const post = (body: object) => server.call('POST', '/v1/responses', { body: { ...ASK, ...body } });
  return { client, server, calls, post, last: () => calls.at(-1) as ChatCall };
}

async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** The ids of two answers differ. */
function withoutIds({ output }: OpenAIResponse): unknown[] {
  return output.map(({ id: _id, ...item }) => item);
}

/** Cases 19 and 20 for any whole stream; returns its last response. */
function assertWellFormed(t: Test, events: readonly ResponseStreamEvent[]): OpenAIResponse {
  t.same(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, index) => index),
    'sequence numbers have no gaps',
  );
  t.same([events[0]?.type, events[1]?.type], ['response.created', 'response.in_progress']);
  const added = events.flatMap((event) => (event.type === 'response.output_item.added' ? [event] : []));
  const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event] : []));
  t.same(
    added.map(({ output_index }) => output_index),
    added.map((_, index) => index),
  );
  const inOrder = done.toSorted((a, b) => a.output_index - b.output_index).map(({ item }) => item);
  t.same(
    inOrder.map(({ id }) => id),
    added.map(({ item }) => item.id),
    'every added item is done',
  );
  const end = events.at(-1);
  if (end?.type !== 'response.completed' && end?.type !== 'response.incomplete') throw new Error(`not an end: ${end?.type}`);
  t.same(end.response.output, inOrder, 'the end has the items again');
  t.equal(new Set(inOrder.map(({ id }) => id)).size, inOrder.length, 'ids differ');
  t.same(
    FIELDS.filter((name) => !(name in end.response)),
    [],
  );
  return end.response;
}

t.test('a whole answer has the asked name, the text, the usage and every field', async (t) => {
  const { client } = await clientOf(t, HELLO);
  const answer = await client.responses.create({ ...ASK, instructions: 'Be brief.', tools: [...TOOLS] });
  t.equal(answer.output_text, 'Hello');
  t.match(answer, {
    id: /^resp_/,
    object: 'response',
    model: 'mine/m',
    status: 'completed',
    store: false,
    instructions: 'Be brief.',
    output: [{ id: /^msg_/, type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', annotations: [] }] }],
    tools: [{ type: 'function', name: 'get_weather', description: null, strict: true }],
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 18,
    },
  });
  t.same(
    FIELDS.filter((name) => !(name in answer)),
    [],
  );
});

t.test('case 6: an answer without reported usage has an estimate', async (t) => {
  const { client } = await clientOf(t, [{ type: 'text', text: 'Hello' }, END]);
  const { usage } = await client.responses.create(ASK);
  t.ok((usage?.output_tokens ?? 0) > 0);
  t.equal(usage?.output_tokens_details.reasoning_tokens, 0);
});

t.test('cases 19 and 20: reasoning, text and calls are items, each added and done, and the end has them again', async (t) => {
  for (const calls of [CALLS, PIECES]) {
    const { client } = await clientOf(t, [{ type: 'reasoning', text: 'Hm' }, { type: 'reasoning', text: '.' }, ...HELLO.slice(0, 2), ...calls, USAGE, END]);
    const events = await collected(await client.responses.create({ ...ASK, tools: [...TOOLS], stream: true }));
    const response = assertWellFormed(t, events);
    t.match(response, {
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        { type: 'message', content: [{ text: 'Hello' }] },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}', status: 'completed' },
        { type: 'function_call', call_id: 'call_2', name: 'get_weather', arguments: '{"city":"Rome"}', status: 'completed' },
      ],
      usage: { input_tokens: 11, output_tokens_details: { reasoning_tokens: 2 } },
    });
    const whole = await client.responses.create({ ...ASK, tools: [...TOOLS] });
    t.same(withoutIds(whole), withoutIds(response), 'the whole answer has the same items');
  }
});

t.test("cases 2 and 3: the client's helper puts texts and calls together from their pieces", async (t) => {
  const { client } = await clientOf(t, [...HELLO.slice(0, 2), ...PIECES, USAGE, END]);
  const texts: string[] = [];
  const args: string[] = [];
  const stream = client.responses
    .stream({ ...ASK, tools: [...TOOLS] })
    .on('response.output_text.delta', ({ snapshot }) => texts.push(snapshot))
    .on('response.function_call_arguments.delta', ({ snapshot }) => args.push(snapshot));
  const response = await stream.finalResponse();
  t.equal(response.output_text, 'Hello');
  t.same(texts, ['Hel', 'Hello']);
  t.same(args.slice(0, 1), ['{"city":']);
  t.same(
    response.output.flatMap((item) => (item.type === 'function_call' ? [item.parsed_arguments] : [])),
    [{ city: 'Oslo' }, { city: 'Rome' }],
  );
});

t.test('case 10: a structured output is asked for and parsed', async (t) => {
  const { client, last } = await clientOf(t, [{ type: 'text', text: '{"city":"Oslo"}' }, END]);
  const format = { type: 'json_schema', name: 'a city', schema: PARAMETERS, strict: true } as const;
  Object.defineProperties(format, { $brand: { value: 'auto-parseable-response-format' }, $parseRaw: { value: (text: string) => JSON.parse(text) as unknown } });
  const parsed = await client.responses.parse({ ...ASK, text: { format } });
  t.same(parsed.output_parsed, { city: 'Oslo' });
  t.same(last().prompt.options?.output, { type: 'json_schema', name: 'a_city', schema: PARAMETERS, strict: true });
  t.match(parsed.text, { format: { type: 'json_schema', name: 'a city' } });
  await client.responses.create({ ...ASK, text: { format: { type: 'json_object' } } });
  t.same(last().prompt.options?.output, { type: 'json' });
});

t.test('case 21: an answer at the limit of tokens is incomplete, with its usage', async (t) => {
  for (const [stopReason, reason] of [
    ['max_tokens', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
    ['refusal', 'content_filter'],
  ] as const) {
    const { client } = await clientOf(t, [{ type: 'text', text: 'Hel' }, USAGE, { type: 'stop', stopReason }]);
    const expected = {
      status: 'incomplete',
      completed_at: null,
      incomplete_details: { reason },
      usage: { output_tokens: 7 },
      output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }],
    };
    t.match(await client.responses.create({ ...ASK, max_output_tokens: 16 }), expected);
    const events = await collected(await client.responses.create({ ...ASK, stream: true }));
    t.equal(events.at(-1)?.type, 'response.incomplete');
    t.match(assertWellFormed(t, events), expected);
    t.match(await client.responses.stream(ASK).finalResponse(), expected);
  }
});

t.test('a call that is cut off in the middle is closed, and its answer is incomplete', async (t) => {
  const cut = PIECES.slice(0, 2);
  for (const [events, tools] of [
    [[...cut, USAGE, { type: 'stop', stopReason: 'max_tokens' }], TOOLS],
    [[...CALLS.slice(1), ...cut, USAGE, { type: 'stop', stopReason: 'max_tokens' }], TOOLS],
    [[...cut, USAGE, { type: 'stop', stopReason: 'max_tokens' }], [{ type: 'custom', name: 'get_weather' }]],
  ] as const) {
    const { client } = await clientOf(t, events);
    const asked = { ...ASK, tools: [...tools] } as Parameters<typeof client.responses.stream>[0];
    const response = await client.responses.stream(asked).finalResponse();
    t.match(response, { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    t.match(response.output.at(-1), { call_id: 'call_1', status: 'incomplete' });
    assertWellFormed(t, await collected(await client.responses.create({ ...ASK, tools: [...tools] as never, stream: true })));
  }
});

t.test('an answer without a text or a call still has a message', async (t) => {
  for (const events of [[END], [{ type: 'reasoning', text: 'Hm.' }, END]] as ChatEvent[][]) {
    const { client } = await clientOf(t, events);
    t.match((await client.responses.create(ASK)).output.at(-1), { type: 'message', content: [{ text: '' }] });
    const response = assertWellFormed(t, await collected(await client.responses.create({ ...ASK, stream: true })));
    t.match(response.output.at(-1), { type: 'message', content: [{ text: '' }] });
  }
});

t.test('cases 7, 8 and 26: a conversation comes back with its items, whatever they leave out', async (t) => {
  const { client, last } = await clientOf(t, HELLO);
  const answer = await client.responses.create({
    model: 'mine/m',
    instructions: 'Be brief.',
    tools: [],
    include: [],
    text: {},
    input: [
      { role: 'developer', content: 'Use metric units.' },
      { role: 'user', content: [{ type: 'input_text', text: 'weather?' }] },
      { type: 'message', role: 'assistant', content: [] as never },
      { role: 'assistant', content: 'Let me look.' },
      { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call', call_id: 'call_2', name: 'get_weather', arguments: '' },
      { type: 'function_call_output', call_id: 'call_1', output: '3 C' },
      { type: 'function_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'no data' }] },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'and tomorrow?' },
    ],
  });
  t.equal(answer.output_text, 'Hello');
  t.match(last().prompt, {
    system: 'Be brief.\n\nUse metric units.\n\nBe kind.',
    turns: [
      { role: 'user', text: 'weather?' },
      {
        role: 'assistant',
        text: 'Let me look.',
        toolCalls: [
          { id: 'call_1', arguments: { city: 'Oslo' } },
          { id: 'call_2', arguments: {} },
        ],
      },
      { role: 'tool', results: [{ content: '3 C' }, { content: 'no data' }] },
      { role: 'user', text: 'and tomorrow?' },
    ],
  });
});

t.test("the client's own items come back as it got them", async (t) => {
  const { client, last } = await clientOf(t, [{ type: 'reasoning', text: 'Hm.' }, ...HELLO.slice(0, 2), ...CALLS, USAGE, END]);
  const first = await client.responses.create({ ...ASK, tools: [...TOOLS] });
  const outputs = ['3 C', '9 C'].map((output, index) => ({ type: 'function_call_output', call_id: `call_${index + 1}`, output }) as const);
  await client.responses.create({ ...ASK, tools: [...TOOLS], input: [{ role: 'user', content: 'hi' }, ...first.output, ...outputs] as never });
  t.match(last().prompt.turns, [
    { text: 'hi' },
    { role: 'assistant', text: 'Hello', toolCalls: [OSLO, ROME] },
    { results: [{ content: '3 C' }, { content: '9 C' }] },
  ]);
});

t.test('cases 12, 13 and 14: images and files reach the provider, also in results of tools', async (t) => {
  const { client, last } = await clientOf(t, HELLO);
  const png = 'data:image/png;base64,AAAA';
  await client.responses.create({
    model: 'mine/m',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', image_url: png, detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' },
        ],
      },
      { type: 'function_call', call_id: 'a', name: 'shoot', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: png, detail: 'auto' }] },
    ],
  });
  t.match(last().prompt.turns, [
    {
      parts: [
        { type: 'text', text: 'look' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA', detail: 'low' },
        { type: 'document', mediaType: 'application/pdf', data: 'QQ==', name: 'a.pdf' },
      ],
    },
    { role: 'assistant' },
    { results: [{ parts: [{ type: 'image', data: 'AAAA' }] }] },
  ]);
});

t.test('case 22: a custom tool gets its text raw, and brings it back', async (t) => {
  const input = 'print("hi")\n\tx = \'\\n\'';
  const call = { id: 'call_1', name: 'run', arguments: { input } };
  const pieces: ChatEvent[] = [
    { type: 'toolCallStart', index: 0, id: 'call_1', name: 'run' },
    { type: 'toolCallDelta', index: 0, text: JSON.stringify({ input }) },
    { type: 'toolCall', toolCall: call, index: 0 },
  ];
  const tools = [{ type: 'custom', name: 'run', description: 'Runs code', format: { type: 'grammar', syntax: 'lark', definition: 'start: X' } }] as const;
  for (const events of [[{ type: 'toolCall', toolCall: call }], pieces] as ChatEvent[][]) {
    const { client, last } = await clientOf(t, [...events, END]);
    const item = { type: 'custom_tool_call', id: /^ctc_/, call_id: 'call_1', name: 'run', input };
    const whole = await client.responses.create({ ...ASK, tools: [...tools] });
    t.match(whole.output, [item]);
    t.match(last().prompt.tools, [{ name: 'run', description: /^Runs code\n\n.*\nstart: X$/, parameters: { required: ['input'] } }]);
    const streamed = await collected(await client.responses.create({ ...ASK, tools: [...tools], stream: true }));
    t.match(assertWellFormed(t, streamed).output, [item]);
    t.equal(streamed.map((event) => (event.type === 'response.custom_tool_call_input.delta' ? event.delta : '')).join(''), input);
    t.match((await client.responses.stream({ ...ASK, tools: [...tools] }).finalResponse()).output, [item]);
    const back = [...whole.output, { type: 'custom_tool_call_output', call_id: 'call_1', output: 'hi\n' }];
    await client.responses.create({ ...ASK, tools: [...tools], input: [{ role: 'user', content: 'hi' }, ...back] as never });
    t.match(last().prompt.turns.slice(1), [{ toolCalls: [{ name: 'run', arguments: { input } }] }, { results: [{ content: 'hi\n' }] }]);
  }
});

t.test('case 23: tools of namespaces have names of their own, and are named back', async (t) => {
  const inner = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } }) as const;
  const tools = [
    { type: 'namespace', name: 'crm', description: 'Customers', tools: [inner('find'), inner('merge')] },
    { type: 'namespace', name: 'shop', description: 'Orders', tools: [inner('find')] },
  ];
  const called = ['crm_find', 'shop_find', 'merge'].map((name, index): ChatEvent => ({ type: 'toolCall', toolCall: { id: `c${index}`, name, arguments: {} } }));
  const { client, last } = await clientOf(t, [...called, END]);
  const items = [
    { name: 'find', namespace: 'crm' },
    { name: 'find', namespace: 'shop' },
    { name: 'merge', namespace: 'crm' },
  ];
  const { output } = await client.responses.create({ ...ASK, tools: tools as never });
  t.match(output, items);
  t.same(
    last().prompt.tools.map(({ name }) => name),
    ['crm_find', 'merge', 'shop_find'],
  );
  t.match(assertWellFormed(t, await collected(await client.responses.create({ ...ASK, tools: tools as never, stream: true }))).output, items);
  await client.responses.create({ ...ASK, tools: tools as never, input: [{ role: 'user', content: 'hi' }, ...output] as never });
  t.match(last().prompt.turns[1], { toolCalls: [{ name: 'crm_find' }, { name: 'shop_find' }, { name: 'merge' }] });
});

t.test('case 24: tools may come as an item of the input', async (t) => {
  const { client, last } = await clientOf(t, [...CALLS, END]);
  const input = [
    { type: 'additional_tools', role: 'developer', tools: [...TOOLS] },
    { role: 'user', content: 'hi' },
  ];
  const { output } = await client.responses.create({ model: 'mine/m', input: input as never });
  t.match(last().prompt.tools, [{ name: 'get_weather', parameters: PARAMETERS }]);
  t.match(output, [{ type: 'function_call' }, { type: 'function_call' }]);
});

t.test('case 25: tools that only OpenAI can run are left out with a warning, and the others work', async (t) => {
  const { post, last } = await clientOf(t, [...CALLS, END]);
  const builtIn = [
    'local_shell',
    'web_search',
    'web_search_preview',
    'file_search',
    'computer_use_preview',
    'image_generation',
    'mcp',
    'code_interpreter',
    'tool_search',
  ];
  const answer = await post({ tools: [...builtIn.map((type) => ({ type })), ...TOOLS] });
  t.match(answer, { status: 200, headers: { 'x-blockhouse-warnings': /^tools\[0\]; tools\[1\]/ }, json: { output: [{ name: 'get_weather' }, {}] } });
  t.same(
    last().prompt.tools.map(({ name }) => name),
    ['get_weather'],
  );
  for (const tool_choice of [{ type: 'web_search' }, { type: 'mcp', server_label: 'x' }]) {
    t.match(await post({ tools: [{ type: 'web_search' }, ...TOOLS], tool_choice }), { status: 400, json: { error: { param: 'tool_choice' } } });
  }
  t.match(await post({ tools: [{ type: 'web_search' }], tool_choice: 'required' }), { status: 400, json: { error: { param: 'tool_choice' } } });
});

t.test("case 27: the provider's state travels with the client and comes back; foreign state is left out", async (t) => {
  const state: ChatEvent = { type: 'providerMetadata', providerMetadata: { mine: { model: 'm', signature: 'abc' } } };
  const signed: ChatEvent = { type: 'toolCall', toolCall: { ...OSLO, providerMetadata: { mine: { thought: 'xyz' } } } };
  for (const reasoning of [[], [{ type: 'reasoning', text: 'Hm.' }]] as ChatEvent[][]) {
    const { client, post, last } = await clientOf(t, [...reasoning, signed, state, END]);
    const asked = { ...ASK, tools: [...TOOLS], include: ['reasoning.encrypted_content'] } satisfies object;
    const whole = await client.responses.create({ ...asked, include: ['reasoning.encrypted_content'] });
    const streamed = assertWellFormed(t, await collected(await client.responses.create({ ...asked, include: ['reasoning.encrypted_content'], stream: true })));
    for (const { output } of [whole, streamed]) {
      t.equal(output.filter((item) => item.type === 'reasoning' && /^bh1\./.test(item.encrypted_content ?? '')).length, 1);
      const input = [{ role: 'user', content: 'hi' }, ...output, { type: 'function_call_output', call_id: 'call_1', output: '3 C' }];
      await client.responses.create({ ...asked, include: [], input: input as never });
      t.match(last().prompt.turns[1], {
        providerMetadata: { mine: { model: 'm', signature: 'abc' } },
        toolCalls: [{ id: 'call_1', providerMetadata: { mine: { thought: 'xyz' } } }],
      });
    }
    t.notMatch(JSON.stringify(await client.responses.create(ASK)), /bh1\./);
    const foreign = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAA' };
    t.match(await post({ input: [{ role: 'user', content: 'hi' }, foreign, { ...foreign, encrypted_content: null }] }), {
      status: 200,
      headers: { 'x-blockhouse-warnings': 'input[1].encrypted_content' },
    });
  }
});

t.test('case 28: what would need a stored conversation is refused', async (t) => {
  const { client, post } = await clientOf(t, HELLO);
  for (const [name, value] of [
    ['previous_response_id', 'resp_1'],
    ['conversation', { id: 'conv_1' }],
  ] as const) {
    const failure = await failureOf(client.responses.create({ ...ASK, [name]: value }));
    t.ok(failure instanceof BadRequestError);
    t.match(failure, { code: 'previous_response_not_found', param: name, type: 'invalid_request_error' });
  }
  for (const [body, param] of [
    [{ background: true }, 'background'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0]'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }, 'input[0].content[0].file_id'],
    [{ input: [] }, 'input'],
    [{ input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
    [{ temperature: 3 }, 'temperature'],
    [{ model: '' }, 'model'],
    [{ text: { format: { type: 'grammar' } } }, 'text.format.type'],
  ] as const)
    t.match(await post(body), { status: 400, json: { error: { type: 'invalid_request_error', param, code: null } } }, param);
});

t.test('unknown fields, items and parts are ignored with a warning that names them', async (t) => {
  const { post, last } = await clientOf(t, HELLO);
  const answer = await post({
    next_month: true,
    store: true,
    client_metadata: { a: 'b' },
    truncation: 'auto',
    include: ['message.output_text.logprobs'],
    temperature: 1.5,
    reasoning: { effort: 'ultra' },
    text: { verbosity: 'low' },
    input: [
      { type: 'web_search_call', id: 'ws_1' },
      { role: 'user', content: [{ type: 'input_text', text: 'hi' }, { type: 'input_hologram' }] },
    ],
  });
  t.match(answer, { status: 200, json: { truncation: 'auto', text: { verbosity: 'low', format: { type: 'text' } } } });
  t.same(answer.headers['x-blockhouse-warnings']?.toString().split('; ').toSorted(), [
    'include',
    'input[0]',
    'input[1].content[1]',
    'next_month',
    'reasoning.effort',
    'temperature',
    'text.verbosity',
    'truncation',
  ]);
  t.match(last().prompt.turns, [{ text: 'hi' }]);
});

t.test('a body that nests thousands of levels deep is refused', async (t) => {
  const { server } = await clientOf(t, HELLO);
  for (const field of ['text', 'metadata', 'tools', 'reasoning']) {
    const value = field === 'tools' ? `[{"type":"web_search","x":${'['.repeat(5000)}${']'.repeat(5000)}}]` : `{"x":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    t.match(await server.call('POST', '/v1/responses', { body: `{"model":"mine/m","input":"hi","${field}":${value}}` }), { status: 400 }, field);
  }
});

t.test("a refusal and a warning of the gateway name the client's field", async (t) => {
  const { post } = await clientOf(t, HELLO);
  const audio = { type: 'input_audio', input_audio: { data: 'AA', format: 'mp3' } };
  for (const [body, param] of [
    [
      {
        input: [
          { role: 'developer', content: 'x' },
          { role: 'user', content: [{ type: 'input_text', text: 'a' }, audio] },
        ],
      },
      'input[1].content[1]',
    ],
    [
      {
        instructions: 'x',
        input: [
          { role: 'developer', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] },
          { role: 'user', content: 'x' },
        ],
      },
      'input[0].content[0]',
    ],
    [{ tool_choice: { type: 'function', name: 'nobody' }, tools: [...TOOLS] }, 'tool_choice'],
    [{ input: '  ' }, 'input'],
    [{ safety_identifier: 'x'.repeat(600) }, 'safety_identifier'],
  ] as const)
    t.match(await post(body), { status: 400, json: { error: { param, message: new RegExp(`^${param.replace(/[[\]]/g, '\\$&')} `) } } }, param);
  for (const stream of [false, true]) {
    const { headers } = await post({ stream, presence_penalty: 1, service_tier: 'flex' });
    t.same(headers['x-blockhouse-warnings']?.toString().split('; ').toSorted(), ['presence_penalty', 'service_tier']);
  }
});

t.test('settings reach the provider, and the response repeats them', async (t) => {
  const { client, last } = await clientOf(t, HELLO);
  const answer = await client.responses.create({
    ...ASK,
    max_output_tokens: 50,
    temperature: 0.5,
    top_p: 0.5,
    parallel_tool_calls: false,
    reasoning: { effort: 'low', summary: 'auto' },
    metadata: { a: 'b' },
    safety_identifier: 'me',
    prompt_cache_key: 'key',
    tools: [...TOOLS],
    tool_choice: { type: 'function', name: 'get_weather' },
  });
  t.match(last().prompt, {
    maxTokens: 50,
    temperature: 0.5,
    options: {
      topP: 0.5,
      parallelToolCalls: false,
      reasoning: { effort: 'low', summary: true },
      metadata: { a: 'b' },
      user: 'me',
      cacheKey: 'key',
      toolChoice: { name: 'get_weather' },
    },
  });
  t.match(answer, {
    max_output_tokens: 50,
    temperature: 0.5,
    top_p: 0.5,
    parallel_tool_calls: false,
    reasoning: { effort: 'low', summary: 'auto' },
    metadata: { a: 'b' },
    safety_identifier: 'me',
    prompt_cache_key: 'key',
    tool_choice: { type: 'function', name: 'get_weather' },
  });
});

t.test('case 15: a stream that broke off is an error for the client, then a failed response, and no end mark', async (t) => {
  const broken = (): never => {
    throw new BlockhouseError('UPSTREAM_FAILED', 'It broke.', { mayHaveRun: true });
  };
  for (const begun of [[HELLO[0]], [PIECES[0], PIECES[1]], [{ type: 'reasoning', text: 'Hm.' }]] as ChatEvent[][]) {
    const { client, post } = await clientOf(t, [...begun, broken]);
    t.match(await failureOf(collected(await client.responses.create({ ...ASK, stream: true }))), { message: /It broke/ });
    const failure = await failureOf(client.responses.stream(ASK).finalResponse());
    t.ok(failure instanceof APIError, String(failure));
    const { text } = await post({ stream: true });
    t.match(text, /event: error\ndata: \{"type":"error","sequence_number":\d+,"code":"server_is_overloaded","message":"It broke\.","param":null,/);
    t.match(text, /event: response\.failed\ndata: .*"status":"failed".*"error":\{"code":"server_is_overloaded","message":"It broke\."\}.*\n\n$/);
    t.notMatch(text, /\[DONE\]|response\.completed/);
  }
});

t.test('case 16: an error before the first byte keeps its status, whole and streamed', async (t) => {
  const limited = (): never => {
    throw new BlockhouseError('UPSTREAM_RATE_LIMITED', 'Slow down.', { retryAfterMs: 100_000 });
  };
  const { client, post } = await clientOf(t, [limited]);
  t.ok((await failureOf(client.responses.create(ASK))) instanceof RateLimitError);
  t.ok((await failureOf(client.responses.create({ ...ASK, stream: true }))) instanceof RateLimitError);
  t.ok((await failureOf(client.responses.stream(ASK).finalResponse())) instanceof RateLimitError);
  t.match(await post({}), { status: 429, headers: { 'retry-after': '100' }, json: { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } } });
});

t.test('case 36: names and ids that a provider would not take are mapped there and back', async (t) => {
  const call: ChatEvent = { type: 'toolCall', toolCall: { id: 'call:1/a', name: 't_mcp_git_status', arguments: {} } };
  const { client, last } = await clientOf(t, [call, END]);
  const tools = [{ type: 'function', name: 'mcp.git/status', parameters: null, strict: null }] as const;
  const { output } = await client.responses.create({ ...ASK, tools: [...tools] });
  t.equal(last().prompt.tools[0]?.name, 't_mcp_git_status');
  t.match(output, [{ call_id: 'call:1/a', name: 'mcp.git/status', arguments: '{}' }]);
});

t.test('cases 38 and 39: the answer has the asked name, and unknown models and wrong keys have the errors that clients know', async (t) => {
  const { client, server } = await clientOf(t, HELLO);
  t.ok((await failureOf(client.responses.create({ ...ASK, model: 'mystery' }))) instanceof NotFoundError);
  const stranger = new OpenAI({ apiKey: 'wrong', baseURL: `${server.url}/v1`, maxRetries: 0 });
  t.ok((await failureOf(stranger.responses.create(ASK))) instanceof AuthenticationError);
  const answer = await server.call('POST', '/v1/responses', { token: false, headers: { 'x-api-key': server.token }, body: { ...ASK, model: 'mine/a/b' } });
  t.match(answer, { status: 200, json: { model: 'mine/a/b' }, headers: { 'x-blockhouse-model': 'mine/a/b' } });
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
  const stream = client.responses.stream(ASK);
  stream.on('response.output_text.delta', () => stream.abort());
  t.ok(await failureOf(stream.finalResponse()));
  await left;
  t.pass('its signal fired');
});

t.test('case 18: silence before and within an answer is a comment between frames', async (t) => {
  let speak = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    speak = resolve;
  });
  const adapter = scriptedAdapter(
    {
      chat: async ({ sink }) => {
        await asked;
        sink.emit([{ type: 'text', text: 'Hello' }]);
        await delay(50);
        sink.emit([END]);
      },
    },
    'mine',
  );
  const server = await startServer(t, { adapters: [adapter], http: { sse: { openAfterMs: 5, keepAliveMs: 5 } } });
  const client = new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const response = await client.responses.create({ ...ASK, stream: true }).asResponse();
  speak();
  const text = await response.text();
  t.match(text, /^(: keep-alive\n\n)+event: response\.created\n/);
  t.match(text, /\n\n(: keep-alive\n\n)+event: response\.output_text\.done\n/);
});
