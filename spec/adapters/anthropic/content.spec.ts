import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { buildRequest } from '../../../adapters/anthropic/request.ts';
import type { AnthropicRequest } from '../../../adapters/anthropic/schema.ts';
import { promptFor } from '../../../core/gateway/support.ts';
import type { ChatRequest, ContentPart } from '../../../core/index.ts';
import { settingsFor } from '../../support/adapter-call.ts';

const anthropic = createAnthropic();
const model = 'claude-opus-5-5';
const IMAGE = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
const SENT = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const EPHEMERAL = { type: 'ephemeral' };

function build(parts: Partial<ChatRequest>): AnthropicRequest {
  const prompt = promptFor({ adapter: 'anthropic', model, messages: [{ role: 'user', content: 'hi' }], ...parts }, anthropic);
  return buildRequest({ model, prompt, settings: settingsFor(anthropic), stream: true }).body as AnthropicRequest;
}
const userBlocks = (content: readonly ContentPart[]): unknown => build({ messages: [{ role: 'user', content: [...content] }] }).messages[0]?.content;

t.test('images and documents, by data, URL or text', async (t) => {
  t.same(
    userBlocks([
      { type: 'text', text: 'look' },
      IMAGE,
      { type: 'image', url: 'https://a.test/b.png' },
      { type: 'document', mediaType: 'application/pdf', data: 'AAAA', name: 'a.pdf' },
      { type: 'document', url: 'https://a.test/b.pdf' },
      { type: 'document', text: 'words' },
      { type: 'document', mediaType: 'text/csv', data: Buffer.from('ä;b').toString('base64') },
    ]),
    [
      { type: 'text', text: 'look' },
      SENT,
      { type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'url', url: 'https://a.test/b.pdf' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä;b' } },
    ],
  );
});

t.test('what Claude does not read is refused', async (t) => {
  t.throws(() => userBlocks([{ type: 'audio', mediaType: 'audio/wav', data: 'AAAA' }]), { code: 'INVALID_REQUEST', message: /messages\[0\]\.content\[0\]/ });
  t.throws(() => userBlocks([{ ...IMAGE, mediaType: 'image/tiff' }]), { code: 'INVALID_REQUEST', message: /image\/tiff/ });
  t.throws(() => userBlocks([{ type: 'document', mediaType: 'application/msword', data: 'AAAA' }]), { message: /application\/msword/ });
});

t.test('an image is part of the tool result that has it; assistant parts keep their order without reasoning', async (t) => {
  const { messages } = build({
    messages: [
      { role: 'user', content: 'see' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'b' },
        ],
        toolCalls: [{ id: 'c', name: 'see', arguments: {} }],
      },
      {
        role: 'tool',
        toolResults: [
          {
            toolCallId: 'c',
            content: [
              { type: 'text', text: 'seen' },
              { ...IMAGE, cache: '1h' },
            ],
          },
        ],
      },
    ],
  });
  t.match(messages[1]?.content, [{ text: 'a' }, { text: 'b' }, { type: 'tool_use' }]);
  t.same(messages[2]?.content, [
    { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'seen' }, SENT], cache_control: { type: 'ephemeral', ttl: '1h' } },
  ]);
});

t.test('cache marks stand where the caller put them; of more than four the last ones win', async (t) => {
  const text = (words: string, cache?: '5m') => ({ type: 'text', text: words, ...(cache && { cache }) }) as const;
  const messages: ChatRequest['messages'] = [
    { role: 'system', content: [text('s', '5m')] },
    { role: 'user', content: [text('a', '5m'), text('b')] },
  ];
  const few = build({ messages, tools: [{ name: 'f', cache: '1h' }, { name: 'g' }] });
  t.same(
    few.tools?.map((tool) => tool.cache_control),
    [{ type: 'ephemeral', ttl: '1h' }, undefined],
  );
  t.same(few.system?.[0]?.cache_control, EPHEMERAL);
  t.same(
    few.messages[0]?.content.map((block) => block['cache_control' as keyof typeof block]),
    [EPHEMERAL, undefined],
  );
  const many = build({
    messages: [{ role: 'user', content: ['1', '2', '3', '4', '5'].map((words) => text(words, '5m')) }],
    tools: [{ name: 'f', cache: '5m' }],
  });
  t.equal(many.tools?.[0]?.cache_control, undefined);
  t.same(
    many.messages[0]?.content.map((block) => 'cache_control' in block),
    [false, true, true, true, true],
  );
});
