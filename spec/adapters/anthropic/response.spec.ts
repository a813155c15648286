import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { readAnswer } from '../../../adapters/anthropic/response.ts';
import type { ChatEvent } from '../../../core/index.ts';
import { contextFor, providerErrorOf } from '../../support/adapter-call.ts';

const context = contextFor(createAnthropic(), 'claude-sonnet-5-5');
const read = (parts: Record<string, unknown>): ChatEvent[] =>
  readAnswer({ type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 }, ...parts }, context);
const ofType = (events: readonly ChatEvent[], type: ChatEvent['type']): ChatEvent[] => events.filter((event) => event.type === type);
const use = (id: string, input: unknown = { a: 1 }) => ({ type: 'tool_use', id, name: 'f', input });
const text = (words: string) => ({ type: 'text', text: words });

t.test('blocks are chosen by type, never by position; unknown ones are skipped', async (t) => {
  const events = read({
    content: [{ type: 'newest' }, { type: 'thinking', thinking: '', signature: 's' }, text('a'), use('1'), text('b'), use('2')],
    stop_reason: 'tool_use',
  });
  t.same(ofType(events, 'text'), [text('a'), text('b')]);
  t.match(ofType(events, 'toolCall'), [{ toolCall: { id: '1', name: 'f', arguments: { a: 1 } } }, { toolCall: { id: '2' } }]);
});

t.test('stop reasons', async (t) => {
  const table: Record<string, string> = {
    end_turn: 'end_turn',
    pause_turn: 'end_turn',
    max_tokens: 'max_tokens',
    model_context_window_exceeded: 'max_tokens',
    stop_sequence: 'stop_sequence',
    tool_use: 'tool_use',
    refusal: 'refusal',
    compaction: 'unknown',
    constructor: 'unknown',
  };
  for (const [raw, stopReason] of Object.entries(table)) t.same(read({ stop_reason: raw }).at(-1), { type: 'stop', stopReason }, raw);
  t.same(read({ stop_reason: null }).at(-1), { type: 'stop', stopReason: 'unknown' });
});

t.test('the stop sequence that ended the answer is reported', async (t) => {
  t.same(read({ stop_reason: 'stop_sequence', stop_sequence: 'END' }).at(-1), { type: 'stop', stopReason: 'stop_sequence', stopSequence: 'END' });
});

t.test('gotcha 6: input_tokens excludes cached tokens, ours include them', async (t) => {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 3000,
    output_tokens: 7,
    output_tokens_details: { thinking_tokens: 5 },
  };
  t.same(ofType(read({ usage }), 'usage'), [
    { type: 'usage', usage: { inputTokens: 3210, outputTokens: 7, cacheReadTokens: 3000, cacheWriteTokens: 200, reasoningTokens: 5 } },
  ]);
});

t.test('what a usage leaves out, or has as nonsense, is unknown', async (t) => {
  const unknown = { inputTokens: undefined, outputTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined, reasoningTokens: undefined };
  for (const usage of [undefined, null, {}, { input_tokens: -1, output_tokens: 'seven', cache_read_input_tokens: null, output_tokens_details: 3 }])
    t.same(ofType(read({ usage }), 'usage'), [{ type: 'usage', usage: unknown }]);
  const zeros = read({ usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 7 } });
  t.match(ofType(zeros, 'usage'), [{ usage: { inputTokens: undefined, outputTokens: 7 } }], 'no request has 0 tokens');
});

t.test('a call that stands last when the token limit strikes is cut off: left out, with a warning', async (t) => {
  for (const stop_reason of ['max_tokens', 'model_context_window_exceeded']) {
    const events = read({ content: [{ type: 'thinking', thinking: 'x', signature: 's' }, use('1'), use('2', {})], stop_reason });
    t.match(ofType(events, 'toolCall'), [{ toolCall: { id: '1' } }]);
    t.equal(ofType(events, 'toolCall').length, 1);
    t.match(ofType(events, 'warning'), [{ warning: { field: 'message.toolCalls', message: /call to f was cut off/ } }]);
    t.same(ofType(events, 'providerMetadata'), [], 'and the turn is not for replay');
  }
});

t.test('a call that was followed by more is whole, whatever struck later', async (t) => {
  const events = read({ content: [use('1'), text('and')], stop_reason: 'max_tokens' });
  t.equal(ofType(events, 'toolCall').length, 1);
  t.same(ofType(events, 'warning'), []);
});

t.test('arguments that are no object are damage, unless the answer was broken off', async (t) => {
  for (const input of ['{"a"', null, [1], 7]) {
    t.throws(() => read({ content: [use('1', input)], stop_reason: 'tool_use' }), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true });
    const refusal = read({ content: [use('1', input)], stop_reason: 'refusal' });
    t.same(ofType(refusal, 'toolCall'), []);
    t.equal(ofType(refusal, 'warning').length, 1);
  }
  t.match(ofType(read({ content: [{ type: 'tool_use', id: '1', name: 'f' }] }), 'toolCall'), [{ toolCall: { arguments: {} } }]);
});

t.test('thinking becomes state that comes back; without it there is none', async (t) => {
  const content = [{ type: 'redacted_thinking', data: 'xx' }, use('1')];
  t.match(ofType(read({ content, stop_reason: 'tool_use' }), 'providerMetadata'), [
    { providerMetadata: { anthropic: { model: 'claude-sonnet-5-5', prefix: /^[\w-]{22}$/, content } } },
  ]);
  t.same(ofType(read({ content: [use('1')], stop_reason: 'tool_use' }), 'providerMetadata'), []);
});

t.test('an error in a 200 is a provider error, and anything else is no message', async (t) => {
  t.match(
    providerErrorOf(() => read({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } })),
    { kind: 'failed', message: 'busy' },
  );
  for (const parts of [{ type: 'completion' }, { content: 'text' }, { content: undefined }]) t.throws(() => read(parts), { code: 'UPSTREAM_MALFORMED' });
  for (const json of [null, [], 'x']) t.throws(() => readAnswer(json, context), { code: 'UPSTREAM_MALFORMED' });
});
