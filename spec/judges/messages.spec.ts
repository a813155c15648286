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
import { type Answerer, sendJson, startUpstream } from '../support/upstream.ts';

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
      t.match(await both([{ role: 'user', content: 'hello' }]).catch((error: unknown) => error), { status: 429, type: 'rate_limit_error' });
    });
  });
}

const COUNTED: Readonly<Record<string, { readonly path: RegExp; readonly answer: object }>> = {
  anthropic: { path: /^\/v1\/messages\/count_tokens$/, answer: { input_tokens: 42 } },
  google: { path: /:countTokens$/, answer: { totalTokens: 42 } },
  bedrock: { path: /\/count-tokens$/, answer: { inputTokens: 42 } },
};
const COUNT = {
  system: 'Be brief.',
  messages: [
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'x'.repeat(400) }] },
    { role: 'assistant' as const, content: 'yes' },
    { role: 'user' as const, content: 'y'.repeat(40) },
  ],
};

for (const wire of [anthropic, google, bedrock, openaiResponses, openaiChat, ollama]) {
  const counted = COUNTED[wire.adapter];
  t.test(`case 35: tokens of ${wire.name} are ${counted === undefined ? 'estimated' : 'counted by the provider'}, without an inference`, async (t) => {
    const { client, model, upstream } = await counting(t, wire, (_request, res) => sendJson(res, counted?.answer ?? {}));
    for (const tools of [[], TOOLS]) {
      const { data, response } = await client.messages.countTokens({ ...COUNT, model, tools }).withResponse();
      if (counted === undefined) {
        t.equal(response.headers.get('x-blockhouse-estimated'), 'true');
        t.ok(data.input_tokens > 110 && data.input_tokens < 200, `${data.input_tokens}`);
      } else {
        t.equal(data.input_tokens, 42);
        t.equal(response.headers.get('x-blockhouse-estimated'), null);
      }
    }
    t.equal(upstream.requests.length, counted === undefined ? 0 : 2);
    for (const { path } of upstream.requests) t.match(path, counted?.path ?? /nothing/);
  });
}

t.test('a provider that does not count for a model gets an estimate, and one that fails an error', async (t) => {
  const refusing = await counting(t, bedrock, (_request, res) => sendJson(res, { message: "The provided model doesn't support counting tokens" }, 400));
  const { response } = await refusing.client.messages.countTokens({ ...COUNT, model: refusing.model }).withResponse();
  t.equal(response.headers.get('x-blockhouse-estimated'), 'true');
  const failing = await counting(t, google, (_request, res) => sendJson(res, {}, 503));
  t.match(await failing.client.messages.countTokens({ ...COUNT, model: failing.model }).catch((error: unknown) => error), {
    status: 529,
    type: 'overloaded_error',
  });
  const odd = await counting(t, google, (_request, res) => sendJson(res, { totalTokens: 'many' }));
  t.match(await odd.client.messages.countTokens({ ...COUNT, model: odd.model }).catch((error: unknown) => error), { status: 502, type: 'api_error' });
});

async function counting(t: Test, wire: Wire, answer: Answerer) {
  const upstream = await startUpstream(t, answer);
  const server = await startServer(t, { adapters: [wire.create()], env: wire.env(upstream.url), retries: 0 });
  if (wire.stored !== undefined) writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(wire.stored));
  return { upstream, client: new Anthropic({ apiKey: server.token, baseURL: server.url, maxRetries: 0 }), model: `${wire.adapter}/${wire.model}` };
}

t.test('what passes untranslated reads the same', async (t) => {
  const { mock, both } = await rig(t, anthropic, true);
  mock.onMessage('hello', { content: WORDS });
  for (const message of await both([{ role: 'user', content: 'hello' }]))
    t.match(message, { content: [{ type: 'text', text: WORDS }], stop_reason: 'end_turn' });
});
