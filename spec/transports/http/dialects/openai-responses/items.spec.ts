import t from 'tap';
import { toJsonText } from '../../../../../core/base/json-text.ts';
import { callItem, itemId, messageItem, reasoningItem } from '../../../../../transports/http/dialects/openai-responses/items.ts';
import { hostileTexts } from '../../../../support/hostile-texts.ts';

t.test('an id says what its item is, and where', async (t) => {
  t.same(
    (['message', 'reasoning', 'function', 'custom'] as const).map((kind, index) => itemId(kind, '1', index)),
    ['msg_1_0', 'rs_1_1', 'fc_1_2', 'ctc_1_3'],
  );
});

t.test('an item without a text has no part yet', async (t) => {
  t.match(JSON.parse(messageItem('msg', 'in_progress')), { content: [] });
  t.same(JSON.parse(reasoningItem('rs')), { id: 'rs', type: 'reasoning', summary: [] });
  t.match(JSON.parse(reasoningItem('rs', undefined, 'bh1.')), { summary: [], encrypted_content: 'bh1.' });
});

t.test('a call of a custom tool has a raw input, any other has arguments', async (t) => {
  t.same(JSON.parse(callItem('fc', 'completed', 'a', { name: 'f', namespace: 'n', isCustom: false }, '{}')), {
    id: 'fc',
    type: 'function_call',
    status: 'completed',
    call_id: 'a',
    name: 'f',
    namespace: 'n',
    arguments: '{}',
  });
  t.match(JSON.parse(callItem('ctc', 'completed', 'a', { name: 'f', isCustom: true }, 'x')), { type: 'custom_tool_call', input: 'x' });
});

t.test('the templates of items are the JSON of plain objects', async (t) => {
  const same = (json: string, plain: object): void => void t.equal(JSON.stringify(JSON.parse(json)), JSON.stringify(plain));
  for (const text of hostileTexts()) {
    const part = { type: 'output_text', text, annotations: [], logprobs: [] };
    const quoted = toJsonText(text);
    same(messageItem('m', 'completed', quoted), { id: 'm', type: 'message', status: 'completed', role: 'assistant', content: [part] });
    same(reasoningItem('r', quoted, text), { id: 'r', type: 'reasoning', summary: [{ type: 'summary_text', text }], encrypted_content: text });
    const tool = { name: text, namespace: text, isCustom: true };
    same(callItem('c', 'incomplete', text, tool, text), {
      id: 'c',
      type: 'custom_tool_call',
      status: 'incomplete',
      call_id: text,
      name: text,
      namespace: text,
      input: text,
    });
  }
});
