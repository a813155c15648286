// Our OpenAI requests beside those of the official `openai` package, on both endpoints.
import OpenAI from 'openai';
import t from 'tap';
import { createOpenAI } from '../../adapters/openai/index.ts';
import { createCore } from '../../core/index.ts';
import { compare, ours, recorded, rounds, SCHEMA, startRecorder } from './compare.ts';

const KEY = 'sk-test-0123456789abcdef';
const HEADERS = ['content-type', 'authorization', 'openai-organization', 'openai-project', 'openai-beta'];

const sdkAt = (url: string) => new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
const env = (url: string) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY });

for (const stream of [false, true]) {
  t.test(`a whole conversation on /responses, ${stream ? 'streamed' : 'not streamed'}`, async (t) => {
    const recorder = await startRecorder(t);
    const mine = await ours(
      t,
      recorder,
      { create: createOpenAI, env: env(recorder.url), stored: { openai: { api: 'responses' } } },
      { ...rounds('openai', 'gpt-4o'), stream },
    );
    const theirs = await recorded(recorder, async () =>
      sdkAt(recorder.url).responses.create({
        model: 'gpt-4o',
        instructions: 'Be brief.',
        input: [
          { role: 'user', content: 'weather in Oslo and Rome?' },
          { role: 'assistant', content: 'Let me look.' },
          { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
          { type: 'function_call', call_id: 'call_2', name: 'get_weather', arguments: '{"city":"Rome"}' },
          { type: 'function_call_output', call_id: 'call_1', output: '3 C' },
          { type: 'function_call_output', call_id: 'call_2', output: 'no data' },
          { role: 'user', content: 'and tomorrow?' },
        ],
        tools: [{ type: 'function', name: 'get_weather', description: 'Weather of a city', parameters: SCHEMA, strict: false }],
        max_output_tokens: 100,
        temperature: 0.5,
        ...(stream && { stream: true }),
      }),
    );
    compare(t, mine, theirs, HEADERS, {
      'body.store': 'left out it is true, and the answer is kept on their side for a month',
      'body.input[5].output': 'the wire has no mark for a failed tool, so its text says so',
      ...(stream && {
        'body.stream_options.include_obfuscation':
          'padding of every frame against a listener on the line, which TLS to the provider does not need and every client pays for',
      }),
    });
  });

  t.test(`a whole conversation on /chat/completions, ${stream ? 'streamed' : 'not streamed'}`, async (t) => {
    const recorder = await startRecorder(t);
    const mine = await ours(t, recorder, { create: createOpenAI, env: env(recorder.url) }, { ...rounds('openai', 'local-model'), stream });
    const theirs = await recorded(recorder, async () =>
      sdkAt(recorder.url).chat.completions.create({
        model: 'local-model',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'weather in Oslo and Rome?' },
          {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
              { id: 'call_2', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: '3 C' },
          { role: 'tool', tool_call_id: 'call_2', content: 'no data' },
          { role: 'user', content: 'and tomorrow?' },
        ],
        tools: [{ type: 'function', function: { name: 'get_weather', description: 'Weather of a city', parameters: SCHEMA } }],
        max_tokens: 100,
        temperature: 0.5,
        ...(stream && { stream: true, stream_options: { include_usage: true } }),
      } as never),
    );
    compare(t, mine, theirs, HEADERS, { 'body.messages[4].content': 'the wire has no mark for a failed tool, so its text says so' });
  });
}

t.test('the probe', async (t) => {
  const recorder = await startRecorder(t);
  const core = createCore({ adapters: [createOpenAI()], env: env(recorder.url) });
  t.teardown(() => core.close());
  const mine = await recorded(recorder, () => core.verify('openai'));
  const theirs = await recorded(recorder, async () => sdkAt(recorder.url).models.list());
  compare(t, mine, theirs, ['authorization'], {});
});
