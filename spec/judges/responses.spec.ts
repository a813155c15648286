// The same conversation over each provider: OpenAI's own client speaks Responses to our server, and an independent mock of the providers answers it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import OpenAI, { APIError } from 'openai';
import type { Response as OpenAIResponse, ResponseInputItem } from 'openai/resources/responses/responses';
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
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const TOOLS = [
  { type: 'function', name: 'get_weather', description: 'Weather', parameters: PARAMETERS, strict: true },
  { type: 'custom', name: 'run', description: 'Runs code' },
] as const;
const CODE = 'print("hi")\nprint(\'\\n\')';

async function rig(t: Test, wire: Wire) {
  const mock = new LLMock({ port: 0, chunkSize: 5 });
  await mock.start();
  t.teardown(() => mock.stop());
  const server = await startServer(t, { adapters: [wire.create()], env: wire.env(mock.url), retries: 0 });
  if (wire.stored !== undefined) writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(wire.stored));
  writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ native: { [wire.adapter]: false } })); // what passes untranslated says nothing of the translation
  const client = new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const ask = { model: `${wire.adapter}/${wire.model}`, input: 'hello', tools: [...TOOLS] } as const;
  /** Whole, and streamed through the client's helper. */
  const both = async (input: ResponseInputItem[]): Promise<OpenAIResponse[]> => {
    const asked = { ...ask, input, tools: [...TOOLS], include: ['reasoning.encrypted_content' as const] };
    return [await client.responses.create(asked), await client.responses.stream(asked).finalResponse()];
  };
  return { mock, server, client, ask, both };
}

for (const wire of [openaiResponses, openaiChat, google, anthropic, bedrock, ollama]) {
  t.test(wire.name, async (t) => {
    t.test('a text comes whole and in pieces, word for word, with its usage', async (t) => {
      const { mock, both, ask } = await rig(t, wire);
      mock.onMessage('hello', { content: WORDS });
      for (const response of await both([{ role: 'user', content: 'hello' }])) {
        t.match(response, { model: ask.model, status: 'completed', output_text: WORDS });
        t.type(response.usage?.output_tokens_details.reasoning_tokens, 'number');
      }
    });

    t.test('cases 2, 22 and 36: calls come back, their results are heard, and the conversation goes on', async (t) => {
      const { mock, both } = await rig(t, wire);
      mock.on({ userMessage: 'hello', hasToolResult: true }, { content: 'It is cold.' });
      mock.on(
        { userMessage: 'hello', hasToolResult: false },
        {
          toolCalls: [
            { name: 'get_weather', arguments: '{"city":"Oslo"}' },
            { name: 'get_weather', arguments: '{"city":"Rome"}' },
            { name: 'run', arguments: JSON.stringify({ input: CODE }) },
          ],
        },
      );
      for (const { output } of await both([{ role: 'user', content: 'hello' }])) {
        const calls = output.filter(({ type }) => type !== 'reasoning');
        t.match(calls, [
          { type: 'function_call', name: 'get_weather', arguments: '{"city":"Oslo"}' },
          { type: 'function_call', name: 'get_weather', arguments: '{"city":"Rome"}' },
          { type: 'custom_tool_call', name: 'run', input: CODE },
        ]);
        const results = calls.map((call) => {
          const type = call.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output';
          return { type, call_id: 'call_id' in call ? call.call_id : '', output: '3 C' } as ResponseInputItem;
        });
        t.equal(new Set(results.map((result) => ('call_id' in result ? result.call_id : ''))).size, 3, 'ids differ');
        for (const answer of await both([{ role: 'user', content: 'hello' }, ...(output as ResponseInputItem[]), ...results]))
          t.equal(answer.output_text, 'It is cold.');
      }
    });

    t.test('case 16: a rate limit keeps its status', async (t) => {
      const { mock, client, ask } = await rig(t, wire);
      mock.onMessage(/.*/, { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' }, status: 429, retryAfter: 9 });
      const expected = { status: 429, code: 'rate_limit_exceeded' };
      await t.rejects(client.responses.create({ ...ask, tools: [] }), expected);
      await t.rejects(client.responses.stream({ ...ask, tools: [] }).finalResponse(), expected);
    });

    t.test('case 15: a stream that the mock breaks off is an error, not a short answer', async (t) => {
      const { mock, client, ask } = await rig(t, wire);
      mock.onMessage('hello', { content: WORDS }, { truncateAfterChunks: 3, latency: 5 });
      const failure: unknown = await client.responses
        .stream({ ...ask, tools: [] })
        .finalResponse()
        .catch((error: unknown) => error);
      t.ok(failure instanceof APIError, String(failure));
    });
  });
}
