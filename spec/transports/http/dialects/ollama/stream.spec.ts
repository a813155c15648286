import t from 'tap';
import { BlockhouseError } from '../../../../../core/index.ts';
import { readChat } from '../../../../../transports/http/dialects/ollama/request.ts';
import { OllamaLines } from '../../../../../transports/http/dialects/ollama/stream.ts';

const linesOf = (body: object = {}) => {
  let now = 0;
  const request = readChat({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body });
  const lines = new OllamaLines({ requestId: 'req_1', created: 0, elapsedMs: () => now, request });
  return {
    lines,
    at: (ms: number) => {
      now = ms;
    },
  };
};
const parsed = (text: string) => {
  t.ok(text === '' || text.endsWith('\n'), 'whole lines');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};
const done = { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, stopReason: 'end_turn' } as const;

t.test('one-line: silence is filled with an object that every reader takes', async (t) => {
  t.match(parsed(linesOf().lines.keepAlive()), [{ model: 'm', message: { role: 'assistant', content: '' }, done: false }]);
});

t.test('a call comes once, when it is complete', async (t) => {
  const { lines } = linesOf();
  const toolCall = { id: 'a', name: 'f', arguments: { b: 1 } };
  t.equal(
    lines.pieces([
      { type: 'toolCallStart', index: 0, id: 'a', name: 'f' },
      { type: 'toolCallDelta', index: 0, text: '{"b":' },
    ]),
    '',
  );
  t.match(parsed(lines.pieces([{ type: 'toolCall', index: 0, toolCall }])), [
    { message: { content: '', tool_calls: [{ id: 'a', function: { index: 0, name: 'f', arguments: { b: 1 } } }] }, done: false },
  ]);
});

t.test('the time before the first piece is that of the prompt', async (t) => {
  const { lines, at } = linesOf();
  at(5);
  lines.pieces([{ type: 'text', text: 'Hel' }]);
  at(8);
  lines.pieces([{ type: 'text', text: 'lo' }]);
  t.match(parsed(lines.done(done)), [{ done: true, done_reason: 'stop', total_duration: 8e6, prompt_eval_duration: 5e6, eval_duration: 3e6 }]);
});

t.test('thinking that the client does not want has no line', async (t) => {
  t.equal(linesOf({ think: false }).lines.pieces([{ type: 'reasoning', text: 'Hm.' }]), '');
  t.match(parsed(linesOf().lines.pieces([{ type: 'reasoning', text: 'Hm.' }])), [{ message: { content: '', thinking: 'Hm.' } }]);
});

t.test('an answer that broke off ends in an error', async (t) => {
  t.same(parsed(linesOf().lines.error(new BlockhouseError('UPSTREAM_FAILED', 'It broke.'))), [{ error: 'It broke.' }]);
});
