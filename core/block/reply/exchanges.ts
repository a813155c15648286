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
 * border between entries: the messages whose ids sort after it are taken.
 */
export function exchangesFrom(firstKeptId: string | null, history: readonly ChatEntry[]): readonly Exchange[] {
  const answers = answersByMessage(history);
  const first = firstKeptId === null ? 0 : history.findIndex(({ id }) => id === firstKeptId);
  const kept = first === -1 ? history.filter(({ id }) => id > (firstKeptId ?? '')) : history.slice(first);
  return kept
    .filter(({ role, status, content }) => role === 'user' && status === 'done' && !isBlank(content))
    .map((question) => ({ question, answers: answers.get(question.id) ?? [] }))
    .filter((exchange) => exchange.answers.length > 0);
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
