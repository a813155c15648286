// What a failed attempt means for its message and its block, and how long to wait before the next one. Pure: no I/O.
//
// O1 What a change of the configuration or of a credential would cure stops the block: every other message would meet it, too.
// O2 What the network did says nothing about the message: it uses up no attempt until the message is stale.
import type { BlockhouseError, ErrorCode } from '../errors.ts';
import type { BlockConfig, ChatEntry } from '../schemas/block.ts';

type Retry = BlockConfig['retry'];

const JITTER = 0.2;

/** Milliseconds before the attempt after number `attempt` (from 1): doubles from `baseMs`, with a fifth of jitter, and never above `maxDelayMs`. */
export function backoffMs({ baseMs, maxDelayMs }: Retry, attempt: number, random: () => number): number {
  const plain = Math.min(baseMs * 2 ** Math.max(0, attempt - 1), maxDelayMs);
  return Math.min(Math.round(plain * (1 - JITTER + 2 * JITTER * random())), maxDelayMs);
}

/** Too old to be tried again by itself. A clock that was set back makes nothing older. */
export function isStale({ timestamp }: Pick<ChatEntry, 'timestamp'>, { staleAfterMs }: Retry, now: number): boolean {
  return now - Date.parse(timestamp) > staleAfterMs;
}

export type FailureKind =
  /** Somebody ended it: no failure. */
  | 'cancelled'
  /** O1. */
  | 'block'
  /** This message will never be answered; the next one may. */
  | 'message'
  /** O2. */
  | 'network'
  /** It may pass. */
  | 'transient';

const KIND_OF: Partial<Readonly<Record<ErrorCode, FailureKind>>> = {
  CANCELLED: 'cancelled',
  SHUTTING_DOWN: 'cancelled',
  UPSTREAM_AUTH: 'block',
  ADAPTER_NOT_CONFIGURED: 'block',
  UPSTREAM_UNREACHABLE: 'network',
  UPSTREAM_TIMEOUT: 'network',
  QUEUE_FULL: 'network',
};

export function judgeFailure(error: BlockhouseError): FailureKind {
  const known = KIND_OF[error.code];
  if (known !== undefined) return known;
  if (isAboutBlock(error)) return 'block'; // O1
  return error.retryable ? 'transient' : 'message';
}

/** Payment required, no permission for the model, and no such model. */
const STATUSES_OF_BLOCK: ReadonlySet<number | undefined> = new Set([402, 403, 404]);

function isAboutBlock({ code, upstreamStatus, retryable, details = [] }: BlockhouseError): boolean {
  // A rate limit that no wait cures is a quota that is used up.
  if (code === 'UPSTREAM_RATE_LIMITED') return !retryable;
  if (code === 'UPSTREAM_REJECTED') return STATUSES_OF_BLOCK.has(upstreamStatus);
  return code === 'INVALID_REQUEST' && (STATUSES_OF_BLOCK.has(upstreamStatus) || details.some(({ path }) => isFromConfig(path)));
}

/** Of a request, only the messages come from the chat; all else is what config.json says. */
function isFromConfig(path: string): boolean {
  return path !== '' && !path.startsWith('messages');
}
