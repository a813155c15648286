import t from 'tap';
import { logprobsOf, toolCallOf } from '../../../../../transports/http/dialects/openai-chat/response.ts';
import { ToolNames } from '../../../../../transports/http/dialects/shared/conversation.ts';

t.test('a call has what the provider wants back beside it', async (t) => {
  const echo = { includeUsage: false, names: new ToolNames(), customTools: new Set<string>() };
  t.same(toolCallOf({ id: 'a', name: 'f', arguments: { x: 1 }, providerMetadata: { one: 1 } }, echo), {
    id: 'a',
    type: 'function',
    function: { name: 'f', arguments: '{"x":1}' },
    extra_content: { one: 1 },
  });
  t.notOk('extra_content' in toolCallOf({ id: 'a', name: 'f', arguments: {} }, echo));
});

t.test('probabilities of tokens have the form that clients know, and null stands for none', async (t) => {
  const done = { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, stopReason: 'end_turn' as const };
  t.equal(logprobsOf(done), null);
  t.same(logprobsOf({ ...done, logprobs: [{ token: 'a', logprob: -1, bytes: [97], topLogprobs: [{ token: 'b', logprob: -2 }] }] }), {
    content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [{ token: 'b', logprob: -2, bytes: null }] }],
    refusal: null,
  });
});
