import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { readAnswer } from '../../../adapters/anthropic/response.ts';
import { AnthropicDecoder } from '../../../adapters/anthropic/stream.ts';
import type { ChatEvent } from '../../../core/index.ts';
import { contextFor, decodeAll, joinTexts, providerErrorOf, withoutPieces } from '../../support/adapter-call.ts';
import { sample, sweep } from '../../support/sweep.ts';

const context = contextFor(createAnthropic(), 'claude-sonnet-5-5');
type Event = Record<string, unknown> & { type: string };

function wire(events: readonly Event[], end = '\n'): string {
  return events.map((event) => `event: ${event.type}${end}data: ${JSON.stringify(event)}${end}${end}`).join('');
}

const decode = (events: readonly Event[]): ChatEvent[] => joinTexts(decodeAll(new AnthropicDecoder(context), [wire(events)]));
/** Without what the prompt has used, which only a stream tells beforehand. */
const withoutPrompt = (events: readonly ChatEvent[]): readonly ChatEvent[] => (events[0]?.type === 'usage' ? events.slice(1) : events);
const ofType = (events: readonly ChatEvent[], type: ChatEvent['type']): ChatEvent[] => events.filter((event) => event.type === type);
const start = (index: number, content_block: unknown): Event => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, type: string, piece: Record<string, unknown>): Event => ({ type: 'content_block_delta', index, delta: { type, ...piece } });
const stop = (index: number): Event => ({ type: 'content_block_stop', index });
const use = (id: string) => ({ type: 'tool_use', id, name: 'get_weather', input: {} });
const begin = (usage: Record<string, unknown> = { input_tokens: 10, output_tokens: 1 }): Event => ({ type: 'message_start', message: { content: [], usage } });
const ending = (stop_reason: unknown, usage: unknown = { output_tokens: 42 }): Event[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];

t.test('the stop sequence that ended a stream is reported', async (t) => {
  const delta = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
  const events = decode([begin(), { type: 'message_delta', delta, usage: { output_tokens: 1 } }, { type: 'message_stop' }]);
  t.same(events.at(-1), { type: 'stop', stopReason: 'stop_sequence', stopSequence: 'END' });
});

const THINKING = { type: 'thinking', thinking: 'Höm, 🎈', signature: 'c2ln' };
const RICH: Event[] = [
  begin({ input_tokens: 10, cache_read_input_tokens: 500, cache_creation_input_tokens: 0, output_tokens: 1 }),
  { type: 'ping' },
  start(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, 'thinking_delta', { thinking: 'Höm, ' }),
  delta(0, 'thinking_delta', { thinking: '🎈' }),
  delta(0, 'signature_delta', { signature: 'c2ln' }),
  stop(0),
  start(1, { type: 'redacted_thinking', data: 'b3BhcXVl' }),
  stop(1),
  start(2, { type: 'text', text: 'Gr' }),
  delta(2, 'text_delta', { text: 'üße \n\nevent: message_stop\u2028' }),
  delta(2, 'citations_delta', { citation: {} }),
  { type: 'event_of_tomorrow', index: 2 },
  delta(2, 'text_delta', { text: '🎈' }),
  stop(2),
  start(3, use('toolu_1')),
  delta(3, 'input_json_delta', { partial_json: '' }),
  delta(3, 'input_json_delta', { partial_json: '{"city": "Os' }),
  delta(3, 'input_json_delta', { partial_json: 'lo ü"}' }),
  stop(3),
  start(4, use('toolu_2')),
  delta(4, 'input_json_delta', { partial_json: '' }),
  stop(4),
  ...ending('tool_use', { input_tokens: 10, cache_read_input_tokens: null, output_tokens: 42, output_tokens_details: { thinking_tokens: 30 } }),
];
const BLOCKS = [
  THINKING,
  { type: 'redacted_thinking', data: 'b3BhcXVl' },
  { type: 'text', text: 'Grüße \n\nevent: message_stop\u2028🎈' },
  { ...use('toolu_1'), input: { city: 'Oslo ü' } },
  use('toolu_2'),
];
const WHOLE = {
  type: 'message',
  content: BLOCKS,
  stop_reason: 'tool_use',
  usage: {
    input_tokens: 10,
    cache_read_input_tokens: 500,
    cache_creation_input_tokens: 0,
    output_tokens: 42,
    output_tokens_details: { thinking_tokens: 30 },
  },
};

