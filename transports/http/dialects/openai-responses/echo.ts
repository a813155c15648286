// What a response repeats of its request. Every field is always there: schemas of clients want each of them. Pure: no I/O.
import { isObject } from '../../../../core/base/json.ts';
import { toJsonText } from '../../../../core/base/json-text.ts';
import type { Fields } from '../shared/fields.ts';

/** What is repeated as it came, with the value that OpenAI gives to what was not said. */
const REPEATED = Object.entries({
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  presence_penalty: 0,
  frequency_penalty: 0,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: 'default',
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  metadata: {},
  user: null,
});

/** The JSON of a response to a request that says nothing of these, and where in it each of them is. */
const PLAIN = `${JSON.stringify({ background: false, previous_response_id: null, store: false, ...Object.fromEntries(REPEATED) }).slice(1, -1)},`;
const PLACES = REPEATED.map(([name, preset]) => {
  const text = `"${name}":${JSON.stringify(preset)},`;
  return { name, from: PLAIN.indexOf(text), to: PLAIN.indexOf(text) + text.length };
});

const PLAIN_REASONING = '{"effort":null,"summary":null}';
const PLAIN_TEXT = '{"format":{"type":"text"}}';

/**
 * The members of a response that only its request decides, as JSON without braces. A text of them is made once for each request, and a stream has it three
 * times; as an object they would cost more than the rest of a small answer.
 */
export function repeatedMembers(body: Fields): string {
  let members = '';
  let at = 0;
  for (const { name, from, to } of PLACES) {
    if (body[name] == null) continue;
    members += `${PLAIN.slice(at, from)}"${name}":${toJsonText(body[name])},`;
    at = to;
  }
  const { reasoning, text, tools } = body;
  const repeatedTools = Array.isArray(tools) ? toJsonText(tools.map(repeatedTool)) : '[]';
  return `${members}${PLAIN.slice(at)}"reasoning":${reasoningText(reasoning)},"text":${formatText(text)},"tools":${repeatedTools}`;
}

function reasoningText(reasoning: unknown): string {
  return isObject(reasoning) ? toJsonText({ effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null }) : PLAIN_REASONING;
}

function formatText(text: unknown): string {
  return isObject(text) ? toJsonText({ ...text, format: text['format'] ?? { type: 'text' } }) : PLAIN_TEXT;
}

function repeatedTool(tool: unknown): unknown {
  if (!isObject(tool) || (tool['type'] ?? 'function') !== 'function') return tool;
  return { ...tool, type: 'function', description: tool['description'] ?? null, parameters: tool['parameters'] ?? null, strict: tool['strict'] ?? null };
}
