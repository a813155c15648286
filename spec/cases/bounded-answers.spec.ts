// What a provider can make the decoders of streams keep. Each case is an answer that goes on and on; without a limit, each would fill the memory.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAnthropic } from '../../adapters/anthropic/index.ts';
import { AnthropicDecoder } from '../../adapters/anthropic/stream.ts';
import { AnswerBlocks } from '../../adapters/bedrock/blocks.ts';
import { decodeFrame } from '../../adapters/bedrock/frames.ts';
import { createBedrock } from '../../adapters/bedrock/index.ts';
import { GoogleDecoder } from '../../adapters/google/stream.ts';
import { OllamaDecoder } from '../../adapters/ollama/stream.ts';
import { ResponsesDecoder } from '../../adapters/openai/stream.ts';
import { ChatDecoder } from '../../adapters/openai/stream-chat.ts';
import type { StreamDecoder } from '../../adapters/shared/provider.ts';
import type { ChatEvent } from '../../core/index.ts';
import { eventFrame } from '../adapters/bedrock/help.ts';
import { openaiResponses } from '../conformance/wires/openai-responses.ts';
import { contextFor } from '../support/adapter-call.ts';
import { startWireServer } from '../support/wire-server.ts';

const MANY_BLOCKS = /more than 10000 content blocks or tool calls/;
const MANY_BYTES = /more than 67108864 bytes of it would have to be kept/;
/** Of one event. */
const LONG = 'x'.repeat(256 * 1024);
/** As long as text, and larger once it is parsed. */
const VALUES = Array.from({ length: 64 * 1024 }, () => 0);

const context = contextFor(createAnthropic(), 'claude-sonnet-5-5');
const claude = contextFor(createBedrock(), 'anthropic.claude-sonnet-4-5-20250929-v1:0');
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chat = (call: object): string => data({ choices: [{ delta: { tool_calls: [call] } }] });
/** A decoder, and what it is given again and again. */
type Endless = readonly [title: string, decoder: () => StreamDecoder, event: (at: number) => string, message: RegExp];

const block = (index: number, content_block: object): string => data({ type: 'content_block_start', index, content_block });
const piece = (index: number, delta: object): string => data({ type: 'content_block_delta', index, delta });
const anthropic = () => new AnthropicDecoder(context);
const stop = data({ type: 'content_block_stop', index: 0 });
const ANTHROPIC: readonly Endless[] = [
  ['blocks that never close', anthropic, (at) => block(at, {}), MANY_BLOCKS],
  ['blocks that close', anthropic, () => block(0, { type: 'redacted_thinking', data: 'x' }) + stop, MANY_BLOCKS],
  ['blocks that are opened again', anthropic, () => block(0, { type: 'tool_use', name: 'f' }), MANY_BLOCKS],
  ['long blocks', anthropic, (at) => block(at, { data: LONG }), MANY_BYTES],
  ['blocks of many values', anthropic, (at) => block(at, { data: VALUES }), MANY_BYTES],
  [
    'arguments of many values',
    anthropic,
    () => block(0, { type: 'tool_use' }) + piece(0, { type: 'input_json_delta', partial_json: `{"a":[${VALUES}]}` }) + stop,
    MANY_BYTES,
  ],
  ...['text', 'thinking', 'signature'].map(
    (kind): Endless => [
      `the ${kind} of a block`,
      anthropic,
      (at) => (at === 0 ? block(0, {}) : '') + piece(0, { type: `${kind}_delta`, [kind]: LONG }),
      MANY_BYTES,
    ],
  ),
];

const responses = () => new ResponsesDecoder('m');
const done = (item: object): string => data({ type: 'response.output_item.done', output_index: 0, item });
const OPENAI: readonly Endless[] = [
  ['calls without a name', () => new ChatDecoder(), (index) => chat({ index, function: {} }), MANY_BLOCKS],
  ['arguments of a call without a name', () => new ChatDecoder(), () => chat({ index: 0, function: { arguments: LONG } }), MANY_BYTES],
  ['reasoning', responses, () => done({ type: 'reasoning', encrypted_content: '' }), MANY_BLOCKS],
  ['long reasoning', responses, () => done({ type: 'reasoning', encrypted_content: LONG }), MANY_BYTES],
  ['calls that can not be used', responses, () => done({ type: 'function_call', call_id: 'x' }), MANY_BLOCKS],
];

for (const [title, decoder, event, message] of [...ANTHROPIC, ...OPENAI])
  t.test(`${decoder().constructor.name} refuses an answer that never ends: ${title}`, async (t) => {
    const endless = decoder();
    const second = event(1);
    const again = second === event(2) ? Buffer.from(second) : undefined;
    const keep = (): void => {
      for (let at = 0; at <= 10_000; at += 1) endless.push((at > 0 ? again : undefined) ?? Buffer.from(event(at)));
    };
    t.throws(keep, { code: 'UPSTREAM_MALFORMED', message });
  });

const BEDROCK: readonly (readonly [title: string, add: (blocks: AnswerBlocks, at: number) => ChatEvent[], message: RegExp])[] = [
  ['texts', (blocks, at) => blocks.add(at, { text: 'x' }), MANY_BLOCKS],
  ['calls', (blocks, at) => blocks.open(at, { toolUse: { name: 'f' } }), MANY_BLOCKS],
  ['reasoning', (blocks, at) => blocks.add(at, { reasoningContent: { redactedContent: '' } }), MANY_BLOCKS],
  ['a long text', (blocks) => blocks.add(0, { text: LONG }), MANY_BYTES],
  ['a long signature', (blocks) => blocks.add(0, { reasoningContent: { signature: LONG } }), MANY_BYTES],
  ['a long redacted block', (blocks) => blocks.add(0, { reasoningContent: { redactedContent: LONG } }), MANY_BYTES],
];

