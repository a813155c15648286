// A part of an answer that has the wrong type is UPSTREAM_MALFORMED in every adapter: left out in silence, it would make a short or empty
// answer of a broken one.
import t from 'tap';
import { createAnthropic } from '../../adapters/anthropic/index.ts';
import { readAnswer as readAnthropic } from '../../adapters/anthropic/response.ts';
import { AnthropicDecoder } from '../../adapters/anthropic/stream.ts';
import { readAnswer as readBedrock } from '../../adapters/bedrock/response.ts';
import { BedrockDecoder } from '../../adapters/bedrock/stream.ts';
import { readAnswer as readGoogle } from '../../adapters/google/response.ts';
import { GoogleDecoder } from '../../adapters/google/stream.ts';
import { readAnswer as readOllama } from '../../adapters/ollama/response.ts';
import { OllamaDecoder } from '../../adapters/ollama/stream.ts';
import { readResponse } from '../../adapters/openai/response.ts';
import { readChatAnswer } from '../../adapters/openai/response-chat.ts';
import { ResponsesDecoder } from '../../adapters/openai/stream.ts';
import { ChatDecoder } from '../../adapters/openai/stream-chat.ts';
import type { ChatEvent } from '../../core/index.ts';
import { contextOf, eventFrame } from '../adapters/bedrock/help.ts';
import { contextFor, decodeAll } from '../support/adapter-call.ts';

type Json = unknown;
type Path = readonly (string | number)[];

