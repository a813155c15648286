// What a person waits for, and how fast a reply was. Pure: no I/O.
import type { ChatEntry } from '../../core/index.ts';
import { count } from '../terminal/format.ts';

/** What a message waits for. `ahead`: the messages before it. `now` is epoch milliseconds. */
export function waitText({ status, nextAttemptAt }: Partial<Pick<ChatEntry, 'status' | 'nextAttemptAt'>>, ahead: number, now: number): string {
  const pause = nextAttemptAt === undefined ? 0 : Math.ceil((Date.parse(nextAttemptAt) - now) / 1000);
  if (pause > 0) return `retrying in ${pause} s`;
  // The first of the queue is at work before its status says so.
  return status === 'queued' && ahead > 0 ? `in the queue behind ${count(ahead)}` : 'waiting for the model';
}

/** `120 tokens in 3.1 s, 48.0 tokens/s`; undefined when the provider did not report it. The rate counts from the first token. */
export function speedText({ usage, latencyMs, ttftMs }: Pick<ChatEntry, 'usage' | 'latencyMs' | 'ttftMs'>): string | undefined {
  if (usage == null || latencyMs == null) return undefined;
  const writingMs = latencyMs - (ttftMs ?? 0);
  const rate = writingMs > 0 ? `, ${((usage.outputTokens * 1000) / writingMs).toFixed(1)} tokens/s` : '';
  return `${count(usage.outputTokens)} tokens in ${(latencyMs / 1000).toFixed(1)} s${rate}`;
}
