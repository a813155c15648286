// The list of models, and what a model id says about the model: one wire shape serves many vendors, and each accepts
// different parts of it. Pure: no I/O.
import { takesTemperature as claudeTakesTemperature } from '../shared/claude.ts';

/**
 * Ids that can be called without any set-up; for a model without on-demand throughput, its inference profile.
 * Source: AWS model cards and release notes, November 2026.
 */
export const MODELS: readonly string[] = [
  'global.anthropic.claude-opus-5-5',
  'global.anthropic.claude-sonnet-5-5',
  'us.anthropic.claude-haiku-5-5',
  'eu.anthropic.claude-haiku-5-5',
  'global.anthropic.claude-opus-5',
  'global.anthropic.claude-sonnet-5',
  'us.anthropic.claude-sonnet-5',
  'global.anthropic.claude-fable-5-1',
  'us.anthropic.claude-opus-4-8',
  'us.anthropic.claude-opus-4-7',
  'global.anthropic.claude-sonnet-4-6',
  'global.anthropic.claude-haiku-4-5-20251001-v1:0',
  'us.anthropic.claude-haiku-4-5-20251001-v1:0',
  'amazon.nova-micro-v1:0',
  'amazon.nova-lite-v1:0',
  'amazon.nova-pro-v1:0',
  'us.amazon.nova-premier-v1:0',
  'global.amazon.nova-2-lite-v1:0',
  'us.meta.llama3-3-70b-instruct-v1:0',
  'us.meta.llama4-maverick-17b-instruct-v1:0',
  'us.meta.llama4-scout-17b-instruct-v1:0',
  'openai.gpt-oss-120b-1:0',
  'openai.gpt-oss-20b-1:0',
  'us.deepseek.r1-v1:0',
];

/** The model of a request that names none: a global inference profile, which every region can call. */
export const DEFAULT_MODEL = 'global.anthropic.claude-sonnet-5-5';

/** Profiles put a region before the id, ARNs a whole path; both contain the vendor's name. */
export function isClaude(model: string): boolean {
  return model.includes('anthropic.claude');
}

/** Amazon's Nova models. `model` may be an id, a profile or an ARN. */
export function isNova(model: string): boolean {
  return model.includes('amazon.nova');
}

/** Mistral's models. `model` may be an id, a profile or an ARN. */
export function isMistral(model: string): boolean {
  return model.includes('mistral.');
}

/** True for Claude and Nova; all other models answer 400 to a cache point. */
export function takesCachePoints(model: string): boolean {
  return isClaude(model) || isNova(model);
}

/** Claude up to 4.1 caches for five minutes only. */
const WITHOUT_HOUR = /claude-(?:[23]|v2|instant|(?:opus|sonnet)-4-[01](?!\d)|(?:opus|sonnet)-4-2025)/;

/** True for the models that can cache for an hour: Claude from 4.5 on. */
export function takesHour(model: string): boolean {
  return isClaude(model) && !WITHOUT_HOUR.test(model);
}

/** True for Claude and Nova; all other models answer 400 to `toolResult.status`. */
export function takesResultStatus(model: string): boolean {
  return isClaude(model) || isNova(model);
}

/** OpenAI's hosted models refuse a temperature, its open-weight ones take it. False for an ARN that hides its vendor, to be safe. */
export function takesTemperature(model: string): boolean {
  if (isClaude(model)) return claudeTakesTemperature(model);
  return !/openai\.(?!gpt-oss)/.test(model) && !hidesVendor(model);
}

/** ARNs of application profiles, provisioned and imported models end in an opaque id. */
function hidesVendor(model: string): boolean {
  return model.startsWith('arn:') && !model.slice(model.lastIndexOf('/') + 1).includes('.');
}
