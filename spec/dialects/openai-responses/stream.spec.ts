import t from 'tap';
import { BlockhouseError } from '../../../core/index.ts';
import { readRequest } from '../../../dialects/openai-responses/request.ts';
import { ResponseEvents } from '../../../dialects/openai-responses/stream.ts';

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const events = () => new ResponseEvents({ requestId: 'req_1', created: 5, request: readRequest({ model: 'm', input: 'hi' }) });
const namesIn = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);

t.test('every frame is named as its data, and the stream ends with [DONE]', async (t) => {
  const stream = events();
  const text = stream.pieces([{ type: 'text', text: 'a' }]) + stream.done({ usage: USAGE, stopReason: 'end_turn' });
  const frames = text.trimEnd().split('\n\n');
  t.equal(frames.at(-1), 'data: [DONE]');
  for (const frame of frames.slice(0, -1)) {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
    t.equal((JSON.parse(data ?? '') as { type: string }).type, name);
  }
});

t.test('calls whose pieces are mixed keep apart, and a text between them is an item of its own', async (t) => {
  const stream = events();
  const text =
    stream.pieces([
      { type: 'text', text: 'a' },
      { type: 'toolCallStart', index: 3, id: 'x', name: 'f' },
      { type: 'toolCallStart', index: 7, id: 'y', name: 'f' },
      { type: 'toolCallDelta', index: 7, text: '{}' },
      { type: 'toolCallDelta', index: 9, text: 'nobody' },
      { type: 'text', text: 'b' },
      { type: 'toolCall', index: 7, toolCall: { id: 'y', name: 'f', arguments: {} } },
      { type: 'toolCall', index: 3, toolCall: { id: 'x', name: 'f', arguments: { a: 1 } } },
    ]) + stream.done({ usage: USAGE, stopReason: 'tool_use' });
  const end = JSON.parse(/^data: (.*"response\.completed".*)$/m.exec(text)?.[1] ?? '') as { response: object };
  t.match(end.response, {
    output: [
      { type: 'message', content: [{ text: 'a' }] },
      { call_id: 'x', arguments: '{"a":1}' },
      { call_id: 'y', arguments: '{}' },
      { type: 'message', content: [{ text: 'b' }] },
    ],
  });
});

t.test('a call that is started again before its end leaves nothing open', async (t) => {
  const stream = events();
  const start = { type: 'toolCallStart', index: 0, id: 'x', name: 'f' } as const;
  const text =
    stream.pieces([start, { type: 'toolCallDelta', index: 0, text: '{' }, { ...start, id: 'y' }]) + stream.done({ usage: USAGE, stopReason: 'end_turn' });
  const count = (name: string): number => namesIn(text).filter((one) => one === name).length;
  t.equal(count('response.output_item.done'), count('response.output_item.added'));
});

t.test('an error in a stream always has a code', async (t) => {
  const text = events().error(new BlockhouseError('UPSTREAM_TIMEOUT', 'It took too long.'));
  t.match(text, /"type":"error","sequence_number":2,"code":"server_error","message":"It took too long\.","param":null,"error":\{.*"code":"server_error"\}/);
});

t.test('a failure before the first piece is a whole stream, too', async (t) => {
  const text = events().error(new BlockhouseError('UPSTREAM_TIMEOUT', 'It took too long.'));
  t.same(namesIn(text), ['response.created', 'response.in_progress', 'error', 'response.failed']);
});

t.test('silence is a comment', async (t) => {
  t.match(events().keepAlive(), /^: /);
});