for (const [title, add, message] of BEDROCK)
  t.test(`the blocks of Bedrock's answer refuse what never ends: ${title}`, async (t) => {
    const blocks = new AnswerBlocks(claude);
    const keep = (): void => {
      for (let at = 0; at <= 10_000; at += 1) add(blocks, at);
    };
    t.throws(keep, { code: 'UPSTREAM_MALFORMED', message });
  });

t.test('parsed arguments count when an answer of OpenAI or of Bedrock ends', async (t) => {
  const decoder = new ChatDecoder();
  for (let index = 0; index < 40; index += 1) decoder.push(Buffer.from(chat({ index, function: { name: 'f', arguments: `{"a":[${VALUES}]}` } })));
  t.throws(() => decoder.end(decoder.push(Buffer.from('data: [DONE]\n\n'))), { code: 'UPSTREAM_MALFORMED', message: MANY_BYTES });
  const blocks = new AnswerBlocks(claude);
  for (let index = 0; index < 40; index += 1) {
    blocks.open(index, { toolUse: { name: 'f' } });
    blocks.add(index, { toolUse: { input: `{"a":[${VALUES}]}` } });
  }
  t.throws(() => blocks.finish('tool_use'), { code: 'UPSTREAM_MALFORMED', message: MANY_BYTES });
});

t.test('one list of 200,000 calls is refused like any other answer that can not be read', async (t) => {
  const list = Array.from({ length: 200_000 }, (_, index) => ({ index, function: { name: '' } }));
  const decoder = new ChatDecoder();
  const push = (): void => {
    for (let at = 0; at < list.length; at += 20_000) decoder.push(Buffer.from(data({ choices: [{ delta: { tool_calls: list.slice(at, at + 20_000) } }] })));
  };
  t.throws(push, { code: 'UPSTREAM_MALFORMED', message: MANY_BLOCKS });
});

t.test('a call whose arguments nest too deep to be written is left to the gateway', async (t) => {
  const depth = 100_000;
  const text = `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","input":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}}\n\n`;
  const events = anthropic().push(Buffer.from(text + stop));
  t.strictSame(
    events.map(({ type }) => type),
    ['toolCallStart'],
  );
});

t.test('one record of a stream that would take long to parse is refused before it is parsed', (t) => {
  const many = Array.from({ length: 200_001 }, () => 0);
  for (const decoder of [new ChatDecoder(), new GoogleDecoder('m')])
    t.throws(() => decoder.push(Buffer.from(data({ many }))), { message: /more than 200000 JSON values/ });
  t.throws(() => responses().push(Buffer.from(data({ type: 'response.completed', response: { many } }))), { message: /more than 200000 JSON values/ });
  const long = JSON.stringify(many);
  for (const decoder of [anthropic(), new OllamaDecoder()])
    t.throws(() => decoder.push(Buffer.from(`${decoder instanceof OllamaDecoder ? '' : 'data: '}${JSON.stringify({ many })}\n\n`)), {
      message: /more than 20000 JSON values/,
    });
  t.throws(() => decodeFrame(eventFrame('metadata', many)), { message: /more than 20000 JSON values/ });
  t.equal(decodeFrame(eventFrame('metadata', [long])).payload, JSON.stringify([long]), 'as a text it is one value');
  t.end();
});

t.test('a picture in a record of a stream does not hide what the answer has used', (t) => {
  const picture = 'A'.repeat(8 * 1024 * 1024);
  const google = [
    {
      candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: picture } }] }, finishReason: 'STOP' }],
      usageMetadata: { candidatesTokenCount: 1300 },
    },
  ];
  const chat = [
    { choices: [{ delta: { images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }] } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { completion_tokens: 1300 } },
  ];
  for (const [decoder, records] of [
    [new GoogleDecoder('gemini-2.5-flash-image'), google],
    [new ChatDecoder(), chat],
  ] as const)
    t.match(
      decoder.push(Buffer.from(records.map(data).join(''))).filter(({ type }) => type === 'usage'),
      [{ usage: { outputTokens: 1300 } }],
    );
  t.end();
});

t.test('a response whose last event repeats very many values counts what it reports, passed on as it is or translated', async (t) => {
  const usage = { input_tokens: 400_000, output_tokens: 60_000, output_tokens_details: { reasoning_tokens: 59_000 } };
  const frames = (['response.created', 'response.completed'] as const).map((type, index) =>
    data({ type, response: { tools: VALUES.concat(VALUES, VALUES, VALUES), error: null, usage: index === 0 ? null : usage } }),
  );
  for (const [native, status] of [
    [true, 200],
    [false, 502],
  ] as const) {
    const server = await startWireServer(t, openaiResponses, (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(native ? frames.join('') : frames[1]);
    });
    writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ native: { openai: native } }));
    const key = (await server.core.keys?.create('app', { tokensPerDay: 1_000_000 })) ?? '';
    const body = { model: `openai/${openaiResponses.model}`, input: 'hi', stream: true };
    const answer = await server.call('POST', '/v1/responses', { token: false, headers: { authorization: `Bearer ${key}` }, body });
    t.equal(answer.status, status);
    if (native) t.equal(answer.text, frames.join(''));
    t.match(await server.core.accounts?.spentToday('app'), { tokens: 460_000 }, native ? 'native' : 'translated');
  }
});
