// The data of one attempt at a message, and the rules for another one. Pure: no I/O.
import type { BlockhouseError } from '../../errors.ts';
import { mayAskNext } from '../../gateway/fallback-classes.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import { backoffMs, isStale, judgeFailure, longestWaitMs } from '../actor/backoff.ts';
import type { Candidate } from '../status/candidates.ts';
import type { Window } from './window.ts';

/** What a failure means for a message, and what its entry keeps of it. */
export type Fault = Pick<BlockhouseError, 'message' | 'retryable'> & { readonly code: string };

/** One attempt at a message. */
export interface Attempt {
  readonly config: BlockConfig;
  /** As it was when the attempt began: `attempts` includes this one. */
  readonly message: ChatEntry;
  readonly window: Window;
  readonly candidates: readonly Candidate[];
}

/** What else the wait before a retry depends on. */
export interface RetryFacts {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Failures of the block since its last answer. */
  readonly failures: number;
  random(): number;
}

/** Milliseconds until the next attempt at the same model; undefined if this was the last. */
export function retryDelayMs(failure: BlockhouseError, attempt: Attempt, { now, failures, random }: RetryFacts): number | undefined {
  const { config, message, candidates } = attempt;
  const kind = judgeFailure(failure);
  if (kind !== 'transient' && kind !== 'network') return undefined;
  if (isStale(message, config.retry, now)) return undefined;
  if (countsAsAttempt(failure, candidates) && isLastAttempt(attempt)) return undefined;
  const { retryAfterMs = 0 } = failure;
  // A provider that asks for less than the shortest wait would use up all attempts within a moment.
  const wait = retryAfterMs >= config.retry.baseMs ? retryAfterMs : backoffMs(config.retry, Math.max(message.attempts ?? 1, failures + 1), random);
  return Math.min(wait, longestWaitMs(config.retry));
}

/** True if a fallback may answer: after the same failures as the next model of an alias, and where the first model is not there or not allowed. A request that is wrong is so for all. */
export function mayAskFallback(failure: BlockhouseError): boolean {
  return mayAskNext(failure) || judgeFailure(failure) === 'block';
}

/** True if the message fails unless this attempt brings an answer. */
export function isLastAttempt({ config, message }: Attempt): boolean {
  return (message.attempts ?? 1) >= config.retry.maxAttempts;
}

/** A network fault doesn't count as an attempt, unless there are fallbacks: those are called when the attempts at the first model are used up. */
export function countsAsAttempt(failure: BlockhouseError, candidates: readonly Candidate[]): boolean {
  return candidates.length > 1 || judgeFailure(failure) === 'transient';
}

const cancelled = (message: string): Fault => ({ code: 'CANCELLED', message, retryable: false });
/** A person has cancelled the message. */
export const CANCELLED = cancelled('The reply was cancelled.');
/** A stop, or the kill switch, came before any text. */
export const ENDED_EARLY = cancelled('The reply was ended before any text had come; the message is still waiting.');
/** The kill switch, a cap, or a database that is away prevented the call. */
export const NOT_CALLED = cancelled('The kill switch, the budget or the database prevented the call; the message is still waiting.');
/** A call of a tool waits for a person. */
export const WAITING = cancelled('A call waits for a decision; the message is still waiting.');
/** The block has gone to another server. */
export const ELSEWHERE = cancelled('Another server answers the message now.');
/** A person has removed the message or changed its outcome by hand. */
export const GONE = cancelled('The message was changed while it was being answered, so the answer was discarded.');
