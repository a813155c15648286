// Words of the page of one request.
import { bytes, count, duration, NONE, plural, usd } from '../base/format.ts';
import type { Attempt, CallOfRequest } from '../data/gateway.ts';

export const requestText = {
  title: 'Request',
  back: 'All requests',
  asked: 'Asked for',
  called: 'Called',
  by: 'For',
  through: 'Through',
  credential: 'Key of the connection',
  state: 'State',
  began: 'Began',
  queued: 'Waited for its place',
  first: 'To first text',
  whole: 'Whole time',
  tokens: 'Tokens',
  cost: 'Cost',
  none: 'It waits for its place, and was not sent yet.',
  bodies: 'Sent and answered',
  noBodies: 'What was sent and answered is kept only while a key is debugged: blockhouse key debug',
  sentBody: 'Sent',
  answered: 'Answered',
  refused: 'It was refused before a model was asked.',
} as const;

const PHASES = { waiting: 'Waits for a place', sent: 'Waits for the first text', streaming: 'Answers', ended: 'Answered' } as const;

export function stateOfCall({ phase, code }: CallOfRequest): string {
  return code ?? PHASES[phase];
}

/** `1,200 in (400 from the cache) · 80 out · estimated`. */
export function tokensOfCall({ usage }: CallOfRequest): string {
  if (usage === null) return NONE;
  const cached = usage.cacheReadTokens ? ` (${count(usage.cacheReadTokens)} from the cache)` : '';
  return `${count(usage.inputTokens)} in${cached} · ${count(usage.outputTokens)} out${usage.estimated === true ? ' · estimated' : ''}`;
}

export function costOfCall({ costUsd, usage, phase }: CallOfRequest): string {
  return costUsd === null && usage !== null && phase === 'ended' ? 'Not priced' : usd(costUsd);
}

/** `UPSTREAM_FAILED, 503 · again after 240 ms`. */
export function endOfAttemptText({ code, upstreamStatus, next, delayMs, endedMs }: Attempt): string {
  if (code === undefined) return endedMs === null ? 'Under way' : 'Answered';
  const status = upstreamStatus === undefined ? '' : `, ${upstreamStatus}`;
  const then = next === 'key' ? ' · then another key' : ` · again after ${duration(delayMs)}`;
  return `${code}${status}${next === undefined ? '' : then}`;
}

/** `sent at 343 ms, took 2 ms`. */
export function timesOfAttemptText({ sentMs, endedMs }: Attempt, durationMs: number): string {
  return `sent at ${duration(sentMs)}, ${endedMs === null ? 'for' : 'took'} ${duration((endedMs ?? durationMs) - sentMs)}`;
}

/** `1.2 KB`, `The first 64 KB of 120 KB`. */
export function sizeText({ bytes: whole, cut }: { readonly bytes: number; readonly cut: boolean }): string {
  return cut ? `The first 64 KB of ${bytes(whole)}` : bytes(whole);
}

export function attemptCountText(calls: readonly CallOfRequest[]): string {
  return plural(
    calls.reduce((sum, { attempts }) => sum + attempts.length, 0),
    'attempt',
    'attempts',
  );
}
