import t from 'tap';
import { readResponse } from '../../../adapters/openai/response.ts';
import { ResponsesDecoder } from '../../../adapters/openai/stream.ts';
import { StreamError } from '../../../adapters/shared/provider.ts';
import type { ChatEvent } from '../../../core/index.ts';
import { ANSWER, decode as decodeAll, END_EVENTS, MODEL, namedEvents, plain, STREAM, thrownBy, withoutPieces } from './support.ts';

const decode = (...given: Parameters<typeof decodeAll>) => withoutPieces(decodeAll(...given));
const run = (...events: Parameters<typeof namedEvents>[0]) => decode(new ResponsesDecoder(MODEL), namedEvents(events));
const added = (item: object, output_index = 0) => ({ type: 'response.output_item.added', output_index, item });
const done = (item: object, output_index = 0) => ({ type: 'response.output_item.done', output_index, item });
const completed = (response: object = {}) => ({ type: 'response.completed', response: { status: 'completed', ...response } });
const incomplete = (reason: string) => ({ type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason } } });
const call = (more: object = {}) => ({ type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}', ...more });

t.test('a stream gives the events of the whole answer', async (t) => {
  const events = decode(new ResponsesDecoder(MODEL), STREAM);
  t.same(plain(events), [{ type: 'text', text: 'Grüße 🌧' }, { type: 'text', text: ' from Oslo' }, ...END_EVENTS]);
  t.same(plain(events).slice(2), plain(readResponse(ANSWER, MODEL)).slice(1));
});

t.test('the events are the same wherever the bytes are cut', async (t) => {
  const bytes = Buffer.from(STREAM);
  const expected = JSON.stringify(decode(new ResponsesDecoder(MODEL), bytes));
  const odd = [];
  for (let at = 0; at <= bytes.length; at += 1) {
    const events = decode(new ResponsesDecoder(MODEL), bytes.subarray(0, at), bytes.subarray(at));
    if (JSON.stringify(events) !== expected) odd.push(at);
  }
  t.same(odd, []);
  const single = decode(new ResponsesDecoder(MODEL), ...[...bytes].map((byte) => Buffer.from([byte])));
  t.equal(JSON.stringify(single), expected, 'byte by byte');
  t.equal(JSON.stringify(decode(new ResponsesDecoder(MODEL), STREAM.replaceAll('\n', '\r\n'))), expected, 'with CRLF');
});

t.test('unknown events, comments and fields are skipped', async (t) => {
  const text = `: ping\n\n${namedEvents([
    { type: 'response.reasoning_summary_text.delta', delta: 'hmm' },
    { type: 'response.output_text.annotation.added', annotation: {} },
    { type: 'constructor' },
    { type: 'response.output_text.delta', delta: 'hi', logprobs: [] },
    completed(),
  ])}`;
  t.same(decode(new ResponsesDecoder(MODEL), text), [
    { type: 'text', text: 'hi' },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
});

t.test('an event without a type in its data has the one of its event line', async (t) => {
  const text = 'event: response.output_text.delta\ndata: {"delta":"hi"}\n\nevent: response.completed\ndata: {"response":{}}\n\n';
  t.match(decode(new ResponsesDecoder(MODEL), text), [{ text: 'hi' }, { stopReason: 'end_turn' }]);
});

t.test('gotcha: [DONE] is accepted and ends nothing', async (t) => {
  t.match(decode(new ResponsesDecoder(MODEL), `${namedEvents([completed()])}data: [DONE]\n\n`), [{ type: 'stop' }]);
  t.match(
    thrownBy(() => decode(new ResponsesDecoder(MODEL), 'data: [DONE]\n\n')),
    { code: 'UPSTREAM_MALFORMED', message: /cut short/ },
  );
});

t.test('parallel calls stay apart', async (t) => {
  const second = call({ call_id: 'call_2', arguments: '{"b":2}' });
  t.match(run(added(call(), 0), added(second, 1), done(second, 1), done(call(), 0), completed()), [
    { toolCall: { id: 'call_2', arguments: { b: 2 } } },
    { toolCall: { id: 'call_1', arguments: {} } },
    { stopReason: 'tool_use' },
  ]);
});

t.test('gotcha: a refusal streams as text and ends as a refusal', async (t) => {
  t.same(run({ type: 'response.refusal.delta', delta: 'I will ' }, { type: 'response.refusal.delta', delta: 'not.' }, completed()), [
    { type: 'text', text: 'I will ' },
    { type: 'text', text: 'not.' },
    { type: 'stop', stopReason: 'refusal' },
  ]);
});

t.test('gotcha: a call that the limit cut is dropped with a warning, whether its item was closed or not', async (t) => {
  const cut = call({ arguments: '{"ci', status: 'incomplete' });
  for (const events of [[added(call({ arguments: '' }))], [added(call({ arguments: '' })), done(cut)], [done(call({ arguments: '{"ci' }))]]) {
    t.match(run(...events, incomplete('max_output_tokens')), [
      { type: 'warning', warning: { field: 'message.toolCalls', message: /call to f/ } },
      { type: 'stop', stopReason: 'max_tokens' },
    ]);
  }
});

t.test('a broken or unended call in a completed answer is unreadable', async (t) => {
  for (const events of [[added(call())], [done(call({ arguments: '{"ci' }))]])
    t.match(
      thrownBy(() => run(...events, completed())),
      { code: 'UPSTREAM_MALFORMED', message: /tool call/ },
    );
});

t.test('gotcha: reasoning that used the whole limit leaves no text and a warning', async (t) => {
  t.match(run(done({ type: 'reasoning', encrypted_content: 'x' }), incomplete('max_output_tokens')), [
    { warning: { field: 'config.maxTokens' } },
    { stopReason: 'max_tokens' },
  ]);
});

t.test('gotcha: errors inside the stream are read in all their shapes', async (t) => {
  const error = { code: 'context_length_exceeded', message: 'too long', param: 'input' };
  const shapes = [
    namedEvents([{ type: 'error', ...error }]),
    namedEvents([{ type: 'error', error: { type: 'invalid_request_error', ...error } }]),
    namedEvents([{ type: 'response.failed', response: { status: 'failed', error } }]),
    `data: ${JSON.stringify({ error })}\n\n`,
    `${JSON.stringify({ error })}\n`,
  ];
  for (const shape of shapes) {
    const fault = thrownBy(() => decode(new ResponsesDecoder(MODEL), shape));
    t.ok(fault instanceof StreamError, shape);
    t.match(fault, { providerError: { kind: 'rejected', message: 'too long' } }, shape);
  }
  t.match(
    thrownBy(() => decode(new ResponsesDecoder(MODEL), 'event: error\ndata: upstream gone\n\n')),
    { providerError: { kind: 'failed', message: 'upstream gone' } },
  );
});

t.test('codes of in-stream errors become kinds', async (t) => {
  for (const [code, kind] of [
    ['rate_limit_exceeded', 'rateLimited'],
    ['server_error', 'failed'],
    ['server_is_overloaded', 'failed'],
    ['invalid_prompt', 'rejected'],
  ] as const)
    t.match(
      thrownBy(() => run({ type: 'error', code, message: 'm' })),
      { providerError: { kind } },
      code,
    );
});

t.test('a stream that ends without its last event was cut short', async (t) => {
  const short = namedEvents([{ type: 'response.output_text.delta', delta: 'hal' }]);
  for (const text of ['', short, STREAM.slice(0, STREAM.lastIndexOf('event:'))])
    t.match(
      thrownBy(() => decode(new ResponsesDecoder(MODEL), text)),
      { code: 'UPSTREAM_MALFORMED', message: /cut short/, mayHaveRun: true },
    );
});

t.test('the last event counts also without its blank line', async (t) => {
  t.match(decode(new ResponsesDecoder(MODEL), namedEvents([completed()]).trimEnd()), [{ type: 'stop' }]);
});

t.test('nothing is read after the last event', async (t) => {
  t.same(run(completed(), { type: 'response.output_text.delta', delta: 'late' }, completed()), [{ type: 'stop', stopReason: 'end_turn' }]);
});

t.test('an event that is no JSON object is unreadable', async (t) => {
  for (const data of ['{"type":', '[]', 'null'])
    t.match(
      thrownBy(() => decode(new ResponsesDecoder(MODEL), `data: ${data}\n\n`)),
      { code: 'UPSTREAM_MALFORMED', message: /not a JSON object/ },
      data,
    );
});

t.test('an echo of a request of some megabytes is read', async (t) => {
  const instructions = 'x'.repeat(10 * 1024 * 1024);
  t.match(run({ type: 'response.created', response: { instructions } }, completed({ instructions })), [{ type: 'stop' }]);
});

t.test('what came before a provider error in the same bytes is there all the same', async (t) => {
  const text = namedEvents([
    { type: 'response.output_text.delta', delta: 'hi' },
    { type: 'error', message: 'm' },
  ]);
  for (const read of ['push', 'end'] as const) {
    const decoder = new ResponsesDecoder(MODEL);
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

t.test('a reader may see the summary of the reasoning, and a call while it is written; its end has the same place', async (t) => {
  const argument = (delta: string, output_index: number) => ({ type: 'response.function_call_arguments.delta', output_index, delta });
  const summary = (delta: string) => ({ type: 'response.reasoning_summary_text.delta', delta });
  const part = (summary_index: number) => ({ type: 'response.reasoning_summary_part.added', summary_index });
  const given = [
    part(0),
    summary('One.'),
    part(1),
    summary('Two.'),
    added(call(), 3),
    argument('{"a":', 3),
    argument('1}', 3),
    done(call({ arguments: '{"a":1}' }), 3),
  ];
  t.match(decodeAll(new ResponsesDecoder(MODEL), namedEvents([...given, completed()])), [
    { type: 'reasoning', text: 'One.' },
    { type: 'reasoning', text: '\n\n' },
    { type: 'reasoning', text: 'Two.' },
    { type: 'toolCallStart', index: 0, id: 'call_1', name: 'f' },
    { type: 'toolCallDelta', index: 0, text: '{"a":' },
    { type: 'toolCallDelta', index: 0, text: '1}' },
    { type: 'toolCall', index: 0, toolCall: { id: 'call_1', arguments: { a: 1 } } },
    { type: 'stop' },
  ]);
});
