import t from 'tap';
import { ChatDecoder } from '../../../adapters/openai/stream-chat.ts';
import { StreamError } from '../../../adapters/shared/provider.ts';
import type { ChatEvent } from '../../../core/index.ts';
import { chunk, chunks, decode as decodeAll, plain, thrownBy, withoutPieces } from './support.ts';

const decode = (...given: Parameters<typeof decodeAll>) => withoutPieces(decodeAll(...given));
const run = (...values: unknown[]) => decode(new ChatDecoder(), chunks(values));
const part = (index: number | undefined, more: object) => chunk({ tool_calls: [{ ...(index !== undefined && { index }), ...more }] });
const USAGE = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };

/** Text and two parallel calls, usage after the finish. Written after the API's reference, not recorded. */
const STREAM = chunks([
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ content: 'Grüße 🌧' }),
  chunk({ content: ' ok' }),
  part(0, { id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }),
  part(0, { function: { arguments: '{"city":' } }),
  part(1, { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } }),
  part(0, { function: { arguments: '"Tromsø"}' } }),
  chunk({}, 'tool_calls'),
  { object: 'chat.completion.chunk', choices: [], usage: USAGE },
]);
const EVENTS = [
  { type: 'text', text: 'Grüße 🌧' },
  { type: 'text', text: ' ok' },
  { type: 'usage', usage: { inputTokens: 10, outputTokens: 4 } },
  { type: 'toolCall', toolCall: { id: 'call_1', name: 'f', arguments: { city: 'Tromsø' } } },
  { type: 'toolCall', toolCall: { id: 'call_2', name: 'g', arguments: {} } },
  { type: 'stop', stopReason: 'tool_use' },
];

t.test('a stream gives text and usage as they come, then calls and stop', async (t) => {
  t.same(plain(decode(new ChatDecoder(), STREAM)), EVENTS);
  t.same(plain(withoutPieces(new ChatDecoder().push(Buffer.from(STREAM)))), EVENTS.slice(0, 3), 'neither waits for the end');
});

t.test('the events are the same wherever the bytes are cut', async (t) => {
  const bytes = Buffer.from(STREAM);
  const expected = JSON.stringify(decode(new ChatDecoder(), bytes));
  const odd = [];
  for (let at = 0; at <= bytes.length; at += 1) {
    const events = decode(new ChatDecoder(), bytes.subarray(0, at), bytes.subarray(at));
    if (JSON.stringify(events) !== expected) odd.push(at);
  }
  t.same(odd, []);
  t.equal(JSON.stringify(decode(new ChatDecoder(), ...[...bytes].map((byte) => Buffer.from([byte])))), expected, 'byte by byte');
});

t.test('gotcha: [DONE] or a finish reason ends a stream; without both it was cut short', async (t) => {
  const text = chunk({ content: 'hi' });
  t.match(decode(new ChatDecoder(), chunks([text])), [{ text: 'hi' }, { stopReason: 'unknown' }], 'the mark alone');
  t.match(decode(new ChatDecoder(), chunks([text, chunk({}, 'stop')], '')), [{ text: 'hi' }, { stopReason: 'end_turn' }], 'the reason alone');
  for (const cut of ['', chunks([text], ''), chunks([part(0, { id: 'a', function: { name: 'f', arguments: '{' } })], '')])
    t.match(
      thrownBy(() => decode(new ChatDecoder(), cut)),
      { code: 'UPSTREAM_MALFORMED', message: /cut short/, mayHaveRun: true },
    );
});

t.test('usage may come beside the finish, with every chunk, behind the end mark, or never', async (t) => {
  t.match(run(chunk({ content: 'x' }, 'stop', { usage: USAGE })), [{ text: 'x' }, { usage: { inputTokens: 10 } }, { type: 'stop' }]);
  const running = [1, 2, 3].map((completion_tokens) =>
    chunk({ content: 'x' }, null, { usage: { ...USAGE, completion_tokens, total_tokens: 10 + completion_tokens } }),
  );
  const events = run(...running, chunk({}, 'stop', { usage: null }));
  t.match(
    events.filter(({ type }) => type === 'usage'),
    [1, 2, 3].map((outputTokens) => ({ usage: { inputTokens: 10, outputTokens } })),
  );
  const late = `${chunks([chunk({ content: 'x' }, 'stop')])}data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\n`;
  t.match(decode(new ChatDecoder(), late), [{ text: 'x' }, { usage: { inputTokens: 10, outputTokens: 4 } }, { type: 'stop' }]);
  t.notOk(run(chunk({}, 'stop')).some(({ type }) => type === 'usage'));
});

t.test('a whole call in one chunk, without index, and the reason stop is a call', async (t) => {
  t.match(run(part(undefined, { id: 'a', function: { name: 'f', arguments: '{"x":1}' } }), chunk({ content: '' }, 'stop')), [
    { type: 'toolCall', toolCall: { id: 'a', arguments: { x: 1 } } },
    { type: 'stop', stopReason: 'tool_use' },
  ]);
});

