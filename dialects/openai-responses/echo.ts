// What a response repeats of its request. Every field is always there: schemas of clients want each of them. Pure: no I/O.
import { isObject } from '../../core/index.ts';
import type { Fields } from '../fields.ts';

/** The fields of a response that are the request's. */
export type EchoedSettings = Readonly<Record<string, unknown>>;

/** What OpenAI answers where a request says nothing. */
const DEFAULTS: EchoedSettings = {
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
};

/** The settings of a request as its response repeats them. */
export function echoedSettings(body: Fields): EchoedSettings {
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {};
  const text = isObject(body['text']) ? body['text'] : {};
  const settings: Record<string, unknown> = {
    ...DEFAULTS,
    reasoning: { effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null },
    text: { ...text, format: text['format'] ?? { type: 'text' } },
    tools: Array.isArray(body['tools']) ? body['tools'].map(echoedTool) : [],
  };
  for (const name in body) if (Object.hasOwn(DEFAULTS, name) && body[name] != null) settings[name] = body[name];
  return settings;
}

function echoedTool(tool: unknown): unknown {
  if (!isObject(tool) || (tool['type'] ?? 'function') !== 'function') return tool;
  return { ...tool, type: 'function', description: tool['description'] ?? null, parameters: tool['parameters'] ?? null, strict: tool['strict'] ?? null };
}
