import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { buildRequest } from '../../../adapters/anthropic/request.ts';
import type { AnthropicRequest } from '../../../adapters/anthropic/schema.ts';
import type { ChatRequest } from '../../../core/index.ts';
import { contextFor } from '../../support/adapter-call.ts';

const anthropic = createAnthropic();
type Parts = Partial<Pick<ChatRequest, 'messages' | 'tools' | 'config'>>;
const build = (parts: Parts = {}, { model = 'claude-sonnet-5-5', stream = false } = {}) => buildRequest(contextFor(anthropic, model, parts, stream));
const bodyOf = (parts: Parts, model?: string): AnthropicRequest => build(parts, model === undefined ? {} : { model }).body as AnthropicRequest;

const CALLS = [
  { id: 'toolu_1', name: 'get_weather', arguments: { city: 'Oslo' } },
  { id: 'toolu_2', name: 'get_weather', arguments: {} },
];
const TALK: ChatRequest['messages'] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'weather in Oslo and Rome?' },
  { role: 'assistant', content: 'Let me look.', toolCalls: CALLS },
  { role: 'tool', toolResults: [{ toolCallId: 'toolu_2', content: 'no data', isError: true }] },
  { role: 'tool', content: 'Hurry.', toolResults: [{ toolCallId: 'toolu_1', content: '3 C' }] },
  { role: 'user', content: 'And?' },
];
const TOOLS = [{ name: 'get_weather', description: 'd', parameters: { properties: { city: {} } } }, { name: 'get_time' }];

t.test('a whole conversation as the Messages API wants it', async (t) => {
  const { url, body, stream, warnings } = build({ messages: TALK, tools: TOOLS, config: { maxTokens: 50 } });
  t.equal(url.href, 'https://api.anthropic.com/v1/messages');
  t.equal(stream, false);
  t.same(warnings, []);
  t.same(body, {
    model: 'claude-sonnet-5-5',
    max_tokens: 50,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'weather in Oslo and Rome?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: '3 C' },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'no data', is_error: true },
          { type: 'text', text: 'Hurry.' },
          { type: 'text', text: 'And?' },
        ],
      },
    ],
    tools: [
      { name: 'get_weather', description: 'd', input_schema: { type: 'object', properties: { city: {} } } },
      { name: 'get_time', input_schema: { type: 'object', properties: {} } },
    ],
  });
});

t.test('gotcha 1: temperature goes to the models that take it; for others it is left out, and the answer says so', async (t) => {
  const old = build({ config: { temperature: 0 } }, { model: 'claude-haiku-4-5' });
  t.equal((old.body as AnthropicRequest).temperature, 0);
  t.same(old.warnings, []);
  for (const model of ['claude-opus-5-5', 'claude-of-tomorrow']) {
    const { body, warnings } = build({ config: { temperature: 0.5 } }, { model });
    t.notOk('temperature' in (body as object));
    t.match(warnings, [{ field: 'config.temperature', message: new RegExp(model) }]);
  }
});

t.test('gotcha 2: all results of a turn are in one user message, first and in call order', async (t) => {
  t.same(
    bodyOf({ messages: TALK }).messages[2]?.content.map(({ type }) => type),
    ['tool_result', 'tool_result', 'text', 'text'],
  );
});

t.test('gotcha 3: empty text is never sent', async (t) => {
  const messages: ChatRequest['messages'] = [
    { role: 'system', content: ' ' },
    { role: 'user', content: 'a' },
    { role: 'user', content: '' },
    { role: 'assistant', content: '\n', toolCalls: [CALLS[0] as (typeof CALLS)[0]] },
    { role: 'tool', content: '', toolResults: [{ toolCallId: 'toolu_1', content: '' }] },
    { role: 'assistant', content: ' ' },
    { role: 'user', content: 'b' },
  ];
  const body = bodyOf({ messages });
  t.notOk('system' in body);
  t.same(
    body.messages.map(({ content }) => content.map(({ type }) => type)),
    [['text'], ['tool_use'], ['tool_result', 'text']],
  );
});

t.test('gotcha 9: a conversation that ends with the assistant is sent without white space at its end; the provider decides', async (t) => {
  const body = bodyOf({
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: ' It is \n' },
    ],
  });
  t.same(body.messages.at(-1), { role: 'assistant', content: [{ type: 'text', text: ' It is' }] });
});

