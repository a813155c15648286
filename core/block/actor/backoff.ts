// What a failed attempt means for its message and its block, and how long to wait before the next one. Pure: no I/O.
import type { BlockhouseError, ErrorCode } from '../../errors.ts';
import { MAX_RETRY_AFTER_MS } from '../../gateway/retry.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';

type Retry = BlockConfig['retry'];

const JITTER = 0.2;

/** Milliseconds before the attempt after number `attempt` (from 1): doubles from `baseMs`, with a fifth of jitter, and never above `maxDelayMs`. */
export function backoffMs({ baseMs, maxDelayMs }: Retry, attempt: number, random: () => number): number {
  const plain = Math.min(baseMs * 2 ** Math.max(0, attempt - 1), maxDelayMs);
  return Math.min(Math.round(plain * (1 - JITTER + 2 * JITTER * random())), maxDelayMs);
}

/** No attempt is further away than this, whatever a provider says. A wait that a file says has only `maxDelayMs` (RetryWait). */
export function longestWaitMs({ maxDelayMs }: Retry): number {
  return Math.max(maxDelayMs, MAX_RETRY_AFTER_MS);
}

/** True for a message that is too old for another attempt. */
export function isStale({ timestamp }: Pick<ChatEntry, 'timestamp'>, { staleAfterMs }: Retry, now: number): boolean {
  return now - Date.parse(timestamp) > staleAfterMs;
}

/** What a failure means for its message and its block. */
export type FailureKind =
  /** The attempt was ended on purpose, which is not a failure. */
  | 'cancelled'
  /** The configuration or the credential is wrong: every other message would fail as well, so the block stops. */
  | 'block'
  /** This message will never be answered; the next one may. */
  | 'message'
  /** The request never left this machine, which says nothing about the message: no attempt is used up until the message is stale. */
  | 'network'
  /** It may pass, and the provider may have worked on the request: an attempt is used up. */
  | 'transient';

const CANCELLED: ReadonlySet<ErrorCode> = new Set(['CANCELLED', 'SHUTTING_DOWN']);
const ABOUT_BLOCK: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_AUTH', 'ADAPTER_NOT_CONFIGURED']);
const BEFORE_SENDING: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'TOO_MANY_CONNECTIONS', 'QUEUE_FULL']);
/** With `mayHaveRun`: the connection broke, or the provider fell silent, after the request was sent. */
const BROKEN_OFF: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_MALFORMED']);

/**
 * Judges by code and facts, never by text. A call that broke off is not `retryable` for a caller, who might pay twice without knowing; a monitor
 * tries again all the same, because each of its attempts is counted and billed.
 */
export function judgeFailure(error: BlockhouseError): FailureKind {
  const { code, mayHaveRun, retryable } = error;
  if (CANCELLED.has(code)) return 'cancelled';
  if (ABOUT_BLOCK.has(code) || isAboutBlock(error)) return 'block';
  if (mayHaveRun && BROKEN_OFF.has(code)) return 'transient';
  if (BEFORE_SENDING.has(code)) return 'network';
  return retryable ? 'transient' : 'message';
}

/** Payment required, no permission for the model, no such model. */
const STATUSES_OF_BLOCK: ReadonlySet<number | undefined> = new Set([402, 403, 404]);

function isAboutBlock({ code, upstreamStatus, retryable, details = [] }: BlockhouseError): boolean {
  // A rate limit that is not retryable is an exhausted quota.
  if (code === 'UPSTREAM_RATE_LIMITED') return !retryable;
  if (code === 'UPSTREAM_REJECTED') return STATUSES_OF_BLOCK.has(upstreamStatus);
  return code === 'INVALID_REQUEST' && (STATUSES_OF_BLOCK.has(upstreamStatus) || details.some(({ path }) => isFromConfig(path)));
}

/** Only the messages of a request come from the chat; config.json has the rest. */
function isFromConfig(path: string): boolean {
  return path !== '' && !path.startsWith('messages');
}
