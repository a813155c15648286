// The history as exchanges. Each is a message that is done, with its answers; a message or an answer alone is left out. Pure: no I/O.
import type { ChatEntry } from '../../schemas/chat-entry.ts';

/** A message and its answers, in the order in which a model sees them. There is at least one answer. */
export interface Exchange {
  readonly question: ChatEntry;
  readonly answers: readonly ChatEntry[];
}

/** The entries of an exchange in their order. */
export function entriesOf({ question, answers }: Exchange): readonly ChatEntry[] {
  return [question, ...answers];
}

/**
 * The exchanges whose message is `firstKeptId` or comes after it, in the order of their messages; all of them for null. An id that no entry has is a
 * border between entries: the messages whose ids sort after it are taken. A message that was asked again since, and answered, is left out; so is one that
 * `asked` asks again.
 */
export function exchangesFrom(firstKeptId: string | null, history: readonly ChatEntry[], asked?: string): readonly Exchange[] {
  const replaced = replacedIn(history, asked);
  const answers = answersByMessage(history);
  const first = firstKeptId === null ? 0 : history.findIndex(({ id }) => id === firstKeptId);
  const kept = first === -1 ? history.filter(({ id }) => id > (firstKeptId ?? '')) : history.slice(first);
  return kept
    .filter(({ role, status, content, run }) => role === 'user' && (status === 'done' || (hasEnded(status) && run !== undefined)) && !isBlank(content))
    .filter(({ id }) => !replaced.has(id))
    .map((question) => ({ question, answers: answers.get(question.id) ?? [] }))
    .filter((exchange) => exchange.answers.length > 0);
}

/** True for a message that ended without an answer. Models see it only if calls of tools had effects before, which an entry names. */
function hasEnded(status: ChatEntry['status']): boolean {
  return status === 'failed' || status === 'cancelled';
}

/** The ids of all earlier versions of the messages that are done, and of the one that is asked now. */
function replacedIn(history: readonly ChatEntry[], asked: string | undefined): ReadonlySet<string> {
  const before = new Map<string, string | undefined>(); // of all messages so far, so that a version is always an earlier message
  const replaced = new Set<string>();
  for (const { id, role, replaces, status } of history) {
    if (role !== 'user') continue;
    before.set(id, replaces !== undefined && replaces !== id && before.has(replaces) ? replaces : undefined);
    if (status !== 'done' && id !== asked) continue;
    for (let version = before.get(id); version !== undefined && !replaced.has(version); version = before.get(version)) replaced.add(version);
  }
  return replaced;
}

/** An answer without `replyTo` was written by hand: it belongs to the message before it. */
function answersByMessage(history: readonly ChatEntry[]): ReadonlyMap<string, readonly ChatEntry[]> {
  const answers = new Map<string, ChatEntry[]>();
  let message: string | undefined;
  for (const entry of history) {
    if (entry.role === 'user') message = entry.id;
    else if (isShown(entry)) {
      const to = entry.replyTo ?? message;
      if (to === undefined) continue;
      const known = answers.get(to);
      if (known === undefined) answers.set(to, [entry]);
      else known.push(entry);
    }
  }
  return answers;
}

/** Blank answers are left out, because no provider accepts a blank turn. */
function isShown({ status, content }: ChatEntry): boolean {
  return (status === 'done' || status === 'interrupted') && !isBlank(content);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
