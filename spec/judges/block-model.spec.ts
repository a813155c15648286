// A block as a model, seen by the official clients of four protocols.
import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import t from 'tap';
import { createBlock, historyOf } from '../support/block-calls.ts';
import { startServer } from '../support/server.ts';

const MODEL = 'block/ada';

t.test('four protocols, whole and streamed, give one text', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'ada');
  await server.call('POST', '/api/blocks/ada/start');
  const openai = new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: server.token, baseURL: server.url, maxRetries: 0 });
  const ollama = new Ollama({ host: `${server.url}/ollama`, headers: { authorization: `Bearer ${server.token}` } });
  let n = 0;
  const turn = () => {
    n += 1;
    return [{ role: 'user' as const, content: `Question ${n}` }];
  };

  const asks: Record<string, () => Promise<string | null | undefined>> = {
    'chat, whole': async () => (await openai.chat.completions.create({ model: MODEL, messages: turn() })).choices[0]?.message.content,
    'chat, streamed': async () => {
      let text = '';
      const stream = await openai.chat.completions.create({ model: MODEL, messages: turn(), stream: true, stream_options: { include_usage: true } });
      for await (const chunk of stream) {
        t.equal(chunk.model, MODEL);
        text += chunk.choices[0]?.delta.content ?? '';
        if (chunk.usage != null) t.match(chunk.usage, { prompt_tokens: 3, completion_tokens: 2 });
      }
      return text;
    },
    'responses, whole': async () => (await openai.responses.create({ model: MODEL, input: turn() })).output_text,
    'responses, streamed': async () => (await openai.responses.stream({ model: MODEL, input: turn() }).finalResponse()).output_text,
    'messages, whole': async () => {
      const { content, usage } = await anthropic.messages.create({ model: MODEL, max_tokens: 100, messages: turn() });
      t.match(usage, { input_tokens: 3, output_tokens: 2 });
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
    'messages, streamed': () => anthropic.messages.stream({ model: MODEL, max_tokens: 100, messages: turn() }).finalText(),
    'ollama, whole': async () => (await ollama.chat({ model: MODEL, messages: turn() })).message.content,
    'ollama, streamed': async () => {
      let text = '';
      for await (const { message } of await ollama.chat({ model: MODEL, messages: turn(), stream: true })) text += message.content;
      return text;
    },
  };
  for (const [name, ask] of Object.entries(asks)) t.equal(await ask(), 'Hello, you', name);
  const asked = (await historyOf(server, 'ada')).filter(({ role }) => role === 'user');
  t.strictSame(
    asked.map(({ content, channel, status }) => [content, channel, status]),
    Object.keys(asks).map((_, index) => [`Question ${index + 1}`, 'api', 'done']),
  );
});
