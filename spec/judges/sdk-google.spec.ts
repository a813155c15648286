// Our Gemini requests beside those of the official `@google/genai` package.
import { FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import t from 'tap';
import { createGoogle } from '../../adapters/google/index.ts';
import { createCore } from '../../core/index.ts';
import { compare, ours, recorded, rounds, SCHEMA, startRecorder } from './compare.ts';

const KEY = 'AIzaTest0123456789abcdefghijk';
const HEADERS = ['content-type', 'x-goog-api-key', 'authorization'];
const sdkAt = (url: string) => new GoogleGenAI({ apiKey: KEY, apiVersion: 'v1beta', httpOptions: { baseUrl: url } });

for (const stream of [false, true]) {
  t.test(`a whole conversation, ${stream ? 'streamed' : 'not streamed'}`, async (t) => {
    const recorder = await startRecorder(t);
    const mine = await ours(
      t,
      recorder,
      { create: createGoogle, env: { GOOGLE_GEMINI_BASE_URL: recorder.url, GEMINI_API_KEY: KEY } },
      { ...rounds('google', 'gemini-2.5-flash'), stream },
    );
    const request = {
      model: 'gemini-2.5-flash',
      contents: [
        { role: 'user', parts: [{ text: 'weather in Oslo and Rome?' }] },
        {
          role: 'model',
          parts: [
            { text: 'Let me look.' },
            { functionCall: { name: 'get_weather', args: { city: 'Oslo' } } },
            { functionCall: { name: 'get_weather', args: { city: 'Rome' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'get_weather', response: { output: '3 C' } } },
            { functionResponse: { name: 'get_weather', response: { error: 'no data' } } },
          ],
        },
        { role: 'user', parts: [{ text: 'and tomorrow?' }] },
      ],
      config: {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: [{ functionDeclarations: [{ name: 'get_weather', description: 'Weather of a city', parametersJsonSchema: SCHEMA }] }],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
        maxOutputTokens: 100,
        temperature: 0.5,
      },
    };
    const theirs = await recorded(recorder, async () =>
      stream ? sdkAt(recorder.url).models.generateContentStream(request) : sdkAt(recorder.url).models.generateContent(request),
    );
    compare(t, mine, theirs, HEADERS, {});
  });
}

t.test('the probe', async (t) => {
  const recorder = await startRecorder(t);
  const core = createCore({ adapters: [createGoogle()], env: { GOOGLE_GEMINI_BASE_URL: recorder.url, GEMINI_API_KEY: KEY } });
  t.teardown(() => core.close());
  const mine = await recorded(recorder, () => core.verify('google'));
  const theirs = await recorded(recorder, async () => sdkAt(recorder.url).models.list({ config: { pageSize: 1, queryBase: true } }));
  compare(t, mine, theirs, ['x-goog-api-key'], {});
});
