// OpenAI's Responses endpoint. Shapes: the openai SDK's `resources/responses/responses.d.ts`.
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { isObject, parseJson } from '../../../core/base/json.ts';
import { errorCase, type Meaning, pieces, type SentRequest, sse, type Wire } from '../wire.ts';

const usageOf = ({ usage }: Meaning) =>
  usage && {
    input_tokens: usage.input,
    input_tokens_details: {
      ...(usage.cacheRead !== undefined && { cached_tokens: usage.cacheRead }),
      ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
    },
    output_tokens: usage.output,
    output_tokens_details: { ...(usage.reasoning !== undefined && { reasoning_tokens: usage.reasoning }) },
    total_tokens: usage.input + usage.output,
  };
const INCOMPLETE: Partial<Record<Meaning['stop'], string>> = { max_tokens: 'max_output_tokens', content_filter: 'content_filter', unknown: 'steered' };

function response(meaning: Meaning): Record<string, unknown> {
  const reason = INCOMPLETE[meaning.stop];
  const part =
    meaning.stop === 'refusal' ? { type: 'refusal', refusal: meaning.text.join('') } : { type: 'output_text', text: meaning.text.join(''), annotations: [] };
  return {
    id: 'resp_1',
    object: 'response',
    model: 'gpt-5.4',
    status: reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output: [
      ...(meaning.reasoning === undefined
        ? []
        : [
            {
              type: 'reasoning',
              id: 'rs_1',
              summary: [{ type: 'summary_text', text: meaning.reasoning.text.join('') }],
              encrypted_content: meaning.reasoning.state,
            },
          ]),
      ...(meaning.text.length > 0 ? [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }] : []),
      ...meaning.toolCalls.map((call, index) => ({
        type: 'function_call',
        id: `fc_${index}`,
        call_id: call.id,
        name: call.name,
        arguments: JSON.stringify(call.arguments),
        status: 'completed',
      })),
    ],
    usage: usageOf(meaning),
  };
}

