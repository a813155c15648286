import t from 'tap';
import { BlockhouseError } from '../../../../../core/index.ts';
import { CompletionChunks } from '../../../../../transports/http/dialects/openai-completions/stream.ts';

const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const contextOf = (includeUsage = false) => ({
  requestId: 'req_1',
  created: 5,
  request: { model: 'my "m"', chat: { messages: [] }, stream: true, warnings: [], echo: { includeUsage } },
});

const framesOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n\n')
    .map((frame) => frame.slice('data: '.length))
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));

t.test('each piece of the text is a chunk, and the last ones have the reason and the end', async (t) => {
  const stream = new CompletionChunks(contextOf());
  const text =
    stream.pieces([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'a' },
    ]) + stream.done({ usage: USAGE, stopReason: 'end_turn' });
  const head = { id: 'cmpl-1', object: 'text_completion', created: 5, model: 'my "m"' };
  t.strictSame(framesOf(text), [
    { ...head, choices: [{ text: 'a', index: 0, logprobs: null, finish_reason: null }] },
    { ...head, choices: [{ text: '', index: 0, logprobs: null, finish_reason: 'stop' }] },
    '[DONE]',
  ]);
});

t.test('usage has a chunk of its own where it is asked for', async (t) => {
  const frames = framesOf(new CompletionChunks(contextOf(true)).done({ usage: USAGE, stopReason: 'end_turn' }));
  t.match(frames, [{ choices: [{ finish_reason: 'stop' }] }, { choices: [], usage: { prompt_tokens: 3 } }, '[DONE]']);
});

t.test('a stream that breaks off ends with an error and without [DONE], and silence is a comment', async (t) => {
  const stream = new CompletionChunks(contextOf());
  t.match(framesOf(stream.error(new BlockhouseError('UPSTREAM_FAILED', 'Busy.'))), [{ error: { message: 'Busy.', type: 'server_error' } }]);
  t.match(stream.keepAlive(), /^: /);
});
