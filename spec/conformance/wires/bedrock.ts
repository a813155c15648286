// Bedrock's Converse. Shapes: @aws-sdk/client-bedrock-runtime models; frames built with the SDK's own codec.
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { createBedrock } from '../../../adapters/bedrock/index.ts';
import { parseJson } from '../../../core/base/json.ts';
import type { RecordedRequest } from '../../support/upstream.ts';
import { errorCase, type Meaning, pieces, type SentRequest, type Wire } from '../wire.ts';

const RAW_STOPS: Partial<Record<Meaning['stop'], string>> = {
  end_turn: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  content_filter: 'guardrail_intervened',
  unknown: 'something_new',
};
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

function frame(kind: 'event' | 'exception', type: string, payload: unknown): Buffer {
  const header = (value: string) => ({ type: 'string' as const, value });
  return Buffer.from(
    codec.encode({
      headers: { [`:${kind}-type`]: header(type), ':content-type': header('application/json'), ':message-type': header(kind) },
      body: Buffer.from(JSON.stringify(payload)),
    }),
  );
}

const usageOf = ({ usage }: Meaning) =>
  usage && {
    inputTokens: usage.input - (usage.cacheRead ?? 0) - (usage.cacheWrite ?? 0),
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    ...(usage.cacheRead !== undefined && { cacheReadInputTokens: usage.cacheRead }),
    ...(usage.cacheWrite !== undefined && { cacheWriteInputTokens: usage.cacheWrite }),
  };

function frames(meaning: Meaning): Buffer[] {
  const all = [frame('event', 'messageStart', { role: 'assistant' })];
  let index = 0;
  if (meaning.reasoning !== undefined) {
    for (const piece of [...meaning.reasoning.text.map((text) => ({ text })), { signature: meaning.reasoning.state }])
      all.push(frame('event', 'contentBlockDelta', { contentBlockIndex: index, delta: { reasoningContent: piece } }));
    all.push(frame('event', 'contentBlockStop', { contentBlockIndex: index }));
    index += 1;
  }
  if (meaning.text.length > 0) {
    for (const text of meaning.text) all.push(frame('event', 'contentBlockDelta', { contentBlockIndex: index, delta: { text }, p: 'abcd' }));
    all.push(frame('event', 'contentBlockStop', { contentBlockIndex: index }));
    index += 1;
  }
  for (const call of meaning.toolCalls) {
    all.push(frame('event', 'contentBlockStart', { contentBlockIndex: index, start: { toolUse: { toolUseId: call.id, name: call.name } } }));
    for (const input of pieces(JSON.stringify(call.arguments)))
      all.push(frame('event', 'contentBlockDelta', { contentBlockIndex: index, delta: { toolUse: { input } } }));
    all.push(frame('event', 'contentBlockStop', { contentBlockIndex: index }));
    index += 1;
  }
  all.push(
    frame('event', 'messageStop', { stopReason: RAW_STOPS[meaning.stop] }),
    frame('event', 'metadata', { usage: usageOf(meaning), metrics: { latencyMs: 5 } }),
  );
  return all;
}

interface Block {
  text?: string;
  toolUse?: { toolUseId: string; name: string; input: Record<string, unknown> };
  toolResult?: { toolUseId: string; content: { text: string }[]; status?: string };
}
interface Body {
  system?: { text?: string }[];
  messages: { role: string; content: Block[] }[];
  toolConfig?: { tools: { toolSpec?: { name: string } }[] };
  inferenceConfig: { maxTokens?: number; temperature?: number };
}

const fault = (
  title: string,
  status: number,
  type: string,
  message: string,
  code: Parameters<typeof errorCase>[3],
  retryable: boolean,
  headers: Record<string, string> = {},
) => errorCase(title, status, { message }, code, retryable, { 'x-amzn-errortype': `${type}:http://internal.amazon.com/`, ...headers });

export const bedrock: Wire = {
  name: 'bedrock',
  adapter: 'bedrock',
  model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
  create: createBedrock,
  env: (url) => ({
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
    AWS_ENDPOINT_URL_BEDROCK: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKIACANARY0123456789',
    AWS_SECRET_ACCESS_KEY: 'canarySecret0123456789',
  }),
  whole: (meaning) => ({
    type: 'application/json',
    body: Buffer.from(
      JSON.stringify({
        output: {
          message: {
            role: 'assistant',
            content: [
              ...(meaning.reasoning === undefined
                ? []
                : [{ reasoningContent: { reasoningText: { text: meaning.reasoning.text.join(''), signature: meaning.reasoning.state } } }]),
              ...(meaning.text.length > 0 ? [{ text: meaning.text.join('') }] : []),
              ...meaning.toolCalls.map(({ id, name, arguments: input }) => ({ toolUse: { toolUseId: id, name, input } })),
            ],
          },
        },
        stopReason: RAW_STOPS[meaning.stop],
        usage: usageOf(meaning),
        metrics: { latencyMs: 5 },
      }),
    ),
  }),
  stream: (meaning) => ({ type: 'application/vnd.amazon.eventstream', frames: frames(meaning), endFrames: 2 }),
  streamError: (message) => frame('exception', 'serviceUnavailableException', { message }),
  errors: [
    fault('a bad signature', 403, 'UnrecognizedClientException', 'The security token is invalid', 'UPSTREAM_AUTH', false),
    fault('a model without access', 403, 'AccessDeniedException', "You don't have access to the model", 'UPSTREAM_REJECTED', false),
    fault('an unknown model', 404, 'ResourceNotFoundException', 'Could not resolve the model', 'UPSTREAM_REJECTED', false),
    fault('a bad request', 400, 'ValidationException', 'bad', 'UPSTREAM_REJECTED', false),
    fault('a rate limit', 429, 'ThrottlingException', 'Too many requests', 'UPSTREAM_RATE_LIMITED', true, { 'retry-after': '7' }),
    fault('a failure', 500, 'InternalServerException', 'oops', 'UPSTREAM_FAILED', true),
    fault('an overload', 503, 'ServiceUnavailableException', 'overloaded', 'UPSTREAM_FAILED', true),
  ],
  readRequest({ body, path }: RecordedRequest): SentRequest {
    const sent = parseJson(body) as Body;
    const blocks = sent.messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })));
    return {
      model: decodeURIComponent(/^\/model\/([^/]+)\//.exec(path)?.[1] ?? ''),
      stream: path.endsWith('/converse-stream'),
      system: sent.system?.map(({ text }) => text ?? '').join(''),
      texts: blocks.filter(({ text }) => text !== undefined).map(({ role, text }) => `${role}: ${text}`),
      tools: (sent.toolConfig?.tools ?? []).flatMap(({ toolSpec }) => (toolSpec === undefined ? [] : [toolSpec.name])),
      calls: blocks.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [{ id: toolUse.toolUseId, name: toolUse.name, arguments: toolUse.input }])),
      results: blocks.flatMap(({ toolResult }) =>
        toolResult === undefined
          ? []
          : [{ id: toolResult.toolUseId, content: toolResult.content.map(({ text }) => text).join(''), isError: toolResult.status === 'error' }],
      ),
      maxTokens: sent.inferenceConfig.maxTokens,
      temperature: sent.inferenceConfig.temperature,
    };
  },
  gaps: { refusal: 'Converse has no refusal', 'reasoning counts': 'Converse does not count reasoning apart', 'CRLF line ends': 'frames are binary' },
  lines: false,
};
