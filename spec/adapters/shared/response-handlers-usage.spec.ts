// What a provider tells of its usage is counted, whatever becomes of the answer: each adapter before a provider that tells it and then fails.
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { createBedrock } from '../../../adapters/bedrock/index.ts';
import { createGoogle } from '../../../adapters/google/index.ts';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { Accumulator } from '../../../core/gateway/accumulate.ts';
import type { Adapter, ChatEvent } from '../../../core/index.ts';
import { chatCall, promptOf, settingsFor } from '../../support/adapter-call.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';
import { eventFrame } from '../bedrock/help.ts';

type Frame = string | Buffer;

interface Provider {
  readonly create: () => Adapter;
  readonly stored: (url: string) => Record<string, string>;
  /** Streams that tell 1000 + 5000 tokens and fail. */
  readonly streams: Readonly<Record<string, readonly Frame[]>>;
  /** Whole answers that do. */
  readonly wholes: Readonly<Record<string, object>>;
}

const BAD_JSON = `{"a": ${'x'.repeat(4000)}`;
const data = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

const CHAT_USAGE = { prompt_tokens: 1000, completion_tokens: 5000 };
const CHAT_CALL = { id: 'c', type: 'function', function: { name: 'f', arguments: BAD_JSON } };
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => data({ choices: [{ index: 0, delta, finish_reason }], ...more });
const chatUsage = (usage: object = CHAT_USAGE) => data({ choices: [], usage });
const completion = (message: object, finish_reason: string) => ({ choices: [{ index: 0, message, finish_reason }], usage: CHAT_USAGE });
const DONE = data('[DONE]');

const RESPONSES_USAGE = { input_tokens: 1000, output_tokens: 5000 };
const RESPONSES_CALL = { type: 'function_call', call_id: 'c', name: 'f', arguments: BAD_JSON };
const FAILED = { status: 'failed', error: { code: 'server_error', message: 'It broke.' }, output: [], usage: RESPONSES_USAGE };
const completed = (output: unknown) => ({ status: 'completed', output, usage: RESPONSES_USAGE });

const TOOL_USE = { type: 'tool_use', id: 't', name: 'f' };
const begun = data({ type: 'message_start', message: { usage: { input_tokens: 1000, output_tokens: 1 } } });
const metered = (reason = 'end_turn') => data({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 5000 } });
const message = (content: unknown) => ({ type: 'message', content, stop_reason: 'tool_use', usage: RESPONSES_USAGE });

const GOOGLE_USAGE = { usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 1000, thoughtsTokenCount: 4000 } };
const candidate = (parts: readonly object[], finishReason?: string) => ({ candidates: [{ content: { parts }, finishReason }], ...GOOGLE_USAGE });

const BEDROCK_USAGE = { usage: { inputTokens: 1000, outputTokens: 5000 } };
const METADATA = eventFrame('metadata', BEDROCK_USAGE);
const converse = (content: unknown, stopReason: string) => ({ output: { message: { role: 'assistant', content } }, stopReason, ...BEDROCK_USAGE });

const ollama = (message: object) => ({ message, done: true, done_reason: 'stop', prompt_eval_count: 1000, eval_count: 5000 });
const NAMELESS = { tool_calls: [{ function: { name: '', arguments: {} } }] };

