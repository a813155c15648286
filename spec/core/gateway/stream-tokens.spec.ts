import t from 'tap';
import { StreamTokens } from '../../../core/gateway/stream-tokens.ts';

const sse = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (delta: object, more: object = {}): string =>
  sse({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] });
const text = (content: string): string => chunk({ content });
const ROLE = chunk({ role: 'assistant', content: '' });
const STOP = chunk({}, { finish_reason: 'stop' });
const DONE = 'data: [DONE]\n\n';
const WORDS = ['a', ' the', ' cat', ' extraordinary', ' on', ' understanding', ' mat', '.'];
const word = (index: number): string => WORDS[(index * 5 + (index >> 3)) % 8] ?? '';
const LONG = 'the cat sat on the mat and it was ';
const TOP = {
  content: [
    { token: 'a', logprob: -0.1, top_logprobs: Array.from({ length: 20 }, (_, index) => ({ token: word(index), logprob: -index / 7, bytes: [1, 2, 3] })) },
  ],
};
/** Where else servers put what a model has written. */
const OTHER_PLACES: Record<string, (text: string) => object> = {
  'the transcript of audio': (transcript) => ({ audio: { id: 'a', transcript } }),
  'a summary of the reasoning': (summary) => ({ reasoning_details: [{ type: 'reasoning.summary', index: 0, summary }] }),
  'the text of the reasoning': (text) => ({ reasoning_details: [{ type: 'reasoning.text', index: 0, text, signature: null }] }),
  'blocks of thinking': (thinking) => ({ thinking_blocks: [{ type: 'thinking', thinking }] }),
  'a list of content': (text) => ({ content: [{ type: 'text', text }] }),
  'the arguments of a function call': (text) => ({ function_call: { name: 'f', arguments: text } }),
  'quotes in annotations': (quote) => ({ annotations: [{ type: 'file_citation', quote }] }),
};
const times = (count: number, frame: (index: number) => string): string[] => Array.from({ length: count }, (_, index) => frame(index));

function tokensOf(reads: readonly string[]): number {
  const tokens = new StreamTokens();
  let last = 0;
  for (const read of reads) {
    tokens.add(Buffer.from(read));
    t.ok(tokens.tokens >= last, 'never-falls');
    last = tokens.tokens;
  }
  return last;
}

t.test('a stream counts about its text, and not less, whatever stands around it', async (t) => {
  const cases: Record<string, [reads: string[], least: number]> = {
    'one token a frame': [[ROLE, ...times(400, () => text(' cat')), STOP, DONE], 400],
    'the last text, the stop and the end in one read': [[ROLE, ...times(399, () => text(' cat')), text(' cat') + STOP + DONE], 400],
    'long frames': [[ROLE, ...times(400, () => text(LONG)), STOP, DONE], 3400],
    'a first text of one character': [[ROLE, text('a'), ...times(400, () => text(LONG)), STOP, DONE], 3400],
    'the role in the first text': [[chunk({ role: 'assistant', content: LONG }), ...times(399, () => text(LONG))], 3400],
    'log probabilities': [[ROLE, ...times(400, (index) => chunk({ content: word(index) }, { logprobs: TOP })), STOP], 500],
    'log probabilities of every second frame': [
      [ROLE, ...times(400, (index) => chunk({ content: word(index) }, index % 2 === 0 ? { logprobs: TOP } : {})), STOP],
      500,
    ],
    'text that is escaped': [[ROLE, ...times(400, () => text('"\\"\n')), STOP], 600],
    'arguments of a custom tool': [[ROLE, ...times(400, (index) => chunk({ tool_calls: [{ index: 0, custom: { input: word(index) } }] })), STOP], 500],
    ...Object.fromEntries(
      Object.entries(OTHER_PLACES).map(([name, delta]) => [name, [[ROLE, ...times(400, () => chunk(delta(LONG))), STOP, DONE], 3400] as [string[], number]]),
    ),
    'lines that end with CR LF': [[ROLE, ...times(400, () => text('a')), STOP, DONE].map((read) => read.replaceAll('\n', '\r\n')), 400],
    'short frames, then a long one': [[ROLE, ...times(40, () => text('a')), text(LONG.repeat(1000))], 8500],
  };
  for (const [name, [reads, least]] of Object.entries(cases)) {
    const single = tokensOf(reads);
    t.ok(single >= least * 0.98 && single <= least * 2, `${name}: ${single} of ${least}`);
    const joined: string[] = [];
    for (let at = 0; at < reads.length; at += 7) joined.push(reads.slice(at, at + 7).join(''));
    const together = tokensOf(joined);
    t.ok(together >= least * 0.98 && together <= least * 2, `${name}, seven frames a read: ${together} of ${least}`);
  }
});

t.test('a text of megabytes is read to its end', async (t) => {
  const tokens = tokensOf([text('a"\\'.repeat(2_000_000))]);
  t.ok(tokens >= 2_500_000 - 1, String(tokens));
});
