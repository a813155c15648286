import t, { type Test } from 'tap';
import { type AnswerPiece, BlockhouseError, type ChatDone } from '../../../../../core/index.ts';
import { readRequest } from '../../../../../transports/http/dialects/anthropic/request.ts';
import { MessageEvents } from '../../../../../transports/http/dialects/anthropic/stream.ts';

const DONE: ChatDone = { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadTokens: 4 }, stopReason: 'end_turn' };

function stream(fields: object = {}): MessageEvents {
  const request = readRequest({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], tools: [{ name: 'a.b' }], ...fields });
  return new MessageEvents({ requestId: 'req_1', created: 1, request });
}

type Event = Record<string, unknown> & { readonly type: string };

/** The events of a text; each frame names its type twice. */
function events(t: Test, text: string): Event[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
      const event = JSON.parse(data ?? 'null') as Event;
      t.equal(event.type, name);
      return event;
    });
}

const short = (all: readonly Event[]): string[] =>
  all.map((event) => {
    const { type, index, content_block, delta } = event as unknown as Record<string, Record<string, unknown> | undefined> & { type: string };
    const what = content_block?.['type'] ?? delta?.['type'];
    return [type.replace('content_block_', ''), index, what].filter((part) => part !== undefined).join(' ');
  });

const call = (id: string, index?: number): AnswerPiece => ({
  type: 'toolCall',
  toolCall: { id, name: 't_a_b', arguments: { x: 1 } },
  ...(index !== undefined && { index }),
});
const start = (id: string, index: number): AnswerPiece => ({ type: 'toolCallStart', index, id, name: 't_a_b' });
const piece = (index: number, text: string): AnswerPiece => ({ type: 'toolCallDelta', index, text });

t.test('case 29: the start comes first and has a usage; thinking, text and call are blocks 0, 1 and 2', async (t) => {
  const one = stream({ thinking: { type: 'adaptive' } });
  const text =
    one.pieces([{ type: 'reasoning', text: 'hm' }]) +
    one.pieces([{ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, start('c', 0), piece(0, '{"x"'), piece(0, ':1}'), call('c', 0)]) +
    one.done({ ...DONE, stopReason: 'tool_use' });
  const all = events(t, text);
  t.match(all[0], {
    type: 'message_start',
    message: { id: 'msg_1', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 0, output_tokens: 0 } },
  });
  t.same(short(all.slice(1)), [
    'start 0 thinking',
    'delta 0 thinking_delta',
    'stop 0',
    'start 1 text',
    'delta 1 text_delta',
    'delta 1 text_delta',
    'stop 1',
    'start 2 tool_use',
    'delta 2 input_json_delta',
    'delta 2 input_json_delta',
    'stop 2',
    'message_delta',
    'message_stop',
  ]);
  t.match(all.at(-2), { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 5 } });
  t.match(all[8], { content_block: { id: 'c', name: 'a.b', input: {} } });
});

t.test('the end of a stream says which stop sequence it was', async (t) => {
  const end = (done: Partial<ChatDone>) => events(t, stream().done({ ...DONE, stopReason: 'stop_sequence', ...done })).at(-2);
  t.match(end({ stopSequence: 'B' }), { delta: { stop_reason: 'stop_sequence', stop_sequence: 'B' } });
  t.match(end({}), { delta: { stop_reason: 'stop_sequence', stop_sequence: null } });
});

t.test('calls whose pieces come mixed are blocks one after the other', async (t) => {
  const one = stream();
  const text = one.pieces([
    start('c', 0),
    start('d', 1),
    piece(0, '{"a":'),
    piece(1, '{"b":'),
    { type: 'text', text: 'between' },
    piece(0, '1}'),
    piece(1, '2}'),
    call('d', 1),
    call('c', 0),
  ]);
  const all = events(t, text + one.done({ ...DONE, stopReason: 'tool_use' }));
  const inputs = new Map<unknown, string>();
  for (const event of all) {
    const { delta, index } = event as unknown as { delta?: { partial_json?: string }; index?: number };
    if (delta?.partial_json !== undefined) inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json);
  }
  t.same([...inputs.values()].sort(), ['{"a":1}', '{"b":2}']);
  let open: unknown;
  for (const event of all) {
    if (event.type === 'content_block_start') {
      t.equal(open, undefined, 'only one block is open');
      open = event['index'];
    }
    if (event.type === 'content_block_stop') {
      t.equal(event['index'], open);
      open = undefined;
    }
  }
});

t.test('a call that comes whole, and one without arguments, have their input', async (t) => {
  const one = stream();
  const all = events(t, one.pieces([call('c'), start('d', 0), call('d', 0)]) + one.done(DONE));
  t.same(
    all.flatMap((event) => (event['delta'] as { partial_json?: string } | undefined)?.partial_json ?? []),
    ['{"x":1}', '{"x":1}'],
  );
});

t.test('a call that the limit cut off is closed, and so is what waited behind it', async (t) => {
  const one = stream();
  const text =
    one.pieces([start('c', 0), piece(0, '{"x'), start('d', 1), piece(1, '{"y'), { type: 'text', text: 'end' }]) +
    one.done({ ...DONE, stopReason: 'max_tokens' });
  const all = short(events(t, text));
  t.equal(all.filter((line) => line.startsWith('start')).length, 3);
  t.equal(all.filter((line) => line.startsWith('stop')).length, 3);
  t.same(all.slice(-2), ['message_delta', 'message_stop']);
});

t.test('an answer without anything has one empty text', async (t) => {
  t.same(short(events(t, stream().done(DONE))), ['message_start', 'start 0 text', 'stop 0', 'message_delta', 'message_stop']);
});

t.test('thinking is shown only to a client that asked for it; the state of the provider comes at the end', async (t) => {
  const done = { ...DONE, providerMetadata: { one: 1 } };
  const plain = stream();
  t.same(short(events(t, plain.pieces([{ type: 'reasoning', text: 'hm' }]) + plain.done(done))), [
    'message_start',
    'start 0 text',
    'stop 0',
    'message_delta',
    'message_stop',
  ]);
  const thinking = stream({ thinking: { type: 'enabled', budget_tokens: 2000 } });
  const all = events(t, thinking.pieces([{ type: 'text', text: 'a' }]) + thinking.done(done));
  t.same(short(all).slice(4), ['start 1 thinking', 'delta 1 signature_delta', 'stop 1', 'message_delta', 'message_stop']);
});

t.test('silence has a comment before the start and a ping after it; a broken stream has an error and no end', async (t) => {
  const one = stream();
  t.equal(one.keepAlive(), ': keep-alive\n\n');
  one.pieces([{ type: 'text', text: 'a' }]);
  t.same(events(t, one.keepAlive()), [{ type: 'ping' }]);
  t.match(events(t, one.error(new BlockhouseError('UPSTREAM_FAILED', 'Busy.'))), [{ type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } }]);
});

t.test('very many calls that begin before the first ends cost in proportion to their number', async (t) => {
  const many = Array.from({ length: 20_000 }, (_, index) => index);
  const one = stream();
  const text = one.pieces([...many.map((index) => start(`c${index}`, index)), ...many.map((index) => call(`c${index}`, index))]);
  const ids = [...text.matchAll(/"id":"(c\d+)"/g)].map(([, id]) => id);
  t.strictSame(
    ids,
    many.map((index) => `c${index}`),
  );
});
