// The history as exchanges: a message that has its outcome, with its answers. What can't be shown whole is not shown. Pure: no I/O.
import type { ChatEntry } from '../schemas/block.ts';

/** A message and its answers, in shown order; never without either. */
export interface Exchange {
  readonly question: ChatEntry;
  readonly answers: readonly ChatEntry[];
}

export function entriesOf({ question, answers }: Exchange): readonly ChatEntry[] {
  return [question, ...answers];
}

/**
 * The exchanges whose message lies at or after `firstKeptId` (null for all), in the order of their messages. An id that is not
 * among the entries is a border between them: what sorts after it lies behind it.
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
      if (to !== undefined) answers.set(to, [...(answers.get(to) ?? []), entry]);
    }
  }
  return answers;
}

/** No provider takes a blank turn, and one that is left out would leave its other half alone. */
function isShown({ status, content }: ChatEntry): boolean {
  return (status === 'done' || status === 'interrupted') && !isBlank(content);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
