// Rules of Claude models, for every provider that serves them. Pure: no I/O.
// Source: Anthropic's migration notes for API version 2026-10-21 and the model pages.
import { createHash } from 'node:crypto';
import type { Warning } from '../../core/index.ts';

/** The models that still take `temperature`; every other Claude, and every unknown one, answers 400. */
const TAKES_TEMPERATURE =
  /claude-(?:(?:haiku-4-5|sonnet-4-5|sonnet-4-6|opus-4-5|opus-4-6|opus-4-1|(?:opus|sonnet)-4-0)(?!\d)|(?:opus|sonnet)-4(?:-2025|@|$|-v)|3-|2|instant)/;

/** `model` may begin with a region and a vendor, as on Bedrock. */
export function takesTemperature(model: string): boolean {
  return TAKES_TEMPERATURE.test(model);
}

/** The warning about marks for caching that were not sent. */
export const TOO_MANY_MARKS: Warning = { field: 'messages', message: 'A request may have four marks for caching, so only the last four were sent.' };

/** The tool-call ids that Claude accepts; others are rewritten. */
export const CLAUDE_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * A digest of everything before an assistant turn. Claude refuses a thinking block after any other conversation, so the digest is kept
 * with the block and compared before the block is sent back.
 */
export function prefixDigest(prefix: unknown): string {
  return createHash('sha256').update(JSON.stringify(prefix)).digest('base64url').slice(0, 22);
}