const anthropic = contextFor(createAnthropic(), 'claude-sonnet-5-5');
const sse = (events: readonly Json[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

interface Case {
  readonly name: string;
  /** A good answer, or the records of a good stream. */
  readonly good: Json;
  read(json: Json): ChatEvent[];
  /** Where a number, a flag and an object are all wrong. */
  readonly texts: readonly Path[];
  /** Where a number, a text and an object are all wrong. */
  readonly lists: readonly Path[];
  /** Where a number, a text and a list are all wrong. */
  readonly objects: readonly Path[];
}

const CHAT_CALL = { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const CALL_ITEM = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a":1}', status: 'completed' };
const MESSAGE_ITEM = {
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'output_text', text: 'hi' },
    { type: 'refusal', refusal: 'no' },
  ],
};

const CASES: readonly Case[] = [
  {
    name: 'OpenAI chat, whole',
    good: { choices: [{ index: 0, message: { role: 'assistant', content: 'hi', refusal: 'no', tool_calls: [CHAT_CALL] }, finish_reason: 'stop' }] },
    read: readChatAnswer,
    texts: [
      ['choices', 0, 'message', 'content'],
      ['choices', 0, 'message', 'refusal'],
      ['choices', 0, 'message', 'tool_calls', 0, 'function', 'name'],
    ],
    lists: [['choices'], ['choices', 0, 'message', 'tool_calls']],
    objects: [
      [],
      ['choices', 0],
      ['choices', 0, 'message'],
      ['choices', 0, 'message', 'tool_calls', 0],
      ['choices', 0, 'message', 'tool_calls', 0, 'function'],
    ],
  },
  {
    name: 'OpenAI chat, streamed',
    good: [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'hi', refusal: 'no' } }] },
      { choices: [{ index: 0, delta: { tool_calls: [CHAT_CALL] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ],
    read: (json) => decodeAll(new ChatDecoder(), [`${sse(json as Json[])}data: [DONE]\n\n`]),
    texts: [
      [0, 'choices', 0, 'delta', 'content'],
      [0, 'choices', 0, 'delta', 'refusal'],
      [1, 'choices', 0, 'delta', 'tool_calls', 0, 'function', 'name'],
    ],
    lists: [
      [0, 'choices'],
      [1, 'choices', 0, 'delta', 'tool_calls'],
    ],
    objects: [
      [0],
      [0, 'choices', 0],
      [0, 'choices', 0, 'delta'],
      [1, 'choices', 0, 'delta', 'tool_calls', 0],
      [1, 'choices', 0, 'delta', 'tool_calls', 0, 'function'],
    ],
  },
  {
    name: 'OpenAI responses, whole',
    good: { status: 'completed', output: [MESSAGE_ITEM, CALL_ITEM] },
    read: (json) => readResponse(json, 'm'),
    texts: [
      ['output', 0, 'content', 0, 'text'],
      ['output', 0, 'content', 1, 'refusal'],
      ['output', 1, 'name'],
    ],
    lists: [['output'], ['output', 0, 'content']],
    objects: [[], ['output', 0], ['output', 1], ['output', 0, 'content', 0]],
  },
  {
    name: 'OpenAI responses, streamed',
    good: [
      { type: 'response.output_text.delta', output_index: 0, delta: 'hi' },
      { type: 'response.refusal.delta', output_index: 0, delta: 'no' },
      { type: 'response.output_item.added', output_index: 1, item: { ...CALL_ITEM, arguments: '' } },
      { type: 'response.output_item.done', output_index: 1, item: CALL_ITEM },
      { type: 'response.completed', response: { status: 'completed' } },
    ],
    read: (json) => decodeAll(new ResponsesDecoder('m'), [sse(json as Json[])]),
    texts: [
      [0, 'delta'],
      [1, 'delta'],
      [3, 'item', 'name'],
    ],
    lists: [],
    objects: [[0], [3, 'item'], [4, 'response']],
  },
  {
    name: 'Anthropic, whole',
    good: {
      type: 'message',
      content: [
        { type: 'text', text: 'hi' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
    },
    read: (json) => readAnthropic(json, anthropic),
    texts: [
      ['content', 0, 'text'],
      ['content', 1, 'name'],
    ],
    lists: [['content']],
    objects: [[], ['content', 0], ['content', 1], ['content', 1, 'input']],
  },
  {
    name: 'Anthropic, streamed',
    good: [
      { type: 'message_start', message: { usage: {} } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c1', name: 'f', input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ],
    read: (json) => decodeAll(new AnthropicDecoder(anthropic), [sse(json as Json[])]),
    texts: [
      [1, 'content_block', 'text'],
      [2, 'delta', 'text'],
      [4, 'content_block', 'name'],
      [5, 'delta', 'partial_json'],
    ],
    lists: [],
    objects: [[2], [1, 'content_block'], [2, 'delta'], [5, 'delta']],
  },
  {
    name: 'Google, whole',
    good: { candidates: [{ content: { parts: [{ text: 'hi' }, { functionCall: { name: 'f', args: { a: 1 } } }] }, finishReason: 'STOP' }] },
    read: (json) => readGoogle(json, { model: 'm' }),
    texts: [
      ['candidates', 0, 'content', 'parts', 0, 'text'],
      ['candidates', 0, 'content', 'parts', 1, 'functionCall', 'name'],
    ],
    lists: [['candidates'], ['candidates', 0, 'content', 'parts']],
    objects: [
      [],
      ['candidates', 0],
      ['candidates', 0, 'content'],
      ['candidates', 0, 'content', 'parts', 0],
      ['candidates', 0, 'content', 'parts', 1, 'functionCall'],
      ['candidates', 0, 'content', 'parts', 1, 'functionCall', 'args'],
    ],
  },
  {
    name: 'Google, streamed',
    good: [
      { candidates: [{ content: { parts: [{ text: 'hi' }] } }] },
      { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: {} } }] } }] },
      { candidates: [{ content: {}, finishReason: 'STOP' }] },
    ],
    read: (json) => decodeAll(new GoogleDecoder('m'), [sse(json as Json[])]),
    texts: [[0, 'candidates', 0, 'content', 'parts', 0, 'text']],
    lists: [
      [0, 'candidates'],
      [0, 'candidates', 0, 'content', 'parts'],
    ],
    objects: [[0], [0, 'candidates', 0], [0, 'candidates', 0, 'content'], [0, 'candidates', 0, 'content', 'parts', 0]],
  },
  {
    name: 'Bedrock, whole',
    good: {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }, { toolUse: { toolUseId: 'c1', name: 'f', input: { a: 1 } } }] } },
      stopReason: 'tool_use',
    },
    read: (json) => readBedrock(json, contextOf()),
    texts: [
      ['output', 'message', 'content', 0, 'text'],
      ['output', 'message', 'content', 1, 'toolUse', 'name'],
    ],
    lists: [['output', 'message', 'content']],
    objects: [
      [],
      ['output'],
      ['output', 'message'],
      ['output', 'message', 'content', 0],
      ['output', 'message', 'content', 1, 'toolUse'],
      ['output', 'message', 'content', 1, 'toolUse', 'input'],
    ],
  },
  {
    name: 'Bedrock, streamed',
    good: [
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'hi' } } },
      { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'c1', name: 'f' } } } },
      { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"a":1}' } } } },
      { messageStop: { stopReason: 'tool_use' } },
    ],
    read: (json) =>
      decodeAll(
        new BedrockDecoder(contextOf()),
        (json as Record<string, Json>[]).flatMap((event) => Object.entries(event).map((pair) => eventFrame(...pair))),
      ),
    texts: [
      [0, 'contentBlockDelta', 'delta', 'text'],
      [1, 'contentBlockStart', 'start', 'toolUse', 'name'],
      [2, 'contentBlockDelta', 'delta', 'toolUse', 'input'],
    ],
    lists: [],
    objects: [
      [0, 'contentBlockDelta'],
      [0, 'contentBlockDelta', 'delta'],
      [1, 'contentBlockStart', 'start'],
      [1, 'contentBlockStart', 'start', 'toolUse'],
      [2, 'contentBlockDelta', 'delta', 'toolUse'],
    ],
  },
  ...(['whole', 'streamed'] as const).map((form): Case => {
    const message = { role: 'assistant', content: 'hi', tool_calls: [{ id: 'c1', function: { name: 'f', arguments: { a: 1 } } }] };
    const at: Path = form === 'whole' ? [] : [0];
    const done = { done: true, done_reason: 'stop' };
    return {
      name: `Ollama, ${form}`,
      good:
        form === 'whole'
          ? { message, ...done }
          : [
              { message, done: false },
              { message: { content: '' }, ...done },
            ],
      read: (json) =>
        form === 'whole'
          ? readOllama(json)
          : decodeAll(
              new OllamaDecoder(),
              (json as Json[]).map((line) => `${JSON.stringify(line)}\n`),
            ),
      texts: [
        [...at, 'message', 'content'],
        [...at, 'message', 'tool_calls', 0, 'function', 'name'],
      ],
      lists: [[...at, 'message', 'tool_calls']],
      objects: [
        at,
        [...at, 'message'],
        [...at, 'message', 'tool_calls', 0],
        [...at, 'message', 'tool_calls', 0, 'function'],
        [...at, 'message', 'tool_calls', 0, 'function', 'arguments'],
      ],
    };
  }),
];

