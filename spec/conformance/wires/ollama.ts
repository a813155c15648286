// Ollama's `/api/chat`. Shapes: ollama `api/types.go`.
import { createOllama } from '../../../adapters/ollama/index.ts';
import { parseJson } from '../../../core/base/json.ts';
import { errorCase, type Meaning, type SentRequest, type Wire } from '../wire.ts';

const RAW_STOPS: Partial<Record<Meaning['stop'], string>> = { end_turn: 'stop', tool_use: 'stop', max_tokens: 'length', unknown: '' };

const line = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
const toolCalls = (meaning: Meaning) => meaning.toolCalls.map(({ id, name, arguments: args }, index) => ({ id, function: { index, name, arguments: args } }));
const end = ({ usage, stop }: Meaning) => ({
  done: true,
  done_reason: RAW_STOPS[stop],
  total_duration: 10,
  ...(usage && usage.input > 0 && { prompt_eval_count: usage.input }),
  ...(usage && usage.output > 0 && { eval_count: usage.output }),
});
const head = { model: 'gemma4', created_at: '2026-11-20T10:00:00Z' };

interface Body {
  model: string;
  stream: boolean;
  messages: {
    role: string;
    content: string;
    tool_call_id?: string;
    tool_calls?: { id: string; function: { name: string; arguments: Record<string, unknown> } }[];
  }[];
  tools?: { function: { name: string } }[];
  options: { num_predict?: number; temperature?: number };
}

export const ollama: Wire = {
  name: 'ollama',
  adapter: 'ollama',
  model: 'gemma4',
  create: createOllama,
  env: (url) => ({ OLLAMA_BASE_URL: url }),
  whole: (meaning) => ({
    type: 'application/json',
    body: Buffer.from(
      JSON.stringify({
        ...head,
        message: {
          role: 'assistant',
          content: meaning.text.join(''),
          ...(meaning.reasoning !== undefined && { thinking: meaning.reasoning.text.join('') }),
          ...(meaning.toolCalls.length > 0 && { tool_calls: toolCalls(meaning) }),
        },
        ...end(meaning),
      }),
    ),
  }),
  stream: (meaning) => ({
    type: 'application/x-ndjson',
    frames: [
      ...(meaning.reasoning?.text ?? []).map((thinking) => line({ ...head, message: { role: 'assistant', content: '', thinking }, done: false })),
      ...meaning.text.map((content) => line({ ...head, message: { role: 'assistant', content }, done: false })),
      ...(meaning.toolCalls.length > 0 ? [line({ ...head, message: { role: 'assistant', content: '', tool_calls: toolCalls(meaning) }, done: false })] : []),
      line({ ...head, message: { role: 'assistant', content: '' }, ...end(meaning) }),
    ],
    endFrames: 1,
  }),
  streamError: (message) => line({ error: message }),
  errors: [
    errorCase('a cloud key that is refused', 401, { error: 'unauthorized' }, 'UPSTREAM_AUTH', false),
    errorCase('a cloud model that is not allowed', 403, { error: 'this model requires a subscription' }, 'UPSTREAM_AUTH', false),
    errorCase('an unknown model', 404, { error: "model 'x' not found" }, 'UPSTREAM_REJECTED', false),
    errorCase('a bad request', 400, { error: '"x" does not support tools' }, 'UPSTREAM_REJECTED', false),
    errorCase('a rate limit', 429, { error: 'too many requests' }, 'UPSTREAM_RATE_LIMITED', true, { 'retry-after': '7' }),
    errorCase('a failure', 500, { error: 'model runner has unexpectedly stopped' }, 'UPSTREAM_FAILED', true),
    errorCase('an overload', 503, { error: 'server busy, please try again.  maximum pending requests exceeded' }, 'UPSTREAM_FAILED', true),
  ],
  readRequest({ body }): SentRequest {
    const sent = parseJson(body) as Body;
    return {
      model: sent.model,
      stream: sent.stream,
      system: sent.messages.find(({ role }) => role === 'system')?.content,
      texts: sent.messages
        .filter(({ role, content }) => (role === 'user' || role === 'assistant') && content !== '')
        .map(({ role, content }) => `${role}: ${content}`),
      tools: (sent.tools ?? []).map((tool) => tool.function.name),
      calls: sent.messages.flatMap((message) =>
        (message.tool_calls ?? []).map((call) => ({ id: call.id, name: call.function.name, arguments: call.function.arguments })),
      ),
      results: sent.messages
        .filter(({ role }) => role === 'tool')
        .map((message) => ({ id: message.tool_call_id ?? '', content: message.content, isError: undefined })),
      maxTokens: sent.options.num_predict,
      temperature: sent.options.temperature,
    };
  },
  gaps: {
    stop_sequence: 'the server reports a stop sequence as "stop"',
    content_filter: 'the server has no filter',
    refusal: 'the server knows no refusals',
    'cache counts': 'the server counts no cached tokens',
    'reasoning counts': 'the server does not count thinking apart',
  },
  lines: true,
};
