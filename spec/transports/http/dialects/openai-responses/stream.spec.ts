import t from 'tap';
import { type AnswerPiece, BlockhouseError, type ChatDone } from '../../../../../core/index.ts';
import { readRequest } from '../../../../../transports/http/dialects/openai-responses/request.ts';
import { ResponseEvents } from '../../../../../transports/http/dialects/openai-responses/stream.ts';
import { unpackState } from '../../../../../transports/http/dialects/shared/packed-state.ts';
import { dataOf, type Fields } from '../../../../support/dialect-clients.ts';
import { frameData, hostileTexts } from '../../../../support/hostile-texts.ts';
import { orderFaults } from '../../../../support/response-order.ts';

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const events = () => new ResponseEvents({ requestId: 'req_1', created: 5, request: readRequest({ model: 'm', input: 'hi' }) });
const namesIn = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);

t.test('every frame is named as its data, and the stream ends with [DONE]', async (t) => {
  const stream = events();
  const text = stream.pieces([{ type: 'text', text: 'a' }]) + stream.done({ usage: USAGE, stopReason: 'end_turn' });
  const frames = text.trimEnd().split('\n\n');
  t.equal(frames.at(-1), 'data: [DONE]');
  for (const frame of frames.slice(0, -1)) {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
    t.equal((JSON.parse(data ?? '') as { type: string }).type, name);
  }
});

t.test('calls whose pieces are mixed keep apart, and a text between them is an item of its own', async (t) => {
  const stream = events();
  const text =
    stream.pieces([
      { type: 'text', text: 'a' },
      { type: 'toolCallStart', index: 3, id: 'x', name: 'f' },
      { type: 'toolCallStart', index: 7, id: 'y', name: 'f' },
      { type: 'toolCallDelta', index: 7, text: '{}' },
      { type: 'toolCallDelta', index: 9, text: 'nobody' },
      { type: 'text', text: 'b' },
      { type: 'toolCall', index: 7, toolCall: { id: 'y', name: 'f', arguments: {} } },
      { type: 'toolCall', index: 3, toolCall: { id: 'x', name: 'f', arguments: { a: 1 } } },
    ]) + stream.done({ usage: USAGE, stopReason: 'tool_use' });
  const end = JSON.parse(/^data: (.*"response\.completed".*)$/m.exec(text)?.[1] ?? '') as { response: object };
  t.match(end.response, {
    output: [
      { type: 'message', content: [{ text: 'a' }] },
      { call_id: 'x', arguments: '{"a":1}' },
      { call_id: 'y', arguments: '{}' },
      { type: 'message', content: [{ text: 'b' }] },
    ],
  });
});

t.test('a call that is started again before its end leaves nothing open', async (t) => {
  const stream = events();
  const start = { type: 'toolCallStart', index: 0, id: 'x', name: 'f' } as const;
  const text =
    stream.pieces([start, { type: 'toolCallDelta', index: 0, text: '{' }, { ...start, id: 'y' }]) + stream.done({ usage: USAGE, stopReason: 'end_turn' });
  const count = (name: string): number => namesIn(text).filter((one) => one === name).length;
  t.equal(count('response.output_item.done'), count('response.output_item.added'));
});

t.test('an error in a stream always has a code', async (t) => {
  const text = events().error(new BlockhouseError('UPSTREAM_TIMEOUT', 'It took too long.'));
  t.match(text, /"type":"error","sequence_number":2,"code":"server_error","message":"It took too long\.","param":null,"error":\{.*"code":"server_error"\}/);
});

t.test('a failure before the first piece is a whole stream, too', async (t) => {
  const text = events().error(new BlockhouseError('UPSTREAM_TIMEOUT', 'It took too long.'));
  t.same(namesIn(text), ['response.created', 'response.in_progress', 'error', 'response.failed']);
});

t.test('silence is a comment', async (t) => {
  t.match(events().keepAlive(), /^: /);
});

const start = (index: number, name = 'f'): AnswerPiece => ({ type: 'toolCallStart', index, id: `call_${index}`, name });
const json = (index: number, text: string): AnswerPiece => ({ type: 'toolCallDelta', index, text });
const call = (index: number, args: Record<string, unknown>, name = 'f'): AnswerPiece => ({
  type: 'toolCall',
  index,
  toolCall: { id: `call_${index}`, name, arguments: args },
});
const text = (words: string): AnswerPiece => ({ type: 'text', text: words });
const thought = (words: string): AnswerPiece => ({ type: 'reasoning', text: words });
const lead = (mark: string): AnswerPiece => ({ type: 'reasoningState', providerMetadata: { one: mark } });

