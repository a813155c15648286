import t from 'tap';
import { Choice, readChatAnswer } from '../../../adapters/openai/response-chat.ts';
import { StreamError } from '../../../adapters/shared/provider.ts';
import type { ChatEvent } from '../../../core/index.ts';
import { plain, thrownBy } from './support.ts';

const answer = (message: unknown, finish: string | null = 'stop', more: object = {}) => ({ choices: [{ index: 0, message, finish_reason: finish }], ...more });
const call = (args: unknown, id = 'call_1') => ({ id, type: 'function', function: { name: 'f', arguments: args } });

t.test('a whole answer gives text, calls, usage and stop', async (t) => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 64, cache_write_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 8 },
  };
  t.same(plain(readChatAnswer(answer({ role: 'assistant', content: 'hi', refusal: null, tool_calls: [call('{"a":1}')] }, 'tool_calls', { usage }))), [
    { type: 'text', text: 'hi' },
    { type: 'usage', usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 64, cacheWriteTokens: 3, reasoningTokens: 8 } },
    { type: 'toolCall', toolCall: { id: 'call_1', name: 'f', arguments: { a: 1 } } },
    { type: 'stop', stopReason: 'tool_use' },
  ]);
});

t.test('finish reasons become stop reasons', async (t) => {
  for (const [finish, stopReason] of [
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'unknown'],
    ['constructor', 'unknown'],
    [null, 'unknown'],
  ] as const)
    t.same(readChatAnswer(answer({ content: 'x' }, finish)).at(-1), { type: 'stop', stopReason }, String(finish));
});

t.test('calls count more than the finish reason stop', async (t) => {
  for (const finish of ['stop', 'function_call', null])
    t.same(readChatAnswer(answer({ content: '', tool_calls: [call('{}')] }, finish)).at(-1), { type: 'stop', stopReason: 'tool_use' }, String(finish));
});

t.test('a refusal is the text, and the stop reason tells', async (t) => {
  t.same(readChatAnswer(answer({ content: null, refusal: 'I will not.' })), [
    { type: 'text', text: 'I will not.' },
    { type: 'stop', stopReason: 'refusal' },
  ]);
});

t.test('reasoning is not text of the answer, and empty text is none', async (t) => {
  t.same(readChatAnswer(answer({ content: '', reasoning_content: 'hmm', reasoning: 'hmm' })), [
    { type: 'reasoning', text: 'hmm' },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
});

t.test('content may be a list of parts', async (t) => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hmm' }] },
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  t.same(readChatAnswer(answer({ content }))[0], { type: 'text', text: 'ab' });
});

t.test('arguments may be an object', async (t) => {
  t.match(readChatAnswer(answer({ tool_calls: [call({ a: 1 })] })), [{ toolCall: { arguments: { a: 1 } } }, { type: 'stop' }]);
});

t.test('gotcha: a call that the limit cut is dropped with a warning; complete ones stay', async (t) => {
  for (const cut of ['{"a', '']) {
    t.match(readChatAnswer(answer({ tool_calls: [call('{}'), call(cut, 'call_2')] }, 'length')), [
      { type: 'toolCall', toolCall: { id: 'call_1' } },
      { type: 'warning', warning: { field: 'message.toolCalls', message: /call to f was cut off \(length\)/ } },
      { type: 'stop', stopReason: 'max_tokens' },
    ]);
  }
});

t.test('broken arguments without such a reason are an unreadable answer', async (t) => {
  for (const bad of [call('{"a'), call('3'), { id: 'x', function: { arguments: '{}' } }])
    t.match(
      thrownBy(() => readChatAnswer(answer({ tool_calls: [bad] }))),
      { code: 'UPSTREAM_MALFORMED' },
      JSON.stringify(bad),
    );
});

t.test('no usage is no usage event', async (t) => {
  t.same(readChatAnswer(answer({ content: 'x' }, 'stop', { usage: null })).length, 2);
});

t.test('an error in a 200 is a provider error', async (t) => {
  for (const [body, kind, message] of [
    [{ error: { message: 'busy', code: 429 } }, 'rateLimited', 'busy'],
    [{ error: { message: 'flagged', code: 403 } }, 'rejected', 'flagged'],
    [{ error: 'no such model' }, 'failed', 'no such model'],
    [{ choices: [{ message: {}, finish_reason: 'error' }] }, 'failed', 'it broke off with the finish reason "error"'],
    [{ choices: [{ message: {}, finish_reason: 'error', error: { code: 502, message: 'gone' } }] }, 'failed', 'gone'],
  ] as const) {
    const fault = thrownBy(() => readChatAnswer(body));
    t.ok(fault instanceof StreamError);
    t.match(fault, { providerError: { kind, message } });
  }
});

t.test('what has no choice is unreadable', async (t) => {
  for (const body of [{}, [], { choices: [] }, { choices: [{ text: 'old' }] }, 'x'])
    t.match(
      thrownBy(() => readChatAnswer(body)),
      { code: 'UPSTREAM_MALFORMED' },
      JSON.stringify(body),
    );
});

t.test('usage is told with its chunk, and a later chunk without a reason does not take it back', async (t) => {
  const choice = new Choice();
  t.equal(choice.isFinished, false);
  const events: ChatEvent[] = [];
  choice.takeChunk({ choices: [{ delta: {}, finish_reason: 'length' }], usage: { prompt_tokens: 1 } }, events);
  choice.takeChunk({ choices: [{ delta: {}, finish_reason: null }], usage: null }, events);
  t.equal(choice.isFinished, true);
  t.match(events, [{ usage: { inputTokens: 1 } }]);
  t.match(choice.end(), [{ stopReason: 'max_tokens' }]);
});
