// The same conversation over each provider: Ollama's own client speaks to our server, and an independent mock of the providers answers it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { type ChatRequest, type ChatResponse, type Message, Ollama } from 'ollama';
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
const TOOLS = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  },
];
const HELLO: Message = { role: 'user', content: 'hello' };
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function rig(t: Test, wire: Wire) {
  const mock = new LLMock({ port: 0, chunkSize: 5 });
  await mock.start();
  t.teardown(() => mock.stop());
  const server = await startServer(t, { adapters: [wire.create()], env: wire.env(mock.url), retries: 0 });
  if (wire.stored !== undefined) writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(wire.stored));
  const client = new Ollama({ host: `${server.url}/ollama`, headers: { authorization: `Bearer ${server.token}` } });
  const model = `${wire.adapter}/${wire.model}`;
  /** Whole, and streamed and put together again. */
  const both = async (messages: Message[], more: Partial<ChatRequest> = {}): Promise<ChatResponse[]> => {
    const asked = () => structuredClone({ ...more, model, messages });
    const parts: ChatResponse[] = [];
    for await (const part of await client.chat({ ...asked(), stream: true })) parts.push(part);
    const end = parts.at(-1) as ChatResponse;
    const content = parts.map(({ message }) => message.content).join('');
    const calls = parts.flatMap(({ message }) => message.tool_calls ?? []);
    const message: Message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
    return [await client.chat({ ...asked(), stream: false }), { ...end, message }];
  };
  return { mock, client, model, both };
}

for (const wire of [ollama, anthropic, openaiResponses, openaiChat, google, bedrock]) {
  t.test(wire.name, async (t) => {
    t.test('a text comes whole and in pieces, word for word, with its counts', async (t) => {
      const { mock, both, client, model } = await rig(t, wire);
      mock.onMessage('hello', { content: WORDS });
      for (const answer of await both([HELLO]))
        t.match(answer, {
          model,
          message: { role: 'assistant', content: WORDS },
          done: true,
          done_reason: 'stop',
          prompt_eval_count: Number,
          eval_count: Number,
        });
      t.match(await client.generate({ model, prompt: 'hello' }), { response: WORDS, done: true });
    });

    t.test('parallel calls come back, their results are heard without ids, and the conversation goes on', async (t) => {
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
      for (const { message, done_reason } of await both([HELLO], { tools: TOOLS })) {
        t.equal(done_reason, 'stop');
        t.match(message.tool_calls, [
          { function: { name: 'get_weather', arguments: { city: 'Oslo' } } },
          { function: { name: 'get_weather', arguments: { city: 'Rome' } } },
        ]);
        const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: args } }) => ({ function: { name, arguments: args } }));
        const results = calls.map(({ function: { name } }): Message => ({ role: 'tool', tool_name: name, content: '-3' }));
        for (const end of await both([HELLO, { ...message, tool_calls: calls }, ...results], { tools: TOOLS })) t.equal(end.message.content, 'It is cold.');
      }
    });

    t.test('an image and a schema of the answer are heard', async (t) => {
      const { mock, both } = await rig(t, wire);
      mock.onMessage(/look/, { content: '{"color":"red"}' });
      const format = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'], additionalProperties: false };
      for (const { message } of await both([{ role: 'user', content: 'look', images: [PNG] }], { format }))
        t.same(JSON.parse(message.content), { color: 'red' });
    });

    t.test('a failure of the provider is an error of the client, with its text and status', async (t) => {
      const { mock, client, model } = await rig(t, wire);
      mock.onMessage('hello', { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429 });
      for (const stream of [false, true]) {
        const failure = await client.chat({ model, messages: [HELLO], stream: stream as true }).then(
          () => undefined,
          (error: unknown) => error,
        );
        t.match(failure, { name: 'ResponseError', status_code: 429, error: String });
      }
    });
  });
}
