// The fields of a response. Every field is always there: schemas of clients want each of them. Pure: no I/O.
import { isObject } from '../../core/index.ts';
import type { Fields } from '../fields.ts';

/** A response of which only the request is known. What the request does not say has the value that OpenAI gives. */
export function blankResponse(body: Fields) {
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {};
  const text = isObject(body['text']) ? body['text'] : {};
  return {
    id: '',
    object: 'response',
    created_at: 0,
    completed_at: null as number | null,
    status: '',
    background: false,
    error: null as object | null,
    incomplete_details: null as object | null,
    model: '',
    output: [] as readonly object[],
    previous_response_id: null,
    store: false,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    presence_penalty: body['presence_penalty'] ?? 0,
    frequency_penalty: body['frequency_penalty'] ?? 0,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: body['service_tier'] ?? 'default',
    temperature: body['temperature'] ?? 1,
    tool_choice: body['tool_choice'] ?? 'auto',
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    metadata: body['metadata'] ?? {},
    user: body['user'] ?? null,
    reasoning: { effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null },
    text: { ...text, format: text['format'] ?? { type: 'text' } },
    tools: Array.isArray(body['tools']) ? body['tools'].map(echoedTool) : [],
    usage: null as object | null,
  };
}

/** A response with every field. */
export type ResponseFields = ReturnType<typeof blankResponse>;

function echoedTool(tool: unknown): unknown {
  if (!isObject(tool) || (tool['type'] ?? 'function') !== 'function') return tool;
  return { ...tool, type: 'function', description: tool['description'] ?? null, parameters: tool['parameters'] ?? null, strict: tool['strict'] ?? null };
}
