import t from 'tap';
import { readAnswer, readLine } from '../../../adapters/ollama/response.ts';
import { providerErrorOf } from '../../support/adapter-call.ts';

const done = { done: true, done_reason: 'stop', prompt_eval_count: 7, eval_count: 3 };

t.test('a whole answer', async (t) => {
  t.same(readAnswer({ message: { role: 'assistant', content: 'hello', thinking: 'hm' }, total_duration: 1, ...done }), [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'hello' },
    { type: 'usage', usage: { inputTokens: 7, outputTokens: 3 } },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
});

t.test('gotcha 2: arguments are an object; old servers that send text are understood', async (t) => {
  for (const args of [{ city: 'Oslo' }, '{"city":"Oslo"}'])
    t.match(readLine({ message: { tool_calls: [{ id: 'c', function: { name: 'f', arguments: args } }] } }), [
      { type: 'toolCall', toolCall: { id: 'c', name: 'f', arguments: { city: 'Oslo' } } },
    ]);
  t.match(readLine({ message: { tool_calls: [{ function: { name: 'f' } }] } }), [{ toolCall: { arguments: {} } }]);
  t.throws(() => readLine({ message: { tool_calls: [{ function: { name: 'f', arguments: '{"city":' } }] } }), { code: 'UPSTREAM_MALFORMED' });
});

t.test('gotcha 3: a call without an id has an empty one, which the gateway replaces', async (t) => {
  t.match(readLine({ message: { tool_calls: [{ function: { name: 'f', arguments: {} } }] } }), [{ toolCall: { id: '', name: 'f' } }]);
});

t.test('stop reasons', async (t) => {
  const table = { stop: 'end_turn', load: 'end_turn', unload: 'end_turn', length: 'max_tokens', '': 'unknown', newest: 'unknown', constructor: 'unknown' };
  for (const [raw, unified] of Object.entries(table)) t.match(readLine({ done: true, done_reason: raw }).at(-1), { stopReason: unified });
  t.match(readLine({ done: true }).at(-1), { stopReason: 'unknown' });
});

t.test('gotcha 8: an error at status 200 is a provider error', async (t) => {
  t.match(
    providerErrorOf(() => readAnswer({ error: 'out of memory' })),
    { kind: 'failed', message: 'out of memory' },
  );
});

t.test('gotcha 9: counts of zero are left out by the server; without any, nothing is reported', async (t) => {
  for (const cached of [{}, { prompt_eval_count: 0 }])
    t.match(readLine({ done: true, eval_count: 3, ...cached }), [{ usage: { inputTokens: undefined, outputTokens: 3 } }], 'no request has 0 tokens');
  t.match(readLine({ done: true, prompt_eval_count: 0, eval_count: 0 }), [{ usage: { inputTokens: 0, outputTokens: 0 } }]);
  t.match(readLine({ done: true, prompt_eval_count: 3 }), [{ usage: { inputTokens: 3, outputTokens: 0 } }]);
  t.same(readLine({ done: true, done_reason: 'stop' }), [{ type: 'stop', stopReason: 'end_turn' }]);
});

t.test('counts that are none are unknown, not zero', async (t) => {
  t.same(readLine({ done: true, prompt_eval_count: -1, eval_count: 'three' })[0], {
    type: 'usage',
    usage: { inputTokens: undefined, outputTokens: undefined },
  });
});

t.test('what is not marked as done is no answer', async (t) => {
  for (const json of [{ message: { content: 'x' } }, { done: 'true' }, {}, [], null, 'x']) t.throws(() => readAnswer(json), { code: 'UPSTREAM_MALFORMED' });
});

t.test('parts that are no part of the answer are skipped', async (t) => {
  t.same(readLine({ message: { content: '', images: 7, thinking: [] }, done: false }), []);
});
