// An independent mock of all five providers, kept in step with the real APIs by its authors, answers our adapters: it
// must understand what they ask, and they must understand what it answers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import t, { type Test } from 'tap';
import { type ChatRequest, type ChatStreamEvent, type Core, createCore } from '../../core/index.ts';
import type { Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { bedrock } from '../conformance/wires/bedrock.ts';
import { google } from '../conformance/wires/google.ts';
import { ollama } from '../conformance/wires/ollama.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { openaiResponses } from '../conformance/wires/openai-responses.ts';

const TOOLS: NonNullable<ChatRequest['tools']> = [
  { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
];
const WORDS = 'Grüße from a stand-in, in more than one piece: ✓ 🙂 and so on.';

async function rig(t: Test, wire: Wire): Promise<{ mock: LLMock; core: Core; request: (overrides: Partial<ChatRequest>) => ChatRequest }> {
  const mock = new LLMock({ port: 0, chunkSize: 5 });
  await mock.start();
  t.teardown(() => mock.stop());
  const workspace = t.testdir();
  if (wire.stored !== undefined) writeFileSync(join(workspace, 'auth.json'), JSON.stringify(wire.stored));
  const core = createCore({ workspace, adapters: [wire.create()], env: wire.env(mock.url), retries: 0 });
  t.teardown(() => core.close());
  return { mock, core, request: (overrides) => ({ adapter: wire.adapter, model: wire.model, messages: [{ role: 'user', content: 'hello' }], ...overrides }) };
}

async function read(
  stream: AsyncIterable<ChatStreamEvent>,
): Promise<{ text: string; pieces: number; done: Extract<ChatStreamEvent, { type: 'done' }> | undefined }> {
  const texts: string[] = [];
  let done: Extract<ChatStreamEvent, { type: 'done' }> | undefined;
  for await (const event of stream) {
    if (event.type === 'content') texts.push(event.text);
    if (event.type === 'done') done = event;
  }
  return { text: texts.join(''), pieces: texts.length, done };
}

for (const wire of [openaiResponses, openaiChat, google, anthropic, bedrock, ollama]) {
  t.test(wire.name, async (t) => {
    t.test('a text comes whole and in pieces, word for word', async (t) => {
      const { mock, core, request } = await rig(t, wire);
      mock.onMessage('hello', { content: WORDS });
      const whole = await core.chat(request({}));
      t.match(whole, { provider: wire.adapter, message: { content: WORDS }, stopReason: 'end_turn' });
      const streamed = await read(core.stream(request({ stream: true })));
      t.equal(streamed.text, WORDS);
      t.ok(streamed.pieces > 1);
      t.equal(streamed.done?.stopReason, 'end_turn');
    });

    t.test('the mock hears the system text, every turn and the model', async (t) => {
      const { mock, core, request } = await rig(t, wire);
      mock.onMessage(/.*/, { content: 'ok' });
      await core.chat(
        request({
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'one' },
            { role: 'assistant', content: 'two' },
            { role: 'user', content: 'three' },
          ],
        }),
      );
      const heard = mock.getLastRequest()?.body as { model: string; messages: { role: string; content: unknown }[] };
      t.match(
        heard.messages.map(({ role, content }) => [role, textOf(content)]),
        [
          [/system|developer/, 'Be brief.'],
          ['user', 'one'],
          ['assistant', 'two'],
          ['user', 'three'],
        ],
      );
    });

    t.test('two tool calls come back, and their results are heard', async (t) => {
      const { mock, core, request } = await rig(t, wire);
      mock.on({ userMessage: 'hello', hasToolResult: true }, { content: 'It is cold.' });
      mock.on(
        { userMessage: 'hello', hasToolResult: false },
        {
          toolCalls: [
            { name: 'get_weather', arguments: '{"city":"Oslo"}' },
            { name: 'get_weather', arguments: '{"city":"Rome"}' },
          ],
        },
      );
      for (const stream of [false, true]) {
        const first = stream ? (await read(core.stream(request({ tools: TOOLS, stream })))).done : await core.chat(request({ tools: TOOLS }));
        t.equal(first?.stopReason, 'tool_use');
        const toolCalls = (first !== undefined && 'message' in first ? first.message.toolCalls : first?.toolCalls) ?? [];
        t.match(toolCalls, [
          { name: 'get_weather', arguments: { city: 'Oslo' } },
          { name: 'get_weather', arguments: { city: 'Rome' } },
        ]);
        const answer = await core.chat(
          request({
            tools: TOOLS,
            messages: [
              { role: 'user', content: 'hello' },
              { role: 'assistant', toolCalls },
              { role: 'tool', toolResults: toolCalls.map(({ id }) => ({ toolCallId: id, content: '3 C' })) },
            ],
          }),
        );
        t.equal(answer.message.content, 'It is cold.');
      }
    });

    t.test('a rate limit keeps its wait', async (t) => {
      const { mock, core, request } = await rig(t, wire);
      mock.onMessage(/.*/, { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' }, status: 429, retryAfter: 9 });
      await t.rejects(core.chat(request({})), { code: 'UPSTREAM_RATE_LIMITED', retryAfterMs: 9000 });
      await t.rejects(read(core.stream(request({ stream: true }))), { code: 'UPSTREAM_RATE_LIMITED', retryAfterMs: 9000 });
    });

    t.test('a stream that the mock breaks off is an error, not a short answer', async (t) => {
      const { mock, core, request } = await rig(t, wire);
      mock.onMessage('hello', { content: WORDS }, { truncateAfterChunks: 3, latency: 5 });
      await t.rejects(read(core.stream(request({ stream: true }))), { code: 'UPSTREAM_MALFORMED' });
    });
  });
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';
}
