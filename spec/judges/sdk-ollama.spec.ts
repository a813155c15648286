// Our Ollama requests beside those of the official `ollama` package.
import { Ollama } from 'ollama';
import t from 'tap';
import { createOllama } from '../../adapters/ollama/index.ts';
import { compare, ours, recorded, rounds, SCHEMA, startRecorder } from './compare.ts';

const HEADERS = ['content-type', 'authorization'];
const CALL_INDEX = 'the index of a parallel call, as the server itself writes it; the package leaves it to the caller';

for (const stream of [false, true]) {
  t.test(`a whole conversation, ${stream ? 'streamed' : 'not streamed'}`, async (t) => {
    const recorder = await startRecorder(t);
    const mine = await ours(t, recorder, { create: createOllama, env: { OLLAMA_BASE_URL: recorder.url } }, { ...rounds('ollama', 'qwen3.5'), stream });
    const sdk = new Ollama({ host: recorder.url });
    const theirs = await recorded(recorder, () =>
      sdk.chat({
        model: 'qwen3.5',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'weather in Oslo and Rome?' },
          {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: [
              { id: 'call_1', function: { name: 'get_weather', arguments: { city: 'Oslo' } } },
              { id: 'call_2', function: { name: 'get_weather', arguments: { city: 'Rome' } } },
            ] as never,
          },
          { role: 'tool', content: '3 C', tool_name: 'get_weather', tool_call_id: 'call_1' } as never,
          { role: 'tool', content: 'no data', tool_name: 'get_weather', tool_call_id: 'call_2' } as never,
          { role: 'user', content: 'and tomorrow?' },
        ],
        tools: [{ type: 'function', function: { name: 'get_weather', description: 'Weather of a city', parameters: SCHEMA } }],
        options: { num_predict: 100, temperature: 0.5 },
        stream: stream as false,
      }),
    );
    compare(t, mine, theirs, HEADERS, {
      'body.messages[4].content': 'the wire has no mark for a failed tool, so its text says so',
      'body.options.num_ctx': 'left out, a prompt beyond 4,096 tokens is cut without a word on most machines',
      'body.messages[2].tool_calls[0].function.index': CALL_INDEX,
      'body.messages[2].tool_calls[1].function.index': CALL_INDEX,
    });
  });
}

t.test('the model list', async (t) => {
  const recorder = await startRecorder(t);
  const { createCore } = await import('../../core/index.ts');
  const core = createCore({ adapters: [createOllama()], env: { OLLAMA_BASE_URL: recorder.url } });
  t.teardown(() => core.close());
  const mine = await recorded(recorder, () => core.models('ollama'));
  const theirs = await recorded(recorder, () => new Ollama({ host: recorder.url }).list());
  compare(t, mine, theirs, [], {});
});
