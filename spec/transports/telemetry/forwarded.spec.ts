import t from 'tap';
import type { ChatEvent } from '../../../core/index.ts';
import { Contents } from '../../../transports/telemetry/contents.ts';
import { AnswerReader, MAX_READ_BYTES, readRequest } from '../../../transports/telemetry/forwarded.ts';
import { inputMessages } from '../../../transports/telemetry/messages.ts';

const read = (body: object) => readRequest(Buffer.from(JSON.stringify(body)), undefined);
const messages = (body: object): unknown => JSON.parse(inputMessages(read(body)?.turns ?? []));
const text = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });

t.test('a request of each protocol says what it asks', async (t) => {
  t.strictSame(messages({ messages: [{ role: 'user', content: 'hi' }] }), [text('user', 'hi')]);
  t.strictSame(messages({ input: 'hi' }), [text('user', 'hi')]);
  t.strictSame(messages({ prompt: ['a', 'b'] }), [text('user', 'a'), text('user', 'b')]);
  t.strictSame(messages({ input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }] }), [text('user', 'hi')]);
  t.equal(
    read({
      system: [
        { type: 'text', text: 'be' },
        { type: 'text', text: ' brief' },
      ],
      messages: [],
    })?.system,
    'be brief',
  );
  t.equal(read({ instructions: 'one', input: 'x' })?.system, 'one');
  t.equal(
    read({
      messages: [
        { role: 'system', content: 'one' },
        { role: 'developer', content: 'two' },
      ],
    })?.system,
    'one\n\ntwo',
  );
  t.strictSame(readRequest(Buffer.from('no JSON'), { input: 'parsed already' })?.turns.length, 1);
});

t.test('so are tools and media, in the forms of all of them', async (t) => {
  const call = { type: 'tool_call', id: 'c1', name: 'pay', arguments: { to: 'bob' } };
  const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'done' }] };
  const said = { role: 'assistant', parts: [{ type: 'text', content: 'ok' }, call] };
  const ofChat = { role: 'assistant', content: 'ok', tool_calls: [{ id: 'c1', function: { name: 'pay', arguments: '{"to":"bob"}' } }] };
  t.strictSame(messages({ messages: [ofChat, { role: 'tool', tool_call_id: 'c1', content: 'done' }] }), [said, result]);
  const ofBlocks = {
    role: 'assistant',
    content: [
      { type: 'text', text: 'ok' },
      { type: 'tool_use', id: 'c1', name: 'pay', input: { to: 'bob' } },
    ],
  };
  const results = {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'done' }] },
      { type: 'text', text: 'and?' },
    ],
  };
  t.strictSame(messages({ messages: [ofBlocks, results] }), [said, result, text('user', 'and?')]);
  const items = [
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
    { type: 'function_call', call_id: 'c1', name: 'pay', arguments: '{"to":"bob"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'done' },
  ];
  t.strictSame(messages({ input: items }), [
    { role: 'assistant', parts: [{ type: 'reasoning', content: 'hm' }] },
    { role: 'assistant', parts: [call] },
    result,
  ]);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } };
  const link = { type: 'image_url', image_url: { url: 'https://secret.example/x.png' } };
  const media = JSON.stringify(messages({ messages: [{ role: 'user', content: [image, link, { type: 'unknown' }, 7] }] }));
  t.match(media, /"modality":"image","mime_type":"image\/png","byte_size":3/);
  t.notMatch(media, /QUJD|secret\.example/);
});

t.test('what is no request, or too large, is not read, and nothing throws', async (t) => {
  t.equal(readRequest(Buffer.from('{'), undefined), undefined);
  t.equal(readRequest(Buffer.from('[1]'), undefined), undefined);
  t.equal(readRequest(Buffer.alloc(MAX_READ_BYTES + 1, ' '), undefined), undefined);
  for (const odd of [
    {},
    { messages: 7 },
    { messages: [null, 7, {}, { role: 'user' }, { role: 'user', content: [null] }] },
    { messages: [{ tool_calls: [null] }] },
  ])
    t.doesNotThrow(() => messages(odd));
});

/** What is read of an answer that comes in pieces of so many bytes. */
function answer(bytes: string, size = bytes.length): { readonly events: readonly ChatEvent[]; readonly isCut: boolean } {
  const events: ChatEvent[] = [];
  const reader = new AnswerReader((more) => events.push(...more));
  const all = Buffer.from(bytes);
  for (let at = 0; at < all.length; at += size) reader.add(all.subarray(at, at + size));
  reader.end();
  return { events, isCut: reader.isCut };
}
const frames = (...all: readonly object[]): string => all.map((frame) => `event: x\r\ndata: ${JSON.stringify(frame)}\r\n\r\n`).join('');
const joined = (events: readonly ChatEvent[], type: string): string =>
  events.map((event) => (event.type === type ? (event as { text: string }).text : '')).join('');