t.test('arguments may come as an object', async (t) => {
  t.match(run(part(0, { id: 'a', function: { name: 'f', arguments: { x: 1 } } }), chunk({}, 'tool_calls')), [{ toolCall: { arguments: { x: 1 } } }, {}]);
});

t.test('reasoning is skipped', async (t) => {
  t.match(run(chunk({ reasoning_content: 'hmm' }), chunk({ content: 'hi' }, 'stop')), [{ text: 'hi' }, { type: 'stop' }]);
});

t.test('a refusal streams as text and ends as a refusal', async (t) => {
  t.match(run(chunk({ refusal: 'No' }), chunk({ refusal: '.' }), chunk({}, 'stop')), [{ text: 'No' }, { text: '.' }, { stopReason: 'refusal' }]);
});

t.test('gotcha: arguments that the limit cut are dropped with a warning, others are unreadable', async (t) => {
  const half = part(0, { id: 'a', function: { name: 'f', arguments: '{"x' } });
  t.match(run(half, chunk({}, 'length')), [{ warning: { field: 'message.toolCalls' } }, { stopReason: 'max_tokens' }]);
  t.match(
    thrownBy(() => run(half, chunk({}, 'tool_calls'))),
    { code: 'UPSTREAM_MALFORMED', message: /tool call/ },
  );
});

t.test('errors inside the stream are provider errors, in every shape', async (t) => {
  for (const text of [
    'data: {"error":{"message":"busy","code":"rate_limit_exceeded"}}\n\n',
    'data: {"error":{"message":"busy","code":429},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}\n\n',
    '{"error":{"message":"busy","type":"rate_limit_error"}}\n',
    'event: error\ndata: {"message":"busy","code":"429"}\n\n',
  ]) {
    const fault = thrownBy(() => decode(new ChatDecoder(), chunks([chunk({ content: 'hi' })], text)));
    t.ok(fault instanceof StreamError, text);
    t.match(fault, { providerError: { kind: 'rateLimited', message: 'busy' } }, text);
  }
  t.match(
    thrownBy(() => decode(new ChatDecoder(), 'event: error\ndata: gone\n\n')),
    { providerError: { kind: 'failed', message: 'gone' } },
  );
});

t.test('comments, empty data and chunks without choices are skipped', async (t) => {
  const text = `: OPENROUTER PROCESSING\n\ndata:\n\n${chunks([{ choices: [], prompt_filter_results: [] }, chunk({ content: 'hi' }, 'stop'), { choices: null }])}`;
  t.match(decode(new ChatDecoder(), text), [{ text: 'hi' }, { type: 'stop' }]);
});

t.test('nothing is read after [DONE]', async (t) => {
  t.match(decode(new ChatDecoder(), `${chunks([chunk({ content: 'hi' }, 'stop')])}data: oops\n\n`), [{ text: 'hi' }, { type: 'stop' }]);
});

t.test('a chunk that is no JSON object is unreadable', async (t) => {
  for (const data of ['{"choices"', '[]', 'hello'])
    t.match(
      thrownBy(() => decode(new ChatDecoder(), `data: ${data}\n\n`)),
      { code: 'UPSTREAM_MALFORMED', message: /not a JSON object/ },
      data,
    );
});

t.test('what came before a provider error in the same bytes is there all the same', async (t) => {
  const text = chunks([chunk({ content: 'hi' }), { error: 'm' }], '');
  for (const read of ['push', 'end'] as const) {
    const decoder = new ChatDecoder();
    const events: ChatEvent[] = [];
    if (read === 'end') decoder.push(Buffer.from(text.slice(0, text.lastIndexOf('data:'))), events);
    const rest = Buffer.from(read === 'end' ? text.slice(text.lastIndexOf('data:')).trimEnd() : text);
    t.match(
      thrownBy(() => {
        decoder.push(rest, events);
        decoder.end(events);
      }),
      { providerError: { message: 'm' } },
      read,
    );
    t.same(events, [{ type: 'text', text: 'hi' }], read);
  }
});

t.test('a reader may see reasoning, and a call while it is written; its end has the same place', async (t) => {
  const reasoning = chunks([chunk({ reasoning_content: 'Let me ' }), chunk({ reasoning: 'see.' })], '');
  t.same(new ChatDecoder().push(Buffer.from(reasoning)), [
    { type: 'reasoning', text: 'Let me ' },
    { type: 'reasoning', text: 'see.' },
  ]);
  t.match(
    decodeAll(new ChatDecoder(), STREAM).filter(({ type }) => type !== 'text'),
    [
      { type: 'toolCallStart', index: 0, id: 'call_1', name: 'f' },
      { type: 'toolCallDelta', index: 0, text: '{"city":' },
      { type: 'toolCallStart', index: 1, id: 'call_2', name: 'g' },
      { type: 'toolCallDelta', index: 1, text: '{}' },
      { type: 'toolCallDelta', index: 0, text: '"Tromsø"}' },
      { type: 'usage' },
      { type: 'toolCall', index: 0, toolCall: { id: 'call_1' } },
      { type: 'toolCall', index: 1, toolCall: { id: 'call_2' } },
      { type: 'stop' },
    ],
  );
});
