import t from 'tap';
import { ChatDone, ChatRequest, ChatResponse, STOP_REASONS, TOOL_NAME_PATTERN } from '../../../core/schemas/chat.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';

const checkRequest: Validator<ChatRequest> = compile(ChatRequest);
const checkResponse: Validator<ChatResponse> = compile(ChatResponse);
const checkDone: Validator<ChatDone> = compile(ChatDone);
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

t.test('a request with every field is taken', async (t) => {
  t.doesNotThrow(() =>
    checkRequest({
      adapter: 'bedrock',
      model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
      stream: true,
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'u', providerMetadata: { a: [1] } },
        { role: 'assistant', toolCalls: [{ id: 'c', name: 'f', arguments: { x: 1 }, providerMetadata: { thoughtSignature: 'abc' } }] },
        { role: 'tool', toolResults: [{ toolCallId: 'c', content: 'r', isError: true }] },
      ],
      config: {
        maxTokens: 10_000_000,
        temperature: 1,
        cacheControl: true,
        region: 'us-gov-west-1',
        baseURL: 'https://x.example',
        apiKey: 'k',
        accessKeyId: 'a',
        secretAccessKey: 's',
        sessionToken: 't',
      },
      tools: [{ name: 'f', description: '', parameters: {} }],
    }),
  );
});

t.test('tool names fit all five providers', async (t) => {
  const form = new RegExp(TOOL_NAME_PATTERN);
  for (const name of ['f', '_f', 'get_weather', 'a-b', 'A9', 'a'.repeat(64)]) t.match(name, form);
  for (const name of ['', '9a', '-a', 'a.b', 'a b', 'é', 'a\n', 'a'.repeat(65)]) t.notMatch(name, form);
});

t.test('the stop reasons are a closed set', async (t) => {
  for (const stopReason of STOP_REASONS) t.doesNotThrow(() => checkDone({ usage, stopReason }));
  t.throws(() => checkDone({ usage, stopReason: 'stop' }), { code: 'INVALID_REQUEST', details: [{ path: 'stopReason' }] });
});

t.test('a response needs whole, non-negative counts', async (t) => {
  const response = { provider: 'p', model: 'm', message: { role: 'assistant', content: '' }, stopReason: 'end_turn' };
  t.doesNotThrow(() => checkResponse({ ...response, usage }));
  for (const [field, value] of [
    ['inputTokens', -1],
    ['outputTokens', 1.5],
    ['totalTokens', '3'],
    ['inputTokens', undefined],
  ] as const)
    t.throws(
      () => checkResponse({ ...response, usage: { ...usage, [field]: value } }),
      { code: 'INVALID_REQUEST', details: [{ path: `usage.${field}` }] },
      `${field} ${value}`,
    );
});