/** A copy with another value at the end of the path. */
function withValue(json: Json, [first, ...rest]: Path, value: Json): Json {
  if (first === undefined) return value;
  const copy = structuredClone(json) as Record<string | number, Json>;
  copy[first] = withValue(copy[first], rest, value);
  return copy;
}

for (const { name, good, read, texts, lists, objects } of CASES) {
  t.test(name, async (t) => {
    t.ok(
      read(good).some((event) => event.type === 'toolCall'),
      'the good answer is read',
    );
    const wrong: [readonly Path[], readonly Json[]][] = [
      [texts, [7, true, { text: 'hi' }]],
      [lists, [7, 'x', true, { 0: {} }]],
      [objects, [7, 'x', true, ['x']]],
    ];
    for (const [paths, values] of wrong)
      for (const path of paths)
        for (const value of values)
          t.throws(() => read(withValue(good, path, value)), { code: 'UPSTREAM_MALFORMED' }, `${path.join('.')} = ${JSON.stringify(value)}`);
  });
}

t.test('a part that is left out, or null, is none', async (t) => {
  t.match(readChatAnswer({ choices: [{ message: { content: null, refusal: null, tool_calls: null }, finish_reason: 'stop' }] }), [{ type: 'stop' }]);
  t.match(decodeAll(new ChatDecoder(), [sse([{ choices: [{ delta: null, finish_reason: 'stop' }] }, { choices: null, usage: {} }])]), [
    { type: 'usage' },
    { type: 'stop' },
  ]);
  t.match(readResponse({ status: 'completed', output: [{ type: 'message', content: null }] }, 'm'), [{ type: 'stop' }]);
  t.match(readOllama({ message: { content: null, tool_calls: null }, done: true }), [{ type: 'stop' }]);
  t.match(readGoogle({ candidates: [{ content: null, finishReason: 'STOP' }] }, { model: 'm' }), [{ type: 'stop' }]);
  t.match(readAnthropic({ type: 'message', content: [{ type: 'text', text: null }], stop_reason: 'end_turn' }, anthropic).at(-1), { type: 'stop' });
});

t.test('a stream of Chat Completions without any choice is no answer', async (t) => {
  t.throws(() => decodeAll(new ChatDecoder(), ['data: {"id":"1"}\n\ndata: [DONE]\n\n']), { code: 'UPSTREAM_MALFORMED' });
  t.throws(() => decodeAll(new ChatDecoder(), ['data: [DONE]\n\n']), { code: 'UPSTREAM_MALFORMED' });
});
