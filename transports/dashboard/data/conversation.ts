// The order in which a conversation is shown. Pure.
import type { ChatEntry } from '../../../core/types.ts';

/**
 * Each answer right after its message, although messages that came meanwhile lie between them in the file; messages that wait come last. Answers whose
 * message is not there keep their place.
 */
export function inConversation(entries: readonly ChatEntry[]): readonly ChatEntry[] {
  const ids = new Set(entries.map(({ id }) => id));
  const answers = new Map<string, ChatEntry[]>();
  for (const entry of entries) if (entry.replyTo !== undefined) answers.set(entry.replyTo, [...(answers.get(entry.replyTo) ?? []), entry]);
  const told = entries.filter(({ replyTo, role, status }) => (replyTo === undefined || !ids.has(replyTo)) && !isWaiting({ role, status }));
  const waiting = entries.filter(isWaiting);
  return [...told.flatMap((entry) => [entry, ...(answers.get(entry.id) ?? [])]), ...waiting];
}

/** True for a message that no attempt has been made at, or that waits for the next one. */
export function isWaiting({ role, status }: Pick<ChatEntry, 'role' | 'status'>): boolean {
  return role === 'user' && status === 'queued';
}
