import t from 'tap';
import { readAnswer } from '../../../adapters/ollama/response.ts';
import { OllamaDecoder } from '../../../adapters/ollama/stream.ts';
import { decodeAll, joinTexts, providerErrorOf } from '../../support/adapter-call.ts';

const call = (id: string, city: string) => ({ id, function: { index: 0, name: 'get_weather', arguments: { city } } });
const LINES = [
  { model: 'm', message: { role: 'assistant', content: '', thinking: 'hm' }, done: false },
  { model: 'm', message: { role: 'assistant', content: 'Grüße ' }, done: false },
  { model: 'm', message: { role: 'assistant', content: '🎈\n\u2028data: [DONE]' }, done: false },
  { model: 'm', message: { role: 'assistant', content: '', tool_calls: [call('c1', 'Oslo')] }, done: false },
  { model: 'm', message: { role: 'assistant', content: '', tool_calls: [call('c2', 'Rome')] }, done: false },
  { model: 'm', message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 5, eval_count: 9 },
];
const STREAM = LINES.map((line) => `${JSON.stringify(line)}\n`).join('');
const EVENTS = [
  { type: 'reasoning', text: 'hm' },
  { type: 'text', text: 'Grüße 🎈\n\u2028data: [DONE]' },
  { type: 'toolCall', toolCall: { id: 'c1', name: 'get_weather', arguments: { city: 'Oslo' } } },
  { type: 'toolCall', toolCall: { id: 'c2', name: 'get_weather', arguments: { city: 'Rome' } } },
  { type: 'usage', usage: { inputTokens: 5, outputTokens: 9 } },
  { type: 'stop', stopReason: 'end_turn' },
];

t.test('a stream gives the same events wherever it is cut', async (t) => {
  const bytes = Buffer.from(STREAM);
  for (let offset = 0; offset <= bytes.length; offset += 1) {
    const events = joinTexts(decodeAll(new OllamaDecoder(), [bytes.subarray(0, offset), bytes.subarray(offset)]));
    if (JSON.stringify(events) !== JSON.stringify(EVENTS)) t.same(events, EVENTS, `cut at ${offset}`);
  }
  const single = [...bytes].map((byte) => Buffer.of(byte));
  t.same(joinTexts(decodeAll(new OllamaDecoder(), single)), EVENTS);
});

t.test('the whole form of the same answer gives the same events', async (t) => {
  const { message: _message, ...end } = LINES.at(-1) as (typeof LINES)[number];
  const message = { role: 'assistant', content: 'Grüße 🎈\n\u2028data: [DONE]', thinking: 'hm', tool_calls: [call('c1', 'Oslo'), call('c2', 'Rome')] };
  t.same(readAnswer({ ...end, message }), EVENTS);
});

t.test('the last line needs no line end, and blank lines are none', async (t) => {
  t.same(joinTexts(decodeAll(new OllamaDecoder(), [STREAM.trimEnd()])), EVENTS);
  t.same(joinTexts(decodeAll(new OllamaDecoder(), [STREAM.replaceAll('\n', '\r\n \r\n')])), EVENTS);
});

t.test('a stream that is cut short anywhere is an error', async (t) => {
  for (let lines = 0; lines < LINES.length; lines += 1) {
    const text = STREAM.split('\n').slice(0, lines).join('\n');
    t.throws(() => decodeAll(new OllamaDecoder(), [text]), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true, message: /cut short/ });
  }
});

t.test('gotcha 8: an error line at status 200 is a provider error, before text and after it', async (t) => {
  for (const before of ['', `${JSON.stringify(LINES[1])}\n`]) {
    const decoder = new OllamaDecoder();
    decoder.push(Buffer.from(before));
    t.match(
      providerErrorOf(() => decoder.push(Buffer.from('{"error":"llama runner exited"}\n'))),
      { message: 'llama runner exited' },
    );
  }
});

t.test('an error line without a line end is a provider error too', async (t) => {
  t.match(
    providerErrorOf(() => decodeAll(new OllamaDecoder(), ['{"error":"gone"}'])),
    { message: 'gone' },
  );
});

t.test('a line that is not JSON is malformed, never skipped', async (t) => {
  t.throws(() => decodeAll(new OllamaDecoder(), ['{"message":{"content":"a"}\n', STREAM]), { code: 'UPSTREAM_MALFORMED' });
});

t.test('what comes after the done line is not read', async (t) => {
  t.same(joinTexts(decodeAll(new OllamaDecoder(), [STREAM, '{"error":"late"}\nnonsense\n'])), EVENTS);
});
