import t from 'tap';
import { ForwardedUsage } from '../../../../core/gateway/calls/forwarded-usage.ts';

const usageOf = () => new ForwardedUsage(() => 7);
const chatFrame = (text: string): string =>
  `data: {"id":"chatcmpl-${'a'.repeat(29)}","object":"chat.completion.chunk","created":1790000000,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_${'0'.repeat(10)}","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"logprobs":null,"finish_reason":null}]}\n\n`;
const messagesFrame = (text: string): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}\n\n`;
const responsesFrame = (text: string): string =>
  `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":9,"item_id":"msg_${'0'.repeat(48)}","output_index":0,"content_index":0,"delta":${JSON.stringify(text)},"logprobs":[],"obfuscation":"abc"}\n\n`;

t.test('later reports never lower a count, whatever they leave out', async (t) => {
  const usage = usageOf();
  usage.report({ inputTokens: 52_050, cacheReadTokens: 50_000, cacheWriteTokens: 2000, outputTokens: 1 });
  usage.report({ inputTokens: 50, outputTokens: 12 });
  usage.report({ outputTokens: undefined, reasoningTokens: 4 });
  t.same(usage.complete(), {
    inputTokens: 52_050,
    outputTokens: 12,
    totalTokens: 52_062,
    cacheReadTokens: 50_000,
    cacheWriteTokens: 2000,
    reasoningTokens: 4,
  });
});

t.test('of a stream that breaks off, what came after the last report is added', async (t) => {
  const usage = usageOf();
  usage.report({ inputTokens: 104, outputTokens: 1 });
  for (let index = 0; index < 3000; index += 1) usage.frames(Buffer.from(messagesFrame(' word and more')));
  t.match(usage.soFar(), { inputTokens: 104, estimated: true });
  const { outputTokens } = usage.soFar();
  t.ok(outputTokens >= 3000 * 3 && outputTokens <= 3000 * 5, `${outputTokens}`);
  t.match(usage.complete(), { outputTokens: 1, estimated: undefined }, 'at its end the report holds');
});

t.test('a stream is estimated by its text in each protocol, however it is cut into frames and pieces', async (t) => {
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
  const expected = text.length / 4;
  for (const [name, frame] of [
    ['Chat', chatFrame],
    ['Messages', messagesFrame],
    ['Responses', responsesFrame],
  ] as const) {
    for (const size of [4, 20, 400, text.length]) {
      const frames: string[] = [];
      for (let at = 0; at < text.length; at += size) frames.push(frame(text.slice(at, at + size)));
      for (const together of [1, 7]) {
        const usage = usageOf();
        usage.frames(Buffer.from(`event: response.created\ndata: {"instructions":"${'x'.repeat(20_000)}"}\n\n`));
        for (let at = 0; at < frames.length; at += together) usage.frames(Buffer.from(frames.slice(at, at + together).join('')));
        const { outputTokens } = usage.soFar();
        t.ok(outputTokens >= expected * 0.95 && outputTokens <= expected * 1.6, `${name}, ${size} characters, ${together}: ${outputTokens} of ${expected}`);
      }
    }
  }
});

t.test('an answer in one counts by its size, and nothing is known of one that has not begun', async (t) => {
  const usage = usageOf();
  t.equal(usage.isKnown, false);
  usage.whole(400);
  t.equal(usage.isKnown, true);
  t.same(usage.complete(), { inputTokens: 7, outputTokens: 100, totalTokens: 107, estimated: true });
});

t.test('usage in every frame never makes what came after it less than nothing', async (t) => {
  const usage = usageOf();
  for (let index = 0; index < 64; index += 1) usage.frames(Buffer.from(chatFrame('')));
  usage.report({ inputTokens: 10, outputTokens: 320 });
  usage.frames(Buffer.from(chatFrame('Some five tokens of text here ').repeat(64)));
  t.ok(usage.soFar().outputTokens >= 320 + 64, String(usage.soFar().outputTokens));
});

t.test('counts that are none are no report', async (t) => {
  for (const count of [-5000, Number.NaN, Number.POSITIVE_INFINITY, 0.4, 1e308]) {
    const usage = usageOf();
    usage.whole(400);
    usage.report({ inputTokens: count, outputTokens: count, cacheReadTokens: count });
    t.same(usage.complete(), { inputTokens: 7, outputTokens: 100, totalTokens: 107, estimated: true }, String(count));
  }
});

t.test('a provider that reports nothing for an answer has not counted', async (t) => {
  const usage = usageOf();
  usage.report({ inputTokens: 0, outputTokens: 0 });
  t.same(usage.complete(), { inputTokens: 0, outputTokens: 0, totalTokens: 0 }, 'nothing came');
  usage.whole(400);
  t.same(usage.complete(), { inputTokens: 7, outputTokens: 100, totalTokens: 107, estimated: true });
  t.same(usage.soFar(), { inputTokens: 7, outputTokens: 100, totalTokens: 107, estimated: true });
  const streamed = usageOf();
  streamed.frames(Buffer.from(chatFrame('Some five tokens of text')));
  streamed.report({ inputTokens: 9, outputTokens: 0 });
  t.same(streamed.complete(), { inputTokens: 9, outputTokens: 6, totalTokens: 15, estimated: true }, 'there is text');
  t.same(streamed.soFar(), { inputTokens: 9, outputTokens: 6, totalTokens: 15, estimated: true });
  const empty = usageOf();
  empty.whole(400);
  empty.report({ inputTokens: 9, outputTokens: 0 });
  t.same(empty.complete(), { inputTokens: 9, outputTokens: 0, totalTokens: 9 }, 'who has its bytes looks whether there is text');
});

t.test('a stream whose first reports have 0 tokens, and whose last one no count of the input, has not counted the input', async (t) => {
  const usage = usageOf();
  usage.report({ inputTokens: 0, outputTokens: 0 });
  usage.frames(Buffer.from(chatFrame('Some five tokens of text')));
  usage.report({ inputTokens: undefined, outputTokens: 6 });
  t.same(usage.complete(), { inputTokens: 7, outputTokens: 6, totalTokens: 13, estimated: true });
});
