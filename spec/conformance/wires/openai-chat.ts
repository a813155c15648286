// Chat Completions, as OpenAI and compatible servers speak it. Shapes: the openai SDK's `resources/chat/completions`.
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { parseJson } from '../../../core/base/json.ts';
import { type Meaning, pieces, type SentRequest, sse, type Wire } from '../wire.ts';
import { asArguments, openaiErrors } from './openai-responses.ts';

const RAW_STOPS: Partial<Record<Meaning['stop'], string>> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  content_filter: 'content_filter',
  refusal: 'stop',
  unknown: 'something_new',
};

const usageOf = ({ usage }: Meaning) =>
  usage && {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: {
      ...(usage.cacheRead !== undefined && { cached_tokens: usage.cacheRead }),
      ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
    },
    completion_tokens_details: { ...(usage.reasoning !== undefined && { reasoning_tokens: usage.reasoning }) },
  };
const calls = (meaning: Meaning) =>
  meaning.toolCalls.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }));

function frames(meaning: Meaning): Buffer[] {
  const chunk = (delta: unknown, finish: string | null = null): Buffer =>
    sse({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], usage: null });
  const all = [chunk({ role: 'assistant', content: '' })];
  for (const reasoning_content of meaning.reasoning?.text ?? []) all.push(chunk({ reasoning_content }));
  for (const content of meaning.text) all.push(chunk(meaning.stop === 'refusal' ? { refusal: content } : { content }));
  for (const [index, call] of meaning.toolCalls.entries()) {
    all.push(chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }));
    for (const piece of pieces(JSON.stringify(call.arguments))) all.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  all.push(
    chunk({}, RAW_STOPS[meaning.stop] ?? null),
    sse({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [], usage: usageOf(meaning) }),
    sse('[DONE]'),
  );
  return all;
}

interface Body {
  model: string;
  stream?: boolean;
  messages: { role: string; content: string | null; tool_call_id?: string; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }[];
  tools?: { function: { name: string } }[];
  max_tokens?: number;
  temperature?: number;
}

export const openaiChat: Wire = {
  name: 'openai-chat',
  adapter: 'openai',
  model: 'local-model',
  create: createOpenAI,
  env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'sk-canary-0123456789abcdef' }),
  whole: (meaning) => ({
    type: 'application/json',
    body: Buffer.from(
      JSON.stringify({
        id: 'c1',
        object: 'chat.completion',
        model: 'm',
        choices: [
          {
            index: 0,
            finish_reason: RAW_STOPS[meaning.stop],
            message: {
              role: 'assistant',
              ...(meaning.reasoning !== undefined && { reasoning_content: meaning.reasoning.text.join('') }),
              content: meaning.stop === 'refusal' || meaning.text.length === 0 ? null : meaning.text.join(''),
              refusal: meaning.stop === 'refusal' ? meaning.text.join('') : null,
              ...(meaning.toolCalls.length > 0 && { tool_calls: calls(meaning) }),
            },
          },
        ],
        usage: usageOf(meaning),
      }),
    ),
  }),
  stream: (meaning) => ({ type: 'text/event-stream', frames: frames(meaning), endFrames: 3 }),
  streamError: (message) => sse({ error: { message, type: 'server_error', code: 'server_error', param: null } }),
  errors: openaiErrors,
  readRequest({ body }): SentRequest {
    const sent = parseJson(body) as Body;
    return {
      model: sent.model,
      stream: sent.stream ?? false,
      system: sent.messages.find(({ role }) => role === 'system' || role === 'developer')?.content ?? undefined,
      texts: sent.messages
        .filter(({ role, content }) => (role === 'user' || role === 'assistant') && content !== null && content !== '')
        .map(({ role, content }) => `${role}: ${content}`),
      tools: (sent.tools ?? []).map((tool) => tool.function.name),
      calls: sent.messages.flatMap((message) =>
        (message.tool_calls ?? []).map((call) => ({ id: call.id, name: call.function.name, arguments: asArguments(call.function.arguments) })),
      ),
      results: sent.messages
        .filter(({ role }) => role === 'tool')
        .map((message) => ({ id: message.tool_call_id ?? '', content: message.content ?? '', isError: undefined })),
      maxTokens: sent.max_tokens,
      temperature: sent.temperature,
    };
  },
  gaps: { stop_sequence: 'a stop sequence is reported as "stop"' },
  lines: true,
};
