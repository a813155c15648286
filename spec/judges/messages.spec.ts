// The same conversation over each provider: Anthropic's own client speaks Messages to our server, and an independent mock of the providers answers it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import type { Message, MessageParam, Tool } from '@anthropic-ai/sdk/resources/messages';
import { LLMock } from '@copilotkit/aimock';
import t, { type Test } from 'tap';
import type { Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { bedrock } from '../conformance/wires/bedrock.ts';
import { google } from '../conformance/wires/google.ts';
import { ollama } from '../conformance/wires/ollama.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { openaiResponses } from '../conformance/wires/openai-responses.ts';
import { startServer } from '../support/server.ts';

const WORDS = 'Grüße from a stand-in, in more than one piece: ✓ 🙂 and so on.';
const TOOLS: Tool[] = [
  { name: 'get_weather', description: 'Weather', input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
];

async function rig(t: Test, wire: Wire, isNative = false) {
  const mock = new LLMock({ port: 0, chunkSize: 5 });
  await mock.start();
  t.teardown(() => mock.stop());
  const server = await startServer(t, { adapters: [wire.create()], env: wire.env(mock.url), retries: 0 });
  if (wire.stored !== undefined) writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(wire.stored));
  writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ native: { [wire.adapter]: isNative } }));
  const client = new Anthropic({ apiKey: server.token, baseURL: server.url, maxRetries: 0 });
  const model = `${wire.adapter}/${wire.model}`;
  /** Whole, and streamed through the client's helper. */
  const both = async (messages: MessageParam[]): Promise<Message[]> => {
    const asked = { model, max_tokens: 1000, messages, tools: TOOLS };
    return [await client.messages.create(asked), await client.messages.stream(asked).finalMessage()];
  };
  return { mock, server, client, model, both };
}

for (const wire of [anthropic, openaiResponses, openaiChat, google, bedrock, ollama]) {
  t.test(wire.name, async (t) => {
    t.test('a text comes whole and in pieces, word for word, with its usage', async (t) => {
      const { mock, both, model } = await rig(t, wire);
      mock.onMessage('hello', { content: WORDS });
      for (const message of await both([{ role: 'user', content: 'hello' }])) {
        t.match(message, { model, type: 'message', role: 'assistant', content: [{ type: 'text', text: WORDS }], stop_reason: 'end_turn', stop_sequence: null });
        t.match(message.usage, { input_tokens: Number, output_tokens: Number });
      }
    });

    t.test('parallel calls come back, their results are heard, and the conversation goes on', async (t) => {
      const { mock, both } = await rig(t, wire);
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
      for (const message of await both([{ role: 'user', content: 'hello' }])) {
        t.equal(message.stop_reason, 'tool_use');
        const calls = message.content.filter((block) => block.type === 'tool_use');
        t.match(calls, [
          { name: 'get_weather', input: { city: 'Oslo' } },
          { name: 'get_weather', input: { city: 'Rome' } },
        ]);
        t.not(calls[0]?.id, calls[1]?.id);
        const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: '-3' }));
        for (const end of await both([
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: message.content },
          { role: 'user', content: results },
        ])) {
          t.match(end.content, [{ type: 'text', text: 'It is cold.' }]);
        }
      }
    });

    t.test('a failure of the provider has its status, whole and streamed', async (t) => {
      const { mock, both } = await rig(t, wire);
      mock.onMessage('hello', { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 });
      await t.rejects(both([{ role: 'user', content: 'hello' }]), {
        status: 429,
        error: { type: 'error', error: { type: 'rate_limit_error' } },
      } as Partial<APIError>);
    });
  });
}

t.test('what passes untranslated reads the same', async (t) => {
  const { mock, both } = await rig(t, anthropic, true);
  mock.onMessage('hello', { content: WORDS });
  for (const message of await both([{ role: 'user', content: 'hello' }]))
    t.match(message, { content: [{ type: 'text', text: WORDS }], stop_reason: 'end_turn' });
});