t.test('white space at the end of an earlier assistant text stays', async (t) => {
  const messages: ChatRequest['messages'] = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b ' },
    { role: 'user', content: 'c' },
  ];
  t.match(bodyOf({ messages }).messages[1], { content: [{ text: 'b ' }] });
});

t.test('gotcha 10: a base URL may carry /v1', async (t) => {
  for (const base of ['https://h.example', 'https://h.example/', 'https://h.example/v1', 'https://h.example/v1/', 'https://h.example/v1/messages'])
    t.equal(build({ config: { baseURL: base } }).url.href, 'https://h.example/v1/messages', base);
  t.equal(build({ config: { baseURL: 'https://h.example/claude/v1' } }).url.href, 'https://h.example/claude/v1/messages');
});

t.test('a conversation that starts with the assistant gets a user message before it, and the answer says so', async (t) => {
  const { body, warnings } = build({
    messages: [
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'hi' },
    ],
  });
  t.same(
    (body as AnthropicRequest).messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  t.match(warnings, [{ field: 'messages[0]' }]);
});

t.test('ids that Claude does not take are rewritten on both sides of a call', async (t) => {
  const { messages } = bodyOf({
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', toolCalls: [{ id: 'fc.1/ä', name: 'f', arguments: {} }] },
      { role: 'tool', toolResults: [{ toolCallId: 'fc.1/ä', content: 'x' }] },
    ],
  });
  const call = messages[1]?.content[0] as { id: string };
  const result = messages[2]?.content[0] as { tool_use_id: string };
  t.match(call.id, /^[a-zA-Z0-9_-]{1,64}$/);
  t.equal(result.tool_use_id, call.id);
});

t.test('more than 21,333 tokens are streamed inside, fewer only when asked', async (t) => {
  t.match(build({ config: { maxTokens: 21_333 } }), { stream: false, body: { max_tokens: 21_333 } });
  t.notOk('stream' in (build({ config: { maxTokens: 21_333 } }).body as object));
  t.match(build({ config: { maxTokens: 21_334 } }), { stream: true, body: { stream: true } });
  t.match(build({}, { stream: true }), { stream: true, body: { stream: true, max_tokens: 4096 } });
});

t.test('cache marks: the last tool, the last system block, the last block of the last user message', async (t) => {
  const marked = bodyOf({ messages: TALK, tools: TOOLS, config: { cacheControl: true } });
  const mark = { type: 'ephemeral' };
  t.same(marked.tools?.at(-1)?.cache_control, mark);
  t.same(marked.system?.at(-1)?.cache_control, mark);
  t.same(marked.messages.at(-1)?.content.at(-1)?.['cache_control'], mark);
  t.equal(JSON.stringify(marked).split('cache_control').length - 1, 3);
  t.equal(JSON.stringify(bodyOf({ messages: TALK, tools: TOOLS })).includes('cache_control'), false);
  const bare = bodyOf({ config: { cacheControl: true } });
  t.equal(JSON.stringify(bare).split('cache_control').length - 1, 1, 'without tools and system text there is one');
});

t.test('a mark on the last user message is not on an assistant message behind it', async (t) => {
  const { messages } = bodyOf({
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ],
    config: { cacheControl: true },
  });
  t.match(messages, [{ content: [{ cache_control: { type: 'ephemeral' } }] }, { content: [{ text: 'b', cache_control: undefined }] }]);
});

t.test('a failed result with an image says so in its text, since Claude takes text alone beside is_error', async (t) => {
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
  const { messages } = bodyOf({
    messages: [
      { role: 'user', content: 'see' },
      { role: 'assistant', toolCalls: [{ id: 'c', name: 'see', arguments: {} }] },
      { role: 'tool', toolResults: [{ toolCallId: 'c', isError: true, content: [{ type: 'text', text: 'no page' }, image] }] },
    ],
  });
  const content = [
    { type: 'text', text: 'Error:' },
    { type: 'text', text: 'no page' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  ];
  t.same(messages[2]?.content, [{ type: 'tool_result', tool_use_id: 'c', content }]);
});
