import t from 'tap';
import type { Notes } from '../../../../../transports/http/dialects/anthropic/content.ts';
import { clientId, readMessages, systemOf } from '../../../../../transports/http/dialects/anthropic/messages.ts';
import { ToolNames } from '../../../../../transports/http/dialects/shared/conversation.ts';
import { packState } from '../../../../../transports/http/dialects/shared/packed-state.ts';
import { Sources } from '../../../../../transports/http/dialects/shared/sources.ts';

const notes = (): Notes => ({ warnings: [], sources: new Sources() });
const read = (messages: unknown, own = notes()) => readMessages({ messages }, new ToolNames(), own);

t.test('results of tools come before what the user says beside them', async (t) => {
  t.same(
    read([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'and now?' },
          { type: 'tool_result', tool_use_id: 'a', content: 'cold', is_error: true },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            cache_control: { type: 'ephemeral' },
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } }],
          },
          { type: 'tool_result', tool_use_id: 'c' },
        ],
      },
    ]),
    [
      {
        role: 'tool',
        toolResults: [
          { toolCallId: 'a', content: 'cold', isError: true },
          { toolCallId: 'b', content: [{ type: 'image', mediaType: 'image/png', data: 'AA', cache: '5m' }] },
          { toolCallId: 'c', content: '' },
        ],
      },
      { role: 'user', content: 'and now?' },
    ],
  );
});

t.test("an assistant's turn has its text, its calls and the state that the client brings back", async (t) => {
  const state = { one: { signature: 's' } };
  const packed = packState({
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    stopReason: 'tool_use',
    providerMetadata: state,
    toolCalls: [{ id: 'a', name: 'f', arguments: {}, providerMetadata: { one: 1 } }],
  });
  const own = notes();
  t.same(
    read(
      [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: '' },
            { type: 'thinking', thinking: 'of another', signature: 'EqQB' },
            { type: 'redacted_thinking', data: 'xyz' },
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
            { type: 'thinking', thinking: '', signature: packed },
          ],
        },
      ],
      own,
    ),
    [
      {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: [{ id: 'a', name: 'f', arguments: { x: 1 }, providerMetadata: { one: 1 } }],
        providerMetadata: state,
      },
    ],
  );
  t.match(own.warnings, [{ field: 'messages.0.content.1' }, { field: 'messages.0.content.2' }]);
});

t.test('system text is system text wherever it stands, but for the note about bills', async (t) => {
  t.same(
    systemOf(
      [
        { type: 'text', text: 'x-anthropic-billing-header: cch=1' },
        { type: 'text', text: 'Be brief.' },
      ],
      'system',
      notes(),
    ),
    [{ role: 'system', content: 'Be brief.' }],
  );
  t.same(systemOf('', 'system', notes()), []);
  t.same(
    read([
      { role: 'user', content: 'hi' },
      { role: 'system', content: [{ type: 'text', text: 'Now in French.' }] },
    ]),
    [
      { role: 'user', content: 'hi' },
      { role: 'system', content: 'Now in French.' },
    ],
  );
});

t.test('an empty message stays a message, for the conversation to be judged as a whole', async (t) => {
  t.same(
    read([
      { role: 'user', content: [] },
      { role: 'assistant', content: null },
    ]),
    [{ role: 'user', content: '' }, { role: 'assistant' }],
  );
});

t.test('what is wrong is refused by the name of the field', async (t) => {
  t.throws(() => read([]), { message: /^messages must have/ });
  t.throws(() => read([{ role: 'tool', content: '' }]), { message: /^messages\.0\.role must be/ });
  t.throws(() => read(['x']), { message: /^messages\.0 must be an object/ });
  t.throws(() => read([{ role: 'user', content: [{ type: 'tool_result', content: '' }] }]), { message: /^messages\.0\.content\.0\.tool_use_id is required/ });
  t.throws(() => read([{ role: 'assistant', content: [{ type: 'tool_use', id: 'a' }] }]), { message: /^messages\.0\.content\.0\.name is required/ });
});

t.test('ids that a client can not take have one substitute each, and no two the same', async (t) => {
  t.equal(clientId('toolu_01'), 'toolu_01');
  const odd = ['functions.get:0', 'functions.get/0', 'x'.repeat(65), `${'x'.repeat(64)}y`, 'ü'];
  const ids = odd.map(clientId);
  t.equal(new Set(ids).size, odd.length);
  for (const id of ids) t.match(id, /^[a-zA-Z0-9_-]{1,64}$/);
  t.same(odd.map(clientId), ids);
});