t.test('the whole and the streamed form of the same answer give the same events', async (t) => {
  const events = withoutPieces(withoutPrompt(decode(RICH)));
  const usageLast = (all: typeof events): typeof events => [...all.filter(({ type }) => type !== 'usage'), ...all.filter(({ type }) => type === 'usage')];
  t.same(usageLast(events), usageLast(readAnswer(WHOLE, context)), 'but for the place of the usage');
  t.match(events, [
    { type: 'reasoning', text: 'Höm, 🎈' },
    { type: 'text', text: 'Grüße \n\nevent: message_stop\u2028🎈' },
    { type: 'usage', usage: { inputTokens: 510, outputTokens: 42, cacheReadTokens: 500, cacheWriteTokens: 0, reasoningTokens: 30 } },
    { type: 'toolCall', toolCall: { id: 'toolu_1', name: 'get_weather', arguments: { city: 'Oslo ü' } } },
    { type: 'toolCall', toolCall: { id: 'toolu_2', arguments: {} } },
    { type: 'providerMetadata', providerMetadata: { anthropic: { model: 'claude-sonnet-5-5', content: BLOCKS } } },
    { type: 'stop', stopReason: 'tool_use' },
  ]);
});

const ENDS = [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const;
for (const [turn, [name, end]] of ENDS.entries()) {
  t.test(`the events do not depend on where the bytes are cut, with ${name}`, async (t) => {
    const bytes = Buffer.from(wire(RICH, end));
    const expected = JSON.stringify(withoutPrompt(decode(RICH)));
    const offsets = Array.from({ length: bytes.length + 1 }, (_, offset) => offset);
    for (const offset of sample(offsets, ENDS.length, turn)) {
      const events = JSON.stringify(withoutPrompt(joinTexts(decodeAll(new AnthropicDecoder(context), [bytes.subarray(0, offset), bytes.subarray(offset)]))));
      if (events !== expected) t.equal(events, expected, `cut at ${offset}`);
    }
    const single = [...bytes].map((byte) => Buffer.of(byte));
    t.equal(JSON.stringify(withoutPrompt(joinTexts(decodeAll(new AnthropicDecoder(context), single)))), expected, 'a byte at a time');
  });
}

t.test('text comes while it is written', async (t) => {
  const decoder = new AnthropicDecoder(context);
  decoder.push(Buffer.from(wire([begin(), start(0, { type: 'text', text: '' })])));
  t.same(decoder.push(Buffer.from(wire([delta(0, 'text_delta', { text: 'a' })]))), [{ type: 'text', text: 'a' }]);
});

t.test('gotcha 5: the usage of message_delta is cumulative: it overwrites, and null or absent parts do not', async (t) => {
  const first = { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 1 };
  const table: [unknown, Record<string, unknown>][] = [
    [{ output_tokens: 42 }, { inputTokens: 60, outputTokens: 42 }],
    [
      { input_tokens: null, output_tokens: 42 },
      { inputTokens: 60, outputTokens: 42 },
    ],
    [
      { input_tokens: 10, output_tokens: 42 },
      { inputTokens: 60, outputTokens: 42 },
    ],
    [
      { input_tokens: 11, cache_read_input_tokens: 31, output_tokens: 42 },
      { inputTokens: 62, outputTokens: 42, cacheReadTokens: 31, cacheWriteTokens: 20 },
    ],
    [null, { inputTokens: 60, outputTokens: undefined }],
  ];
  for (const [last, usage] of table) t.match(ofType(decode([begin(first), ...ending('end_turn', last)]), 'usage').at(-1), { usage });
  const twice = [begin(first), { type: 'message_delta', delta: {}, usage: { output_tokens: 5 } }, ...ending('end_turn', { output_tokens: 9 })];
  t.match(ofType(decode(twice), 'usage'), [{ usage: { outputTokens: undefined } }, { usage: { outputTokens: 5 } }, { usage: { outputTokens: 9 } }]);
});

t.test('gotcha 7: an empty partial_json, or none at all, is no arguments', async (t) => {
  for (const pieces of [[], [''], ['', '']]) {
    const deltas = pieces.map((partial_json) => delta(0, 'input_json_delta', { partial_json }));
    t.match(ofType(decode([begin(), start(0, use('1')), ...deltas, stop(0), ...ending('tool_use')]), 'toolCall'), [{ toolCall: { arguments: {} } }]);
  }
});

t.test('a call that max_tokens cut off is left out with a warning', async (t) => {
  const cuts: [string, Event[]][] = [
    ['in its arguments', [delta(1, 'input_json_delta', { partial_json: '{"city": "Os' }), stop(1)]],
    ['without the end of its block', [delta(1, 'input_json_delta', { partial_json: '{"city": "Os' })]],
    ['before its arguments', [delta(1, 'input_json_delta', { partial_json: '' }), stop(1)]],
    ['before anything of it', []],
  ];
  for (const [where, rest] of cuts) {
    const first = [begin(), start(0, use('1')), delta(0, 'input_json_delta', { partial_json: '{}' }), stop(0)];
    const events = decode([...first, start(1, use('2')), ...rest, ...ending('max_tokens')]);
    t.match(ofType(events, 'toolCall'), [{ toolCall: { id: '1' } }], where);
    t.equal(ofType(events, 'toolCall').length, 1, where);
    t.match(ofType(events, 'warning'), [{ warning: { field: 'message.toolCalls', message: /get_weather was cut off/ } }], where);
    t.same(events.at(-1), { type: 'stop', stopReason: 'max_tokens' });
  }
});

t.test('a cut-off call takes the thinking of its turn with it', async (t) => {
  const events = decode([begin(), start(0, THINKING), stop(0), start(1, use('1')), stop(1), ...ending('max_tokens')]);
  t.same(ofType(events, 'providerMetadata'), []);
});

t.test('broken arguments without a cut are damage', async (t) => {
  for (const json of ['{"city":', '[1]', '"x"'])
    t.throws(() => decode([begin(), start(0, use('1')), delta(0, 'input_json_delta', { partial_json: json }), stop(0), ...ending('tool_use')]), {
      code: 'UPSTREAM_MALFORMED',
    });
});

t.test('a refusal in the middle of a call is a refusal', async (t) => {
  const events = decode([begin(), start(0, use('1')), delta(0, 'input_json_delta', { partial_json: '{"ci' }), stop(0), ...ending('refusal')]);
  t.same(events.at(-1), { type: 'stop', stopReason: 'refusal' });
  t.equal(ofType(events, 'warning').length, 1);
});

t.test('gotcha 8: an error event after 200 is a provider error, before text and after it', async (t) => {
  const error: Event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  for (const before of [[], [begin()], [begin(), start(0, { type: 'text', text: '' }), delta(0, 'text_delta', { text: 'a' })]]) {
    const decoder = new AnthropicDecoder(context);
    decoder.push(Buffer.from(wire(before)));
    t.match(
      providerErrorOf(() => decoder.push(Buffer.from(wire([error])))),
      { kind: 'failed', message: 'Overloaded', mayHaveRun: before.length > 1 },
    );
  }
});

t.test('a bare error object of a proxy is a provider error too', async (t) => {
  t.match(
    providerErrorOf(() => decodeAll(new AnthropicDecoder(context), [wire([begin()]), '{"error":{"type":"api_error","message":"proxy broke"}}\n'])),
    { kind: 'failed', message: 'proxy broke' },
  );
});

t.test('a stream that is cut short after any of its events is an error', async (t) => {
  for (let events = 0; events < RICH.length; events += 1)
    t.throws(() => decode(RICH.slice(0, events)), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true, message: /message_stop/ });
});