function frames(meaning: Meaning): Buffer[] {
  let sequence = 0;
  const event = (type: string, data: Record<string, unknown>): Buffer => sse({ type, sequence_number: sequence++, ...data }, type);
  const empty = { ...response(meaning), status: 'in_progress', output: [], usage: null };
  const all = [event('response.created', { response: empty }), event('response.in_progress', { response: empty })];
  const output = response(meaning)['output'] as Record<string, unknown>[];
  for (const [index, item] of output.entries()) {
    all.push(event('response.output_item.added', { output_index: index, item: { ...item, content: [], arguments: '', status: 'in_progress' } }));
    if (item['type'] === 'reasoning') {
      const place = { item_id: 'rs_1', output_index: index, summary_index: 0 };
      all.push(event('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } }));
      for (const delta of meaning.reasoning?.text ?? []) all.push(event('response.reasoning_summary_text.delta', { ...place, delta }));
    } else if (item['type'] === 'message') {
      const kind = meaning.stop === 'refusal' ? 'refusal' : 'output_text';
      const place = { item_id: 'msg_1', output_index: index, content_index: 0 };
      const part = kind === 'refusal' ? { type: kind, refusal: '' } : { type: kind, text: '', annotations: [], logprobs: [] };
      all.push(event('response.content_part.added', { ...place, part }));
      for (const delta of meaning.text) all.push(event(`response.${kind}.delta`, { ...place, delta, obfuscation: 'x1' }));
      all.push(
        event(`response.${kind}.done`, {
          ...place,
          [kind === 'refusal' ? 'refusal' : 'text']: meaning.text.join(''),
        }),
      );
    } else {
      for (const delta of pieces(String(item['arguments'])))
        all.push(event('response.function_call_arguments.delta', { item_id: item['id'], output_index: index, delta }));
    }
    all.push(event('response.output_item.done', { output_index: index, item }));
  }
  const final = response(meaning);
  all.push(event(final['status'] === 'completed' ? 'response.completed' : 'response.incomplete', { response: final }));
  return all;
}

interface Item {
  type?: string;
  role?: string;
  content?: string;
  call_id?: string;
  name?: string;
  arguments?: string;
  output?: string;
}
interface Body {
  model: string;
  stream?: boolean;
  instructions?: string;
  input: Item[];
  tools?: { name: string }[];
  max_output_tokens: number;
  temperature?: number;
}

export const openaiErrors = [
  errorCase(
    'a bad key',
    401,
    { error: { message: 'Incorrect API key provided', type: 'invalid_request_error', param: null, code: 'invalid_api_key' } },
    'UPSTREAM_AUTH',
    false,
  ),
  errorCase(
    'a country that is not served',
    403,
    { error: { message: 'Country not supported', type: 'request_forbidden', param: null, code: 'unsupported_country_region_territory' } },
    'UPSTREAM_REJECTED',
    false,
  ),
  errorCase(
    'an unknown model',
    404,
    { error: { message: 'The model x does not exist', type: 'invalid_request_error', param: null, code: 'model_not_found' } },
    'UPSTREAM_REJECTED',
    false,
  ),
  errorCase(
    'a context that is too long',
    400,
    { error: { message: 'too long', type: 'invalid_request_error', param: 'input', code: 'context_length_exceeded' } },
    'UPSTREAM_REJECTED',
    false,
  ),
  errorCase(
    'a rate limit',
    429,
    { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
    'UPSTREAM_RATE_LIMITED',
    true,
    { 'retry-after': '7' },
  ),
  errorCase(
    'an exhausted quota',
    429,
    { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } },
    'UPSTREAM_RATE_LIMITED',
    false,
  ),
  errorCase('a failure', 500, { error: { message: 'oops', type: 'server_error', param: null, code: null } }, 'UPSTREAM_FAILED', true),
  errorCase('an overload', 503, { error: { message: 'Slow down', type: 'server_error', param: null, code: 'slow_down' } }, 'UPSTREAM_FAILED', true),
];

export const openaiResponses: Wire = {
  name: 'openai-responses',
  adapter: 'openai',
  model: 'gpt-4o',
  create: createOpenAI,
  stored: { openai: { api: 'responses' } }, // the endpoint follows from the host, and a test's host is a foreign one
  env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'sk-canary-0123456789abcdef' }),
  whole: (meaning) => ({ type: 'application/json', body: Buffer.from(JSON.stringify(response(meaning))) }),
  stream: (meaning) => ({ type: 'text/event-stream', frames: frames(meaning), endFrames: 1 }),
  streamError: (message) => sse({ type: 'error', code: 'server_error', message, param: null, sequence_number: 9 }, 'error'),
  errors: openaiErrors,
  readRequest({ body }): SentRequest {
    const sent = parseJson(body) as Body;
    return {
      model: sent.model,
      stream: sent.stream ?? false,
      system: sent.instructions,
      texts: sent.input.filter((item) => item.role !== undefined).map((item) => `${item.role}: ${item.content}`),
      tools: (sent.tools ?? []).map(({ name }) => name),
      calls: sent.input
        .filter((item) => item.type === 'function_call')
        .map((item) => ({ id: item.call_id ?? '', name: item.name ?? '', arguments: asArguments(item.arguments) })),
      results: sent.input
        .filter((item) => item.type === 'function_call_output')
        .map((item) => ({ id: item.call_id ?? '', content: item.output ?? '', isError: undefined })),
      maxTokens: sent.max_output_tokens,
      temperature: sent.temperature,
    };
  },
  gaps: { stop_sequence: 'the endpoint has no stop sequences' },
  lines: true,
};

export function asArguments(text: string | undefined): Record<string, unknown> {
  const value = parseJson(text ?? '{}');
  return isObject(value) ? value : {};
}
