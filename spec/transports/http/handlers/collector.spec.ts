import t from 'tap';
import type { ChatDone } from '../../../../core/index.ts';
import { Collector } from '../../../../transports/http/handlers/collector.ts';

t.test('a whole answer has its texts joined and its calls once, in their order', async (t) => {
  const done: ChatDone = { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, stopReason: 'tool_use' };
  const toolCall = { id: 'a', name: 'find', arguments: {} };
  const collector = new Collector();
  collector.start();
  t.equal(collector.content(['Hel', 'lo']), true);
  collector.pieces([
    { type: 'reasoning', text: 'Hm' },
    { type: 'reasoning', text: 'm.' },
    { type: 'toolCallStart', index: 0, id: 'a', name: 'find' },
    { type: 'toolCallDelta', index: 0, text: '{}' },
    { type: 'toolCall', index: 0, toolCall },
    { type: 'text', text: '!' },
  ]);
  let isResumed = false;
  collector.onceWritable(() => {
    isResumed = true;
  });
  t.equal(isResumed, true);
  t.same(collector.answer(done), {
    pieces: [
      { type: 'text', text: 'Hello' },
      { type: 'reasoning', text: 'Hmm.' },
      { type: 'toolCall', index: 0, toolCall },
      { type: 'text', text: '!' },
    ],
    done,
  });
});