t.test('what comes after message_stop is not read', async (t) => {
  const events = decodeAll(new AnthropicDecoder(context), [wire([begin(), ...ending('end_turn')]), 'data: [DONE]\n\n']);
  t.same(events.at(-1), { type: 'stop', stopReason: 'end_turn' });
});

t.test('an event that is not JSON, and a piece that belongs to no block, are malformed', async (t) => {
  for (const text of ['data: {"type":"ping"\n\n', 'data: 7\n\n', wire([delta(9, 'text_delta', { text: 'a' })])])
    t.throws(() => new AnthropicDecoder(context).push(Buffer.from(text)), { code: 'UPSTREAM_MALFORMED' });
});

t.test('the end of a block that was never opened, and a stop without a reason, are tolerated', async (t) => {
  t.same(decode([begin(), stop(5), { type: 'message_stop' }]).at(-1), { type: 'stop', stopReason: 'unknown' });
});

t.test('what the prompt has used is told at once, since the call is billed for it however it ends', async (t) => {
  const decoder = new AnthropicDecoder(context);
  const usage = { inputTokens: 510, outputTokens: undefined, cacheReadTokens: 500 }; // the output of message_start is none yet
  t.match(ofType(decoder.push(Buffer.from(wire([begin({ input_tokens: 10, cache_read_input_tokens: 500, output_tokens: 1 })]))), 'usage'), [{ usage }]);
  t.same(ofType(decoder.push(Buffer.from(wire([start(0, { type: 'text', text: '' })]))), 'usage'), [], 'once');
});

