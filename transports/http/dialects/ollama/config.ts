// The options of a request in Ollama's words as canonical settings. Pure: no I/O.
import { type ChatRequest, invalidRequest, type Warning } from '../../../../core/index.ts';
import { clampedTemperature } from '../shared/conversation.ts';
import { type Fields, integer, list, number, objectAt } from '../shared/fields.ts';
import { definedOf, effortOf, schemaOutput } from '../shared/openai-config.ts';

type Config = NonNullable<ChatRequest['config']>;

/** Left out with a warning, because a model would have done something with it. The other options are about the machine. */
const IGNORED = ['min_p', 'typical_p', 'tfs_z', 'repeat_penalty', 'repeat_last_n', 'mirostat', 'mirostat_eta', 'mirostat_tau'] as const;
/** The client's names of the settings. */
export const CLIENT_FIELDS: Readonly<Record<string, string>> = {
  messages: 'messages',
  tools: 'tools',
  'config.maxTokens': 'options.num_predict',
  'config.temperature': 'options.temperature',
  'config.topP': 'options.top_p',
  'config.topK': 'options.top_k',
  'config.stop': 'options.stop',
  'config.seed': 'options.seed',
  'config.presencePenalty': 'options.presence_penalty',
  'config.frequencyPenalty': 'options.frequency_penalty',
  'config.output': 'format',
  'config.reasoning': 'think',
};
const MAX_TOKENS = 10_000_000;

/** The settings that the request has; undefined for none. Throws INVALID_REQUEST whose path is the client's own field. */
export function readConfig(body: Fields, options: Fields, warnings: Warning[]): ChatRequest['config'] {
  for (const name of IGNORED) if (options[name] != null) warnings.push({ field: `options.${name}`, message: 'It was ignored.' });
  const at = (name: string) => `options.${name}`;
  const temperature = number(options, 'temperature', 0, 100, at('temperature'));
  const predicted = integer(options, 'num_predict', -MAX_TOKENS, MAX_TOKENS, at('num_predict'));
  const stop = typeof options['stop'] === 'string' ? [options['stop']] : list(options, 'stop', at('stop'));
  return definedOf({
    // Negative numbers mean no limit.
    maxTokens: predicted === undefined || predicted < 1 ? undefined : predicted,
    temperature: temperature === undefined ? undefined : clampedTemperature(temperature, warnings, at('temperature')),
    topP: number(options, 'top_p', 0, 1, at('top_p')),
    topK: integer(options, 'top_k', 0, 100_000, at('top_k')) || undefined, // 0 turns it off
    stop: stop?.map(String).filter((one) => one !== ''),
    seed: integer(options, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, at('seed')),
    presencePenalty: number(options, 'presence_penalty', -2, 2, at('presence_penalty')),
    frequencyPenalty: number(options, 'frequency_penalty', -2, 2, at('frequency_penalty')),
    output: readFormat(body['format']),
    reasoning: readThink(body['think'], warnings),
  });
}

function readFormat(format: unknown): Config['output'] {
  if (format == null || format === '') return undefined;
  if (format === 'json') return { type: 'json' };
  if (typeof format === 'string') throw invalidRequest('format', 'must be "json" or a JSON Schema');
  return schemaOutput({ schema: objectAt(format, 'format') }, 'format');
}

function readThink(think: unknown, warnings: Warning[]): Config['reasoning'] {
  if (think == null || think === '') return undefined;
  if (think === false) return { effort: 'none' };
  if (think === true) return { effort: 'medium', summary: true };
  if (typeof think !== 'string') throw invalidRequest('think', 'must be true, false or a level');
  const effort = effortOf(think, 'think', warnings);
  return effort === undefined ? undefined : { effort, summary: true };
}