/** The events of an answer whose pieces come one at a time. */
function eventsOf(pieces: readonly AnswerPiece[], done: Partial<ChatDone> = {}): Fields[] {
  const request = readRequest({
    model: 'm',
    input: 'hi',
    include: ['reasoning.encrypted_content'],
    tools: [
      { type: 'function', name: 'f' },
      { type: 'custom', name: 'run' },
    ],
  });
  const stream = new ResponseEvents({ requestId: 'req_1', created: 5, request });
  const frames = pieces.map((piece) => stream.pieces([piece])).join('');
  return dataOf(frames + stream.done({ usage: USAGE, stopReason: 'end_turn', ...done }));
}

const outputOf = (events: readonly Fields[]): Fields[] => (events.at(-1)?.['response'] as { output: Fields[] } | undefined)?.output ?? [];
/** An item in a word: its type, its text or arguments, its status, and the state in it. */
function wordsOf({ type, status, content, summary, arguments: args, input, encrypted_content: state }: Fields): string {
  const texts = [content, summary].flatMap((parts) => (Array.isArray(parts) ? parts.map((part: Fields) => part['text']) : []));
  const told = [...texts, args, input].filter((word) => word !== undefined).join();
  const message = unpackState(state);
  return [type, told, status === 'incomplete' && 'cut', message !== undefined && `<${JSON.stringify(message)}>`].filter(Boolean).join(' ');
}

const ORDERS: readonly [title: string, pieces: readonly AnswerPiece[], output: readonly string[], done?: Partial<ChatDone>][] = [
  [
    'two calls one after the other, which end together',
    [start(0), json(0, '{"a":'), json(0, '1}'), start(1), json(1, '{}'), call(0, { a: 1 }), call(1, {})],
    ['function_call {"a":1}', 'function_call {}'],
  ],
  [
    'two calls whose arguments are mixed',
    [start(0), start(1), json(0, '{"a":'), json(1, '{"b":'), json(0, '1}'), json(1, '2}'), call(0, { a: 1 }), call(1, { b: 2 })],
    ['function_call {"a":1}', 'function_call {"b":2}'],
  ],
  [
    'three calls, the first of which is complete last',
    [
      start(0),
      start(1),
      start(2),
      json(2, '{}'),
      json(1, '{"b":2}'),
      json(0, '{"a":{"c":1}'),
      json(0, '}'),
      call(0, { a: { c: 1 } }),
      call(1, { b: 2 }),
      call(2, {}),
    ],
    ['function_call {"a":{"c":1}}', 'function_call {"b":2}', 'function_call {}'],
  ],
  [
    'reasoning, text, a call, and text again',
    [thought('Hm'), text('a'), start(0), json(0, '{}'), text('b'), text('c'), call(0, {})],
    ['reasoning Hm', 'message a', 'function_call {}', 'message bc'],
  ],
  ['calls without arguments', [start(0), start(1), text('b'), call(0, {}), call(1, {})], ['function_call {}', 'function_call {}', 'message b']],
  [
    'a custom tool beside a function',
    [start(0, 'run'), json(0, '{"input":"l'), start(1), json(0, 's"}'), json(1, '{}'), call(0, { input: 'ls' }, 'run'), call(1, {})],
    ['custom_tool_call ls', 'function_call {}'],
  ],
  [
    'whole calls',
    [text('a'), { type: 'toolCall', toolCall: { id: 'x', name: 'f', arguments: {} } }, text('b')],
    ['message a', 'function_call {}', 'message b'],
  ],
  [
    'a call that is cut off behind one that is whole',
    [start(0), json(0, '{}'), start(1), json(1, '{"b'), call(0, {})],
    ['function_call {}', 'function_call {"b cut'],
    { stopReason: 'max_tokens' },
  ],
  [
    'a state before the text leaves with its reasoning, and nothing trails',
    [thought('Hm'), lead('x'), text('a'), start(0), json(0, '{}'), call(0, {})],
    ['reasoning Hm <{"message":{"one":"x"}}>', 'message a', 'function_call {}'],
    { providerMetadata: { one: 'x and more' } },
  ],
  [
    'a state of reasoning that is not shown has an item of its own, in its place',
    [lead('x'), text('a')],
    ['reasoning <{"message":{"one":"x"}}>', 'message a'],
    { providerMetadata: { one: 'x and more' } },
  ],
  [
    'a state of reasoning that goes on trails, since the first part is not enough',
    [thought('Hm'), lead('x'), text('a'), thought('And'), text('b')],
    ['reasoning Hm <{"message":{"one":"x"}}>', 'message a', 'reasoning And', 'message b', 'reasoning <{"message":{"one":"all"}}>'],
    { providerMetadata: { one: 'all' } },
  ],
  [
    'a state that comes at the end trails',
    [thought('Hm'), text('a')],
    ['reasoning Hm', 'message a', 'reasoning <{"message":{"one":"x"}}>'],
    { providerMetadata: { one: 'x' } },
  ],
  [
    'the state of a call trails, without what has left before',
    [thought('Hm'), lead('x'), call(0, {})],
    ['reasoning Hm <{"message":{"one":"x"}}>', 'function_call {}', 'reasoning <{"calls":{"call_0":{"one":"y"}}}>'],
    { providerMetadata: { one: 'x' }, toolCalls: [{ id: 'call_0', name: 'f', arguments: {}, providerMetadata: { one: 'y' } }] },
  ],
];
for (const [title, pieces, output, done] of ORDERS) {
  t.test(`an item is done before the next is added: ${title}`, async (t) => {
    const events = eventsOf(pieces, done);
    t.same(orderFaults(events), []);
    t.same(outputOf(events).map(wordsOf), output);
  });
}

