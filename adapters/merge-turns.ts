// Turns for the providers that want strictly alternating roles and tool results inside the user's turn.
// Pure: no I/O.
import type { PromptToolResult, Turn, Warning } from '../core/index.ts';

export type AssistantTurn = Extract<Turn, { role: 'assistant' }>;

export type MergedTurn =
  | { readonly role: 'user'; readonly results: PromptToolResult[]; readonly texts: string[] }
  | { readonly role: 'assistant'; readonly turns: AssistantTurn[] };

/** What opens a conversation that starts with the assistant, where the provider refuses that. */
const OPENING = '(The conversation starts with the assistant.)';
const OPENING_WARNING: Warning = { field: 'messages[0]', message: `This provider wants a user message first; "${OPENING}" was put before it.` };

/** Neighbours of the same role become one turn, results before text; the first turn is the user's. */
export function mergeTurns(turns: readonly Turn[]): { readonly turns: MergedTurn[]; readonly warnings: Warning[] } {
  const merged: MergedTurn[] = [];
  const warnings: Warning[] = [];
  if (turns[0]?.role === 'assistant') {
    merged.push({ role: 'user', results: [], texts: [OPENING] });
    warnings.push(OPENING_WARNING);
  }
  for (const turn of turns) {
    const last = merged.at(-1);
    if (turn.role === 'assistant') {
      if (last?.role === 'assistant') last.turns.push(turn);
      else merged.push({ role: 'assistant', turns: [turn] });
    } else {
      const user = last?.role === 'user' ? last : { role: 'user' as const, results: [], texts: [] };
      if (user !== last) merged.push(user);
      if (turn.role === 'tool') user.results.push(...turn.results);
      else user.texts.push(turn.text);
    }
  }
  return { turns: merged, warnings };
}
