// Settings that OpenAI's two protocols have in common. Pure: no I/O.
import type { ChatRequest, Warning } from '../../../../core/index.ts';
import { clampedTemperature } from './conversation.ts';
import { type Fields, integer, list, number, objectAt, optionalObject, text } from './fields.ts';

type Config = NonNullable<ChatRequest['config']>;
type Effort = NonNullable<NonNullable<Config['reasoning']>['effort']>;

const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[];

/** How much the model thinks; a level that is not known yet is left to the model. */
export function effortOf(effort: string | undefined, field: string, warnings: Warning[]): Effort | undefined {
  if (effort === undefined || EFFORTS.includes(effort)) return effort as Effort | undefined;
  warnings.push({ field, message: `It was ignored, since it is none of ${EFFORTS.join(', ')}.` });
  return undefined;
}

/** The most tokens that an answer may be asked to have. */
export const MAX_TOKENS = 10_000_000;
/** The names in OpenAI's completions of what `samplingOf` reads, by the gateway's own. */
export const SAMPLING_NAMES = {
  'config.temperature': 'temperature',
  'config.topP': 'top_p',
  'config.stop': 'stop',
  'config.seed': 'seed',
  'config.presencePenalty': 'presence_penalty',
  'config.frequencyPenalty': 'frequency_penalty',
} as const;

/** How the tokens of a completion are chosen, and what ends it. */
export function samplingOf(body: Fields, warnings: Warning[]) {
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : list(body, 'stop');
  const temperature = number(body, 'temperature', 0, 2);
  return {
    temperature: temperature === undefined ? undefined : clampedTemperature(temperature, warnings),
    topP: number(body, 'top_p', 0, 1),
    stop: stop === undefined ? undefined : stop.map(String).filter((one) => one !== ''),
    seed: integer(body, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    presencePenalty: number(body, 'presence_penalty', -2, 2),
    frequencyPenalty: number(body, 'frequency_penalty', -2, 2),
  };
}

/** `auto` is what every provider does by itself. */
export function serviceTierOf(body: Fields): string | undefined {
  const tier = text(body, 'service_tier');
  return tier === 'auto' || tier === 'default' ? undefined : tier;
}

/** The labels of a request; values other than text are sent as JSON. */
export function metadataOf(body: Fields): Record<string, string> | undefined {
  const given = optionalObject(body, 'metadata');
  if (given === undefined || Object.keys(given).length === 0) return undefined;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]));
}

/** An answer that follows a JSON Schema. Throws INVALID_REQUEST naming the field of the schema. */
export function schemaOutput({ name, schema, strict }: Fields, path: string): Config['output'] {
  return {
    type: 'json_schema',
    schema: objectAt(schema, path),
    ...(typeof name === 'string' && name !== '' && { name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) }),
    ...(typeof strict === 'boolean' && { strict }),
  };
}

/** The settings that have a value; undefined if none has. */
export function definedOf(config: { readonly [K in keyof Config]?: Config[K] | undefined }): ChatRequest['config'] {
  let set: Record<string, unknown> | undefined;
  for (const name in config) {
    const value = config[name as keyof Config];
    if (value === undefined || value === '') continue;
    set ??= {};
    set[name] = value;
  }
  return set;
}