const PROVIDERS: Readonly<Record<string, Provider>> = {
  'Chat Completions': {
    create: createOpenAI,
    stored: (url) => ({ apiKey: 'k', baseURL: `${url}/v1` }),
    streams: {
      'cut off': [chunk({ content: 'a' }, null, { usage: CHAT_USAGE })],
      'reported lower before it is cut off': [
        chunk({ content: 'a' }, null, { usage: CHAT_USAGE }),
        chatUsage({ prompt_tokens: 0, completion_tokens: 0 }),
        chatUsage({}),
      ],
      unreadable: [chatUsage(), data('{"choices":')],
      failed: [chatUsage(), data({ error: { message: 'It broke.' } })],
      'failed in the same chunk': [data({ error: { message: 'It broke.' }, usage: CHAT_USAGE })],
      'failed by its finish reason, before the usage': [chunk({ content: 'a' }, 'error'), chatUsage(), DONE],
      'unreadable in the same chunk': [data({ choices: [{ delta: 3 }], usage: CHAT_USAGE })],
      'with a call that is no JSON': [chunk({ tool_calls: [{ index: 0, ...CHAT_CALL }] }), chunk({}, 'tool_calls'), chatUsage(), DONE],
      'with a call that is no JSON, and usage behind the end mark': [chunk({ tool_calls: [{ index: 0, ...CHAT_CALL }] }), DONE, chatUsage()],
      'without choices': [chatUsage(), DONE],
    },
    wholes: {
      failed: { error: { message: 'It broke.' }, usage: CHAT_USAGE },
      'failed by its finish reason': completion({ content: 'a'.repeat(4000) }, 'error'),
      'with a call that is no JSON': completion({ tool_calls: [CHAT_CALL] }, 'tool_calls'),
      'without choices': { choices: [], usage: CHAT_USAGE },
    },
  },
  Responses: {
    create: createOpenAI,
    stored: (url) => ({ apiKey: 'k', baseURL: `${url}/v1`, api: 'responses' }),
    streams: {
      failed: [data({ type: 'response.output_text.delta', delta: 'a' }), data({ type: 'response.failed', response: FAILED })],
      'with a call that is no JSON': [
        data({ type: 'response.output_item.done', output_index: 0, item: RESPONSES_CALL }),
        data({ type: 'response.completed', response: completed([RESPONSES_CALL]) }),
      ],
    },
    wholes: {
      failed: FAILED,
      'failed without an error': { ...FAILED, error: null },
      'with a call that is no JSON': completed([RESPONSES_CALL]),
      'without output': completed(undefined),
      'of an unknown status': { ...completed([]), status: 'queued' },
    },
  },
  Messages: {
    create: createAnthropic,
    stored: (url) => ({ apiKey: 'k', baseURL: url }),
    streams: {
      'cut off': [begun, metered()],
      unreadable: [begun, metered(), data('{')],
      failed: [begun, metered(), data({ type: 'error', error: { type: 'api_error', message: 'It broke.' } })],
      'with a call that is no JSON': [
        begun,
        data({ type: 'content_block_start', index: 0, content_block: TOOL_USE }),
        data({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: BAD_JSON } }),
        data({ type: 'content_block_stop', index: 0 }),
        metered('tool_use'),
        data({ type: 'message_stop' }),
      ],
    },
    wholes: {
      'with a call that is no object': message([{ ...TOOL_USE, input: 'x'.repeat(4000) }]),
      'with a text that is none': message([{ type: 'text', text: 3 }]),
      'without content': message(undefined),
    },
  },
  Gemini: {
    create: createGoogle,
    stored: (url) => ({ apiKey: 'k', baseURL: url }),
    streams: {
      'cut off': [data(candidate([{ text: 'a' }]))],
      unreadable: [data(candidate([{ text: 'a' }])), data('{')],
      failed: [data(candidate([{ text: 'a' }])), data({ error: { code: 500, message: 'It broke.', status: 'INTERNAL' } })],
      'failed by its finish reason': [data(candidate([], 'MALFORMED_FUNCTION_CALL'))],
      'with a call without a name': [data(candidate([{ functionCall: {} }]))],
    },
    wholes: {
      'failed by its finish reason': candidate([], 'MALFORMED_FUNCTION_CALL'),
      'with a call without a name': candidate([{ functionCall: {} }]),
      'without a candidate': { candidates: [], ...GOOGLE_USAGE },
    },
  },
  Bedrock: {
    create: createBedrock,
    stored: (url) => ({ region: 'us-east-1', accessKeyId: 'id', secretAccessKey: 'secret', endpoint: url }),
    streams: {
      'cut off': [METADATA],
      unreadable: [METADATA, Buffer.alloc(16)],
      'failed by its stop reason': [eventFrame('messageStop', { stopReason: 'malformed_model_output' }), METADATA],
      'with a call that is no JSON': [
        eventFrame('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: 'f' } } }),
        eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: BAD_JSON } } }),
        eventFrame('messageStop', { stopReason: 'tool_use' }),
        METADATA,
      ],
    },
    wholes: {
      'failed by its stop reason': converse([], 'malformed_tool_use'),
      'with a call that is no object': converse([{ toolUse: { toolUseId: 't', name: 'f', input: 'x'.repeat(4000) } }], 'tool_use'),
      'without a stop reason': { output: {}, ...BEDROCK_USAGE },
    },
  },
  Ollama: {
    create: createOllama,
    stored: (url) => ({ baseURL: url }),
    streams: { 'with a call without a name': [`${JSON.stringify(ollama(NAMELESS))}\n`] },
    wholes: { 'with a call without a name': ollama(NAMELESS), 'without a message': { ...ollama({}), message: undefined } },
  },
};

