// Our Anthropic requests beside those of the official `@anthropic-ai/sdk`.
import Anthropic from '@anthropic-ai/sdk';
import t from 'tap';
import { createAnthropic } from '../../adapters/anthropic/index.ts';
import { createCore } from '../../core/index.ts';
import { compare, ours, recorded, rounds, SCHEMA, startRecorder } from './compare.ts';

const KEY = 'sk-ant-test-0123456789';
const HEADERS = ['content-type', 'anthropic-version', 'x-api-key', 'authorization', 'anthropic-beta'];
const AUTH = 'x-api-key is what every document shows and every compatible server knows; the SDK sends the key as a bearer token since 1.0';
const COMMON = {
  'headers.anthropic-version': '2023-06-01 stays served and takes a temperature where the model does; under 2026-10-21 every temperature is a 400',
  'headers.x-api-key': AUTH,
  'headers.authorization': AUTH,
};

for (const stream of [false, true]) {
  t.test(`a whole conversation, ${stream ? 'streamed' : 'not streamed'}`, async (t) => {
    const recorder = await startRecorder(t);
    const mine = await ours(
      t,
      recorder,
      { create: createAnthropic, env: { ANTHROPIC_BASE_URL: recorder.url, ANTHROPIC_API_KEY: KEY } },
      { ...rounds('anthropic', 'claude-haiku-4-5'), stream },
    );
    const sdk = new Anthropic({ apiKey: KEY, baseURL: recorder.url, maxRetries: 0 });
    const body = {
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      temperature: 0.5,
      system: [{ type: 'text' as const, text: 'Be brief.' }],
      messages: [
        { role: 'user' as const, content: [{ type: 'text' as const, text: 'weather in Oslo and Rome?' }] },
        {
          role: 'assistant' as const,
          content: [
            { type: 'text' as const, text: 'Let me look.' },
            { type: 'tool_use' as const, id: 'call_1', name: 'get_weather', input: { city: 'Oslo' } },
            { type: 'tool_use' as const, id: 'call_2', name: 'get_weather', input: { city: 'Rome' } },
          ],
        },
        {
          role: 'user' as const,
          content: [
            { type: 'tool_result' as const, tool_use_id: 'call_1', content: '3 C' },
            { type: 'tool_result' as const, tool_use_id: 'call_2', content: 'no data', is_error: true },
            { type: 'text' as const, text: 'and tomorrow?' },
          ],
        },
      ],
      tools: [{ name: 'get_weather', description: 'Weather of a city', input_schema: SCHEMA as never }],
    };
    const theirs = await recorded(recorder, async () =>
      stream ? sdk.messages.create({ ...body, stream: true } as never) : sdk.messages.create(body as never),
    );
    compare(t, mine, theirs, HEADERS, COMMON);
  });
}

t.test('the probe', async (t) => {
  const recorder = await startRecorder(t);
  const core = createCore({ adapters: [createAnthropic()], env: { ANTHROPIC_BASE_URL: recorder.url, ANTHROPIC_API_KEY: KEY } });
  t.teardown(() => core.close());
  const mine = await recorded(recorder, () => core.verify('anthropic'));
  const sdk = new Anthropic({ apiKey: KEY, baseURL: recorder.url, maxRetries: 0 });
  const theirs = await recorded(recorder, async () => sdk.models.list({ limit: 1 }));
  compare(
    t,
    mine,
    theirs,
    HEADERS.filter((name) => name !== 'content-type'),
    COMMON,
  );
});