t.test('a call goes out as soon as it is complete, and what waits for it follows at once', async (t) => {
  const stream = events();
  const first = stream.pieces([start(0), json(0, '{"a":1}'), start(1), json(1, '{"b"')]);
  t.same(namesIn(first).slice(2), [
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.function_call_arguments.delta',
  ]);
});

t.test('a text comes out of its deltas and of its items as it was, whatever is in it', async (t) => {
  for (const text of hostileTexts().filter((one) => one !== '')) {
    const stream = events();
    const frames = stream.pieces([{ type: 'reasoning', text }, ...[text, text].map((one): AnswerPiece => ({ type: 'text', text: one }))]);
    const all = frameData(frames + stream.done({ usage: USAGE, stopReason: 'end_turn' })) as Fields[];
    const deltas = (type: string) => all.filter((one) => one['type'] === type).map((one) => one['delta']);
    t.equal(deltas('response.reasoning_summary_text.delta').join(), text);
    t.equal(deltas('response.output_text.delta').join(''), text + text);
    const plain = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text }] },
      { type: 'message', content: [{ type: 'output_text', text: text + text }] },
    ];
    t.match(all.at(-1), { response: { output: plain } });
  }
});

t.test('very many calls that begin before the first ends cost in proportion to their number', async (t) => {
  const many = Array.from({ length: 20_000 }, (_, index) => index);
  const stream = events();
  const begun = many.map((index): AnswerPiece => ({ type: 'toolCallStart', index, id: `c${index}`, name: 'f' }));
  const ended = many.map((index): AnswerPiece => ({ type: 'toolCall', index, toolCall: { id: `c${index}`, name: 'f', arguments: {} } }));
  const text = stream.pieces([...begun, ...ended]);
  t.equal([...text.matchAll(/^event: response\.output_item\.done$/gm)].length, many.length);
});

t.test('arguments are not parsed again at each of their pieces while another call waits', async (t) => {
  const parses = t.capture(JSON, 'parse', JSON.parse);
  const stream = events();
  stream.pieces([
    { type: 'toolCallStart', index: 0, id: 'x', name: 'f' },
    { type: 'toolCallStart', index: 1, id: 'y', name: 'f' },
    { type: 'toolCallDelta', index: 0, text: '{"a":"' },
    ...Array.from({ length: 1000 }, (): AnswerPiece => ({ type: 'toolCallDelta', index: 0, text: '}' })),
    { type: 'toolCallDelta', index: 0, text: '"}' },
  ]);
  t.equal(parses().length, 1);
});