t.test('thinking and the arguments of calls leave while they are written; the call at the end has the index of its pieces', async (t) => {
  const events = decodeAll(new AnthropicDecoder(context), [wire(RICH)]);
  t.same(ofType(events, 'reasoning'), [
    { type: 'reasoning', text: 'Höm, ' },
    { type: 'reasoning', text: '🎈' },
  ]);
  t.same(
    events.filter(({ type }) => type === 'toolCallStart' || type === 'toolCallDelta'),
    [
      { type: 'toolCallStart', index: 0, id: 'toolu_1', name: 'get_weather' },
      { type: 'toolCallDelta', index: 0, text: '{"city": "Os' },
      { type: 'toolCallDelta', index: 0, text: 'lo ü"}' },
      { type: 'toolCallStart', index: 1, id: 'toolu_2', name: 'get_weather' },
      { type: 'toolCallDelta', index: 1, text: '{}' },
    ],
  );
  t.match(ofType(events, 'toolCall'), [
    { index: 0, toolCall: { id: 'toolu_1' } },
    { index: 1, toolCall: { id: 'toolu_2' } },
  ]);
});

/** So many that work for each pair of them would take far longer than a test may. */
const VERY_MANY = sweep(50_000, 10_000);

t.test('reports with ever new members cost in proportion to their number', async (t) => {
  const report = (at: number): Event => ({
    type: 'message_delta',
    delta: { [`d${at}`]: 1, stop_reason: 'end_turn' },
    usage: { [`u${at}`]: 1, output_tokens: at },
  });
  const events = decode([begin(), ...Array.from({ length: VERY_MANY }, (_, at) => report(at)), { type: 'message_stop' }]);
  t.match(events.at(-2), { type: 'usage', usage: { inputTokens: 10, outputTokens: VERY_MANY - 1 } });
  t.strictSame(events.at(-1), { type: 'stop', stopReason: 'end_turn' });
});

t.test('thinking that leads an answer is one state, however many blocks it has, and however the answer goes on', async (t) => {
  const redacted = { type: 'redacted_thinking', data: 'x' };
  const many = 2000;
  const lead = Array.from({ length: many }, (_, at) => [start(at, redacted), stop(at)]).flat();
  const content = Array.from({ length: many }, () => redacted);
  for (const next of [
    [],
    [start(many, { type: 'text', text: 'a' }), stop(many), start(many + 1, redacted), stop(many + 1)],
    [start(many, use('1')), stop(many)],
  ]) {
    const events = decode([begin(), ...lead, ...next, ...ending('end_turn')]);
    t.match(ofType(events, 'reasoningState'), [{ providerMetadata: { anthropic: { content } } }]);
    const place = events.findIndex(({ type }) => type === 'reasoningState');
    t.ok(
      events.slice(0, place).every(({ type }) => type === 'usage'),
      'before what follows it',
    );
  }
});
