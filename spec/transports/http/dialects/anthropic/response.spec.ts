import t from 'tap';
import type { ChatDone, Usage } from '../../../../../core/index.ts';
import { readRequest } from '../../../../../transports/http/dialects/anthropic/request.ts';
import { countMembers, toMessage } from '../../../../../transports/http/dialects/anthropic/response.ts';
import type { WholeAnswer } from '../../../../../transports/http/dialects/shared/dialect.ts';
import { unpackState } from '../../../../../transports/http/dialects/shared/packed-state.ts';

const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const DONE: ChatDone = { usage: USAGE, stopReason: 'end_turn' };

function message(pieces: WholeAnswer['pieces'], done: Partial<ChatDone> = {}, fields: object = {}) {
  const request = readRequest({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], tools: [{ name: 'a.b' }], ...fields });
  return JSON.parse(toMessage({ pieces, done: { ...DONE, ...done } }, { requestId: 'req_1', created: 1, request })) as Record<string, unknown>;
}

t.test('a message has its parts in their order, and the names and ids that the client knows', async (t) => {
  const toolCall = { id: 'fn:0', name: 't_a_b', arguments: { x: 1 } };
  t.match(
    message(
      [
        { type: 'text', text: 'Let me look.' },
        { type: 'toolCall', toolCall },
      ],
      { stopReason: 'tool_use', toolCalls: [toolCall] },
    ),
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: /^fn_0_/, name: 'a.b', input: { x: 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  );
});

t.test('thinking is shown only to a client that asked for it, with the state to bring back', async (t) => {
  const pieces = [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'yes' },
  ] as const;
  const done = { providerMetadata: { one: { s: 1 } } };
  t.same(message(pieces, done)['content'], [{ type: 'text', text: 'yes' }]);
  const thinking = { thinking: { type: 'adaptive' } };
  const [thought, text] = message(pieces, done, thinking)['content'] as Record<string, unknown>[];
  t.match(thought, { type: 'thinking', thinking: 'hm' });
  t.same(unpackState(thought?.['signature']), { message: { one: { s: 1 } } });
  t.match(text, { type: 'text' });
  t.match(message([{ type: 'text', text: 'yes' }], done, thinking)['content'], [{ type: 'text' }, { type: 'thinking', thinking: '', signature: /^bh1\./ }]);
  t.match(message(pieces, {}, thinking)['content'], [{ type: 'thinking', thinking: 'hm', signature: '' }, { type: 'text' }]);
});

t.test('every end has its word, and content is never empty', async (t) => {
  for (const [stopReason, word] of [
    ['end_turn', 'end_turn'],
    ['unknown', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['stop_sequence', 'stop_sequence'],
    ['content_filter', 'refusal'],
    ['refusal', 'refusal'],
  ] as const) {
    t.match(message([], { stopReason }), { stop_reason: word, content: [{ type: 'text', text: '' }] });
  }
});

t.test('an answer says which stop sequence ended it, if that is known', async (t) => {
  t.match(message([], { stopReason: 'stop_sequence', stopSequence: 'B' }), { stop_reason: 'stop_sequence', stop_sequence: 'B' });
  t.match(message([], { stopReason: 'stop_sequence' }), { stop_reason: 'stop_sequence', stop_sequence: null });
});

t.test('input tokens are without those of a cache, and thinking is counted if the provider counts it', async (t) => {
  const counts = (usage: Usage): unknown => JSON.parse(`{${countMembers(usage)}}`);
  t.match(counts({ ...USAGE, cacheReadTokens: 3, cacheWriteTokens: 2, reasoningTokens: 4 }), {
    input_tokens: 5,
    cache_creation_input_tokens: 2,
    cache_read_input_tokens: 3,
    output_tokens: 5,
    output_tokens_details: { thinking_tokens: 4 },
  });
  t.match(counts(USAGE), { output_tokens_details: null });
});
