// What requests to both of OpenAI's endpoints have in common. Pure: no I/O.
import type { Prompt, Warning } from '../../core/index.ts';
import { isReasoningModel } from './models.ts';

/** The call ids that OpenAI accepts; others are rewritten. */
export const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Warnings about settings that a request to OpenAI leaves out. */
export function warningsFor(model: string, prompt: Prompt): Warning[] {
  const warnings: Warning[] = [];
  if (prompt.temperature !== undefined && isReasoningModel(model)) {
    warnings.push({ field: 'config.temperature', message: `${model} is a reasoning model and does not support temperature, so it was not sent.` });
  }
  if (prompt.cacheControl) {
    warnings.push({ field: 'config.cacheControl', message: 'OpenAI caches prompts automatically, so this setting has no effect.' });
  }
  return warnings;
}
