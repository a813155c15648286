import t from 'tap';
import { readChat } from '../../../../../transports/http/dialects/ollama/request.ts';
import { endOf, toAnswer, toolCallOf, toReady } from '../../../../../transports/http/dialects/ollama/response.ts';
import { ToolNames } from '../../../../../transports/http/dialects/shared/conversation.ts';

const context = (body: object = {}) => ({
  requestId: 'req_1',
  created: 1_790_000_000,
  elapsedMs: () => 20,
  request: readChat({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body }),
});
const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

t.test('durations are in nanoseconds and never 0', async (t) => {
  t.match(endOf(context(), { usage, stopReason: 'end_turn' }, 5), { total_duration: 20e6, prompt_eval_duration: 5e6, eval_duration: 15e6 });
  t.match(endOf(context(), { usage, stopReason: 'end_turn' }, 0), { prompt_eval_duration: 1 });
});

t.test('an answer ends in stop, or in length if it was too long', async (t) => {
  const reason = (stopReason: 'end_turn' | 'tool_use' | 'max_tokens' | 'unknown') => endOf(context(), { usage, stopReason }, 0);
  t.match(
    ['end_turn', 'tool_use', 'unknown', 'max_tokens'].map((one) => reason(one as 'end_turn')),
    [{ done_reason: 'stop' }, { done_reason: 'stop' }, { done_reason: 'stop' }, { done_reason: 'length' }],
  );
});

t.test('thinking is shown unless the client wants none', async (t) => {
  const whole = {
    pieces: [{ type: 'reasoning', text: 'Hm.' } as const, { type: 'text', text: 'Hi' } as const],
    done: { usage, stopReason: 'end_turn' } as const,
  };
  t.match(JSON.parse(toAnswer(whole, context())), { created_at: '2026-09-21T14:13:20.000Z', message: { role: 'assistant', content: 'Hi', thinking: 'Hm.' } });
  t.notMatch(JSON.parse(toAnswer(whole, context({ think: false }))), { message: { thinking: String } });
});

t.test('a call has the name that the client gave the tool', async (t) => {
  const { echo } = context().request;
  const names = new ToolNames();
  const name = names.toOurs('mcp.git/status');
  t.same(toolCallOf({ id: 'a', name, arguments: { b: 1 } }, 2, { ...echo, names }), {
    id: 'a',
    function: { index: 2, name: 'mcp.git/status', arguments: { b: 1 } },
  });
});

t.test('only a request without a message has a ready answer', async (t) => {
  t.equal(toReady(context()), undefined);
  t.match(toReady(context({ messages: [] })), { model: 'm', message: { content: '' }, done: true, done_reason: 'load' });
});
