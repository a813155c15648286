// Anthropic's Messages API. Shapes: @anthropic-ai/sdk `resources/messages/messages.d.ts`.
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { parseJson } from '../../../core/base/json.ts';
import { errorCase, type Meaning, pieces, type SentRequest, sse, type Wire } from '../wire.ts';

const RAW_STOPS: Partial<Record<Meaning['stop'], string>> = {
  end_turn: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
  unknown: 'something_new',
};

const usageOf = ({ usage }: Meaning) =>
  usage && {
    input_tokens: usage.input - (usage.cacheRead ?? 0) - (usage.cacheWrite ?? 0),
    output_tokens: usage.output,
    ...(usage.cacheRead !== undefined && { cache_read_input_tokens: usage.cacheRead }),
    ...(usage.cacheWrite !== undefined && { cache_creation_input_tokens: usage.cacheWrite }),
    ...(usage.reasoning !== undefined && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
  };
const named = (data: { type: string } & Record<string, unknown>): Buffer => sse(data, data.type);
const error = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_1' });

function frames(meaning: Meaning): Buffer[] {
  const all = [
    named({
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: meaning.usage && { ...usageOf(meaning), output_tokens: 1 } },
    }),
    named({ type: 'ping' }),
  ];
  let index = 0;
  if (meaning.reasoning !== undefined) {
    all.push(named({ type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '', signature: '' } }));
    for (const thinking of meaning.reasoning.text) all.push(named({ type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } }));
    all.push(named({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature: meaning.reasoning.state } }));
    all.push(named({ type: 'content_block_stop', index }));
    index += 1;
  }
  if (meaning.text.length > 0) {
    all.push(named({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }));
    for (const text of meaning.text) all.push(named({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }));
    all.push(named({ type: 'content_block_stop', index }));
    index += 1;
  }
  for (const call of meaning.toolCalls) {
    all.push(named({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} } }));
    for (const piece of pieces(JSON.stringify(call.arguments)))
      all.push(named({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: piece } }));
    all.push(named({ type: 'content_block_stop', index }));
    index += 1;
  }
  all.push(
    named({ type: 'message_delta', delta: { stop_reason: RAW_STOPS[meaning.stop], stop_sequence: null }, usage: usageOf(meaning) }),
    named({ type: 'message_stop' }),
  );
  return all;
}

interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: Record<string, unknown>;
  tool_use_id?: string;
  content?: string;
  is_error?: boolean;
}
interface Body {
  model: string;
  stream?: boolean;
  system?: { text: string }[];
  messages: { role: string; content: Block[] }[];
  tools?: { name: string }[];
  max_tokens: number;
  temperature?: number;
}

export const anthropic: Wire = {
  name: 'anthropic',
  adapter: 'anthropic',
  model: 'claude-haiku-4-5',
  create: createAnthropic,
  env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-canary-0123456789' }),
  whole: (meaning) => ({
    type: 'application/json',
    body: Buffer.from(
      JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-haiku-4-5',
        content: [
          ...(meaning.reasoning === undefined ? [] : [{ type: 'thinking', thinking: meaning.reasoning.text.join(''), signature: meaning.reasoning.state }]),
          ...(meaning.text.length > 0 ? [{ type: 'text', text: meaning.text.join('') }] : []),
          ...meaning.toolCalls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
        ],
        stop_reason: RAW_STOPS[meaning.stop],
        usage: usageOf(meaning),
      }),
    ),
  }),
  stream: (meaning) => ({ type: 'text/event-stream', frames: frames(meaning), endFrames: 1 }),
  streamError: (message) => named(error('overloaded_error', message)),
  errors: [
    errorCase('a bad key', 401, error('authentication_error', 'invalid x-api-key'), 'UPSTREAM_AUTH', false),
    errorCase('a key without the permission', 403, error('permission_error', 'not allowed'), 'UPSTREAM_REJECTED', false),
    errorCase('an unknown model', 404, error('not_found_error', 'model: x'), 'UPSTREAM_REJECTED', false),
    errorCase('a prompt that is too long', 400, error('invalid_request_error', 'prompt is too long: 5 tokens > 4 maximum'), 'UPSTREAM_REJECTED', false),
    errorCase('an unpaid bill', 402, error('billing_error', 'no credit'), 'UPSTREAM_REJECTED', false),
    errorCase('a body too large, refused at the edge with a page', 413, '<html>too large</html>', 'UPSTREAM_REJECTED', false),
    errorCase('a rate limit', 429, error('rate_limit_error', 'slow down'), 'UPSTREAM_RATE_LIMITED', true, { 'retry-after': '7' }),
    errorCase('a failure', 500, error('api_error', 'oops'), 'UPSTREAM_FAILED', true),
    errorCase('an overload', 529, error('overloaded_error', 'Overloaded'), 'UPSTREAM_FAILED', true),
  ],
  readRequest({ body }): SentRequest {
    const sent = parseJson(body) as Body;
    const blocks = sent.messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })));
    return {
      model: sent.model,
      stream: sent.stream ?? false,
      system: sent.system?.map(({ text }) => text).join(''),
      texts: blocks.filter(({ type }) => type === 'text').map(({ role, text }) => `${role}: ${text}`),
      tools: (sent.tools ?? []).map(({ name }) => name),
      calls: blocks.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => ({ id: id ?? '', name: name ?? '', arguments: input ?? {} })),
      results: blocks
        .filter(({ type }) => type === 'tool_result')
        .map((block) => ({ id: block.tool_use_id ?? '', content: block.content ?? '', isError: block.is_error ?? false })),
      maxTokens: sent.max_tokens,
      temperature: sent.temperature,
    };
  },
  gaps: { content_filter: 'the API knows refusals, no filter' },
  lines: true,
};
