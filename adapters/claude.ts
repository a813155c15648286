// What holds for Claude models wherever they are served. Pure: no I/O.
// Source: Anthropic's migration notes for API version 2026-10-21 and the model pages.
import { createHash } from 'node:crypto';

/** The models that still take `temperature`; every other Claude, and every unknown one, answers 400. */
const TAKES_TEMPERATURE =
  /claude-(?:(?:haiku-4-5|sonnet-4-5|sonnet-4-6|opus-4-5|opus-4-6|opus-4-1|(?:opus|sonnet)-4-0)(?!\d)|(?:opus|sonnet)-4(?:-2025|@|$|-v)|3-|2|instant)/;

/** `model` may carry a region and vendor in front, as on Bedrock. */
export function takesTemperature(model: string): boolean {
  return TAKES_TEMPERATURE.test(model);
}

/** What tool-call ids may look like; others are rewritten. */
export const CLAUDE_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * A digest of everything that stood before an assistant turn. A thinking block is bound to that, and refused behind anything
 * else, so the digest travels with the block and is compared before the block is sent back.
 */
export function prefixDigest(prefix: unknown): string {
  return createHash('sha256').update(JSON.stringify(prefix)).digest('base64url').slice(0, 22);
}
