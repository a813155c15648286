import t from 'tap';
import { ChatChunks } from '../../../../../transports/http/dialects/openai-chat/stream.ts';
import { ToolNames } from '../../../../../transports/http/dialects/shared/conversation.ts';
import { frameData, hostileTexts } from '../../../../support/hostile-texts.ts';

const request = {
  model: 'm',
  chat: { messages: [] },
  stream: true,
  warnings: [],
  echo: { includeUsage: false, names: new ToolNames(), customTools: new Set<string>() },
};
const chunks = () => new ChatChunks({ requestId: 'req_1', created: 5, request });

t.test('every chunk has the same id, time and name, and the stream ends with [DONE]', async (t) => {
  const stream = chunks();
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const text = stream.pieces([{ type: 'text', text: 'a' }]) + stream.done({ usage, stopReason: 'end_turn' });
  const frames = text.trimEnd().split('\n\n');
  t.equal(frames.at(-1), 'data: [DONE]');
  for (const frame of frames.slice(0, -1))
    t.match(JSON.parse(frame.slice('data: '.length)), { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 5, model: 'm' });
});

t.test('an answer without any text still has a role and an end', async (t) => {
  const text = chunks().done({ usage: { inputTokens: 1, outputTokens: 0, totalTokens: 1 }, stopReason: 'end_turn' });
  t.match(text, /"role":"assistant".*\n\n.*"finish_reason":"stop"/s);
});

t.test('silence is a comment', async (t) => {
  t.match(chunks().keepAlive(), /^: /);
});

t.test('what the provider wants back comes once, with the beginning of the call', async (t) => {
  const toolCall = { id: 'a', name: 'f', arguments: {}, providerMetadata: { one: { signature: 's' } } };
  const frames = chunks()
    .pieces([{ type: 'toolCall', toolCall }])
    .trimEnd()
    .split('\n\n')
    .map((frame) => JSON.parse(frame.slice('data: '.length)).choices[0].delta.tool_calls?.[0]);
  t.match(frames[1], { index: 0, id: 'a', extra_content: { one: { signature: 's' } } });
  t.equal(frames[2].extra_content, undefined);
});

t.test('probabilities of tokens come with the last choice', async (t) => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const text = chunks().done({ usage, stopReason: 'end_turn', logprobs: [{ token: 'a', logprob: -1 }] });
  t.match(text, /"logprobs":\{"content":\[\{"token":"a","logprob":-1,"bytes":null,"top_logprobs":\[\]\}\],"refusal":null\},"finish_reason":"stop"/);
});

t.test('the templates of texts, names and finishes are the JSON of plain objects', async (t) => {
  for (const text of hostileTexts()) {
    const stream = new ChatChunks({ requestId: 'req_1', created: 5, request: { ...request, model: text } });
    const chunk = (delta: object, finish: string | null = null) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 5,
      model: text,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const frames = stream.pieces([
      { type: 'text', text },
      { type: 'reasoning', text },
    ]);
    const end = stream.done({ usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, stopReason: 'end_turn' });
    const plain = [chunk({ role: 'assistant', content: '' }), chunk({ content: text }), chunk({ reasoning_content: text }), chunk({}, 'stop')];
    t.equal(JSON.stringify(frameData(frames + end)), JSON.stringify(plain));
  }
});