const calls = (events: readonly ChatEvent[]): unknown => events.flatMap((event) => (event.type === 'toolCall' ? [event.toolCall] : []));
const CALL = { id: 'c1', name: 'pay', arguments: { to: 'bob' } };

t.test('a whole answer of each protocol says what was said', async (t) => {
  const chat = {
    choices: [{ message: { content: 'hé', reasoning_content: 'hm', tool_calls: [{ id: 'c1', function: { name: 'pay', arguments: '{"to":"bob"}' } }] } }],
  };
  const blocks = {
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'hé' },
      { type: 'tool_use', ...CALL, input: CALL.arguments },
    ],
  };
  const items = {
    output: [
      { type: 'reasoning', summary: [{ text: 'hm' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'hé' }] },
      { type: 'function_call', call_id: 'c1', name: 'pay', arguments: '{"to":"bob"}' },
    ],
  };
  for (const one of [chat, blocks, items]) {
    const { events } = answer(JSON.stringify(one), 7);
    t.equal(joined(events, 'text'), 'hé');
    t.equal(joined(events, 'reasoning'), 'hm');
    t.strictSame(calls(events), [CALL]);
  }
  t.equal(joined(answer('{"choices":[{"text":"hé"}]}').events, 'text'), 'hé');
});

t.test('and so does a stream, however its bytes come', async (t) => {
  const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });
  const tool = (more: object) => delta({ tool_calls: [{ index: 0, ...more }] });
  const chat = frames(
    delta({ reasoning_content: 'hm' }),
    delta({ content: 'h' }),
    { choices: [{ index: 1, delta: { content: 'another answer' } }] },
    delta({ content: 'é' }),
    tool({ id: 'c1', function: { name: 'pay', arguments: '{"to":' } }),
    tool({ function: { arguments: '"bob"}' } }),
  );
  const blocks = frames(
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'hé' } },
    { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'c1', name: 'pay', input: {} } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"to":"bob"}' } },
  );
  const items = frames(
    { type: 'response.reasoning_summary_text.delta', delta: 'hm' },
    { type: 'response.output_text.delta', delta: 'hé' },
    { type: 'response.output_item.done', item: { type: 'function_call', call_id: 'c1', name: 'pay', arguments: '{"to":"bob"}' } },
    { type: 'response.completed', response: { output: [{ type: 'message', content: [{ type: 'output_text', text: 'hé' }] }] } },
  );
  for (const [index, stream] of [chat, blocks, items].entries())
    for (const size of [1, 5, 10_000]) {
      const { events } = answer(`: comment\n\n${stream}data: [DONE]\n\n`, size);
      t.equal(joined(events, 'text'), 'hé', `${index} by ${size}`);
      t.equal(joined(events, 'reasoning'), 'hm');
      t.strictSame(calls(events), [CALL]);
    }
  t.equal(joined(answer('data: {"choices":[{"text":"hé"}]}').events, 'text'), 'hé', 'also of a last line without its end');
});

t.test('an answer that is too large to be read is said to be dropped', async (t) => {
  t.equal(answer(`{"content":"${'x'.repeat(MAX_READ_BYTES)}`, 65_536).isCut, true);
  const contents = new Contents();
  contents.start(() => true);
  const take = contents.beginForward({
    call: 1,
    traceparent: undefined,
    caller: 'x',
    path: '/v1/responses',
    body: Buffer.from('{"input":"hi"}'),
    fields: undefined,
  });
  take?.(Buffer.alloc(MAX_READ_BYTES + 1, '{'));
  const { attributes } = contents.end({ call: 1, code: undefined, answer: undefined }) ?? {};
  t.strictSame(Object.keys(attributes ?? {}), ['gen_ai.input.messages', 'blockhouse.content_dropped']);
  const unread = contents.beginForward({ call: 2, traceparent: undefined, caller: 'x', path: '/v1/responses', body: Buffer.from('{'), fields: undefined });
  unread?.(Buffer.from('{"content":[{"type":"text","text":"ok"}]}'));
  t.match(contents.end({ call: 2, code: undefined, answer: undefined })?.attributes, { 'blockhouse.content_dropped': true, 'gen_ai.output.messages': /"ok"/ });
  const embeddings = { call: 3, traceparent: undefined, caller: 'x', path: '/v1/embeddings', body: Buffer.from('{"input":"hi"}'), fields: undefined };
  t.equal(contents.beginForward(embeddings), undefined);
  contents.start(() => false);
  t.equal(
    contents.beginForward({ call: 3, traceparent: undefined, caller: 'x', path: '/v1/responses', body: Buffer.from('{}'), fields: undefined }),
    undefined,
  );
});