const TYPES: Readonly<Record<string, string>> = { Bedrock: 'application/vnd.amazon.eventstream', Ollama: 'application/x-ndjson' };

function sendFrames(res: ServerResponse, name: string, frames: readonly Frame[]): void {
  res.writeHead(200, { 'content-type': TYPES[name] ?? 'text/event-stream' });
  for (const frame of frames) res.write(frame);
  res.end();
}

for (const [name, { create, stored, streams, wholes }] of Object.entries(PROVIDERS)) {
  for (const [form, cases] of [
    ['stream', streams],
    ['whole answer', wholes],
    ['whole answer in place of a stream', name === 'Ollama' ? {} : wholes], // there, a stream is such answers
  ] as const) {
    t.test(`${name}: the usage that a ${form} tells counts although it fails`, async (t) => {
      const names = Object.keys(cases);
      const upstream = await startUpstream(t, (_request, res, index) => {
        const answer = cases[names[index] ?? ''] ?? {};
        if (Array.isArray(answer)) sendFrames(res, name, answer);
        else sendJson(res, answer);
      });
      const adapter = create();
      t.teardown(() => adapter.close?.());
      for (const what of names) {
        const { call, events } = chatCall({ settings: settingsFor(adapter, { stored: stored(upstream.url) }), stream: form !== 'whole answer' });
        await t.rejects(adapter.chat(call), { name: 'BlockhouseError' }, what);
        const accumulator = new Accumulator();
        accumulator.add(events);
        const used = accumulator.usageSoFar(promptOf());
        t.equal(used?.inputTokens, 1000, `${what}: ${JSON.stringify(told(events))}`);
        t.ok((used?.outputTokens ?? 0) >= 5000 && (used?.outputTokens ?? 0) <= 5010, `${what}: ${used?.outputTokens}`);
      }
    });
  }
}

t.test('what a model has written counts although its provider answers with an error that has it', async (t) => {
  const error = { message: 'Failed to generate JSON.', type: 'invalid_request_error', code: 'json_validate_failed', failed_generation: 'word '.repeat(800) };
  const upstream = await startUpstream(t, (_request, res, index) => {
    if (index < 2) sendJson(res, { error }, 400);
    else sendFrames(res, '', [data({ error })]);
  });
  const adapter = createOpenAI();
  t.teardown(() => adapter.close?.());
  for (const stream of [false, true, true]) {
    const { call, events } = chatCall({ settings: settingsFor(adapter, { stored: { apiKey: 'k', baseURL: `${upstream.url}/v1` } }), stream });
    await t.rejects(adapter.chat(call), { code: 'UPSTREAM_REJECTED', mayHaveRun: true });
    const accumulator = new Accumulator();
    accumulator.add(events);
    t.match(accumulator.usageSoFar(promptOf()), { outputTokens: 1000, estimated: true });
  }
});

const told = (events: readonly ChatEvent[]) => events.filter(({ type }) => type === 'usage');
