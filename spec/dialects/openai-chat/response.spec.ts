import t from 'tap';
import { customInput, finishReason } from '../../../dialects/openai-chat/response.ts';

t.test('the reason for the end is one that clients know', async (t) => {
  t.same((['end_turn', 'max_tokens', 'tool_use', 'refusal', 'unknown'] as const).map(finishReason), ['stop', 'length', 'tool_calls', 'content_filter', 'stop']);
});

t.test('a custom tool gets its text; arguments of another form are given as JSON', async (t) => {
  t.equal(customInput({ arguments: { input: 'x\n"y"' } }), 'x\n"y"');
  t.equal(customInput({ arguments: { code: 'x' } }), '{"code":"x"}');
  t.equal(customInput({ arguments: { input: 'x', more: 1 } }), '{"input":"x","more":1}');
});
