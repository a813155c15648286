// Which models there are, and what their ids say of them: one wire shape serves many vendors, with different
// tolerances. Pure: no I/O.
import { takesTemperature as claudeTakesTemperature } from '../claude.ts';

/**
 * Ids that can be called as they stand, inference profiles where a model has no on-demand throughput.
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

export const DEFAULT_MODEL = 'global.anthropic.claude-sonnet-5-5';

/** Profiles carry a region in front, ARNs a whole path; the vendor's name stands in both. */
export function isClaude(model: string): boolean {
  return model.includes('anthropic.claude');
}

export function isNova(model: string): boolean {
  return model.includes('amazon.nova');
}

export function isMistral(model: string): boolean {
  return model.includes('mistral.');
}

/** Everybody else answers 400 to a cache point. */
export function takesCachePoints(model: string): boolean {
  return isClaude(model) || isNova(model);
}

/** Everybody else answers 400 to `toolResult.status`. */
export function takesResultStatus(model: string): boolean {
  return isClaude(model) || isNova(model);
}

/** OpenAI's hosted models refuse it, its open-weight ones don't. A model whose ARN hides its vendor might be one that does. */
export function takesTemperature(model: string): boolean {
  if (isClaude(model)) return claudeTakesTemperature(model);
  return !/openai\.(?!gpt-oss)/.test(model) && !hidesVendor(model);
}

/** ARNs of application profiles, provisioned and imported models end in an opaque id. */
function hidesVendor(model: string): boolean {
  return model.startsWith('arn:') && !model.slice(model.lastIndexOf('/') + 1).includes('.');
}
