import t from 'tap';
import { cutCallWarning, OutputItems, readArguments, readResponse as readWhole } from '../../../adapters/openai/response.ts';
import { StreamError } from '../../../adapters/shared/provider.ts';
import { ANSWER, END_EVENTS, MODEL, plain, thrownBy } from './support.ts';

const readResponse = (json: unknown) => readWhole(json, MODEL);
const message = (...content: unknown[]) => ({ type: 'message', content });
const call = (args: unknown, more: object = {}) => ({ type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: args, ...more });
const answer = (output: unknown[], more: object = {}) => ({ status: 'completed', error: null, output, ...more });
const incomplete = (output: unknown[], reason = 'max_output_tokens') => answer(output, { status: 'incomplete', incomplete_details: { reason } });

t.test('a whole answer gives text, call, reasoning for the way back, usage and stop', async (t) => {
  t.same(plain(readResponse(ANSWER)), [{ type: 'text', text: 'Grüße 🌧 from Oslo' }, ...END_EVENTS]);
});

t.test('text is that of all messages, in order', async (t) => {
  const output = [
    message({ type: 'output_text', text: 'one ' }),
    { type: 'web_search_call' },
    message({ type: 'output_text', text: 'two' }, { type: 'new_part' }),
  ];
  t.same(readResponse(answer(output)), [
    { type: 'text', text: 'one ' },
    { type: 'text', text: 'two' },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
});

t.test('gotcha: a refusal is a part of its own: it is the text, and the stop reason tells', async (t) => {
  t.same(readResponse(answer([message({ type: 'refusal', refusal: 'I will not.' })])), [
    { type: 'text', text: 'I will not.' },
    { type: 'stop', stopReason: 'refusal' },
  ]);
});

t.test('gotcha: reasoning may use up the whole limit; the answer is empty, and says why', async (t) => {
  const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'x' };
  t.match(readResponse(incomplete([reasoning])), [
    { type: 'warning', warning: { field: 'config.maxTokens', message: /^Reasoning used up/ } },
    { type: 'stop', stopReason: 'max_tokens' },
  ]);
});

t.test('incomplete details become the stop reason', async (t) => {
  for (const [reason, stopReason] of [
    ['max_output_tokens', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['steered', 'unknown'],
    ['constructor', 'unknown'],
  ] as const)
    t.same(readResponse(incomplete([message({ type: 'output_text', text: 'x' })], reason)).at(-1), { type: 'stop', stopReason }, reason);
  t.same(readResponse(answer([], { status: 'incomplete' })), [{ type: 'stop', stopReason: 'unknown' }], 'without details');
});

t.test('gotcha: arguments that the token limit cut are dropped with a warning, with their reasoning', async (t) => {
  for (const cut of [call('{"city":"Os'), call('', { status: 'incomplete' }), call('{}', { status: 'incomplete' })]) {
    t.match(readResponse(incomplete([{ type: 'reasoning', encrypted_content: 'x' }, cut])), [
      { type: 'warning', warning: { field: 'message.toolCalls', message: /call to f was cut off \(max_output_tokens\)/ } },
      { type: 'stop', stopReason: 'max_tokens' },
    ]);
  }
});

t.test('a limit that fell right behind a call is no loss worth a warning', async (t) => {
  t.match(readResponse(incomplete([call('{}')])), [{ type: 'toolCall' }, { type: 'stop', stopReason: 'max_tokens' }]);
});

t.test('a complete call in an answer that was cut is kept', async (t) => {
  t.match(readResponse(incomplete([call('{"a":1}'), call('{"b', { call_id: 'call_2' })])), [{ type: 'toolCall' }, { type: 'warning' }, { type: 'stop' }]);
});

t.test('broken arguments without such a reason are an unreadable answer', async (t) => {
  for (const bad of [call('{"city":'), call('[1]'), call(7), call('{}', { name: undefined })])
    t.match(
      thrownBy(() => readResponse(answer([bad]))),
      { code: 'UPSTREAM_MALFORMED', message: /tool call/ },
      JSON.stringify(bad),
    );
});

t.test('reasoning without encrypted content, or before text alone, is not kept', async (t) => {
  const bare = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null };
  t.notOk(readResponse(answer([bare, call('{}')])).some(({ type }) => type === 'providerMetadata'));
  const before = [{ ...bare, encrypted_content: 'x' }, message({ type: 'output_text', text: 'hi' })];
  t.notOk(readResponse(answer(before)).some(({ type }) => type === 'providerMetadata'));
});

t.test('of parallel calls only the first has the reasoning before it', async (t) => {
  const item = { type: 'reasoning', id: 'rs_1', encrypted_content: 'x' };
  const events = readResponse(answer([item, call('{}'), call('{}', { call_id: 'call_2' })]));
  t.same(events[2], { type: 'providerMetadata', providerMetadata: { openai: { model: MODEL, reasoning: [{ before: 'call_1', item }] } } });
});

t.test('a call without an id is left to the gateway, without reasoning that could find it', async (t) => {
  const events = readResponse(answer([{ type: 'reasoning', encrypted_content: 'x' }, call('{}', { call_id: undefined })]));
  t.same(events[0], { type: 'toolCall', toolCall: { id: '', name: 'f', arguments: {} } });
  t.equal(events.length, 2);
});

t.test('a failed answer in a 200 is a provider error of the kind that its code says', async (t) => {
  for (const [body, kind] of [
    [{ status: 'failed', error: { code: 'server_error', message: 'broke' }, output: [] }, 'failed'],
    [{ status: 'failed', error: { code: 'invalid_prompt', message: 'broke' }, output: [] }, 'rejected'],
    [{ error: { code: 'rate_limit_exceeded', message: 'broke' } }, 'rateLimited'],
    [{ error: 'broke' }, 'failed'],
  ] as const) {
    const fault = thrownBy(() => readResponse(body));
    t.ok(fault instanceof StreamError);
    t.match(fault, { providerError: { kind, message: 'broke' } });
  }
  for (const status of ['failed', 'cancelled'])
    t.match(
      thrownBy(() => readResponse(answer([], { status }))),
      { providerError: { kind: 'failed', message: `the answer was ${status}` } },
    );
});

t.test('what is no finished answer is unreadable', async (t) => {
  for (const body of [{}, [], 'text', answer([], { status: 'in_progress' }), answer([], { status: 'queued' })])
    t.match(
      thrownBy(() => readResponse(body)),
      { code: 'UPSTREAM_MALFORMED' },
      JSON.stringify(body),
    );
});

t.test('usage that is absent or odd is left out, not made 0', async (t) => {
  t.same(readResponse(answer([], { usage: null })), [{ type: 'stop', stopReason: 'end_turn' }]);
  t.same(plain(readResponse(answer([], { usage: { input_tokens: 5, output_tokens: -1 } }))), [
    { type: 'usage', usage: { inputTokens: 5 } },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
});

t.test('an answer without a status counts as completed', async (t) => {
  t.same(readResponse({ output: [] }), [{ type: 'stop', stopReason: 'end_turn' }]);
});

t.test('a call that began and never ended is broken', async (t) => {
  const items = new OutputItems(MODEL);
  items.abandon('f');
  t.match(
    thrownBy(() => items.end({}, 'completed')),
    { code: 'UPSTREAM_MALFORMED' },
  );
  t.match(items.end({ incomplete_details: { reason: 'content_filter' } }, 'incomplete'), [{ type: 'warning' }, { type: 'stop', stopReason: 'content_filter' }]);
});

t.test('arguments are read from text or object, and nothing stands for none', async (t) => {
  t.same(readArguments('{"a":1}'), { a: 1 });
  t.same(readArguments({ a: 1 }), { a: 1 });
  for (const none of ['', null, undefined]) t.same(readArguments(none), {});
  for (const bad of ['{"a', '[]', 3, ['x']]) t.equal(readArguments(bad), undefined, JSON.stringify(bad));
});

t.test('a cut call without a name is told too', async (t) => {
  t.match(cutCallWarning('', 'length'), { warning: { message: 'A tool call was cut off (length) and is not included.' } });
});
