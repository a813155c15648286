// Turns for the providers that want strictly alternating roles and tool results inside the user's turn.
// Pure: no I/O.
import type { AssistantTurn, PromptToolResult, ToolCall, Turn, TurnPiece, Warning } from '../../core/index.ts';

/** A prompt's turn of the user: text, or parts. */
export type UserTurn = Extract<Turn, { role: 'user' }>;

/** One turn after merging: the parts of neighbouring turns of the same role. */
export type MergedTurn =
  | { readonly role: 'user'; readonly results: PromptToolResult[]; readonly texts: string[]; readonly turns: UserTurn[] }
  | { readonly role: 'assistant'; readonly turns: AssistantTurn[] };

/** Inserted as the user's first text when a conversation starts with the assistant. */
const OPENING = '(The conversation starts with the assistant.)';
const OPENING_WARNING: Warning = { field: 'messages[0]', message: `This provider requires a user message first, so "${OPENING}" was added before it.` };

/** Merges neighbouring turns of the same role, results before text. The first turn is always the user's; an inserted one gives a warning. */
export function mergeTurns(turns: readonly Turn[]): { readonly turns: MergedTurn[]; readonly warnings: Warning[] } {
  const merged: MergedTurn[] = [];
  const warnings: Warning[] = [];
  if (turns[0]?.role === 'assistant') {
    merged.push({ role: 'user', results: [], texts: [OPENING], turns: [{ role: 'user', text: OPENING }] });
    warnings.push(OPENING_WARNING);
  }
  for (const turn of turns) {
    const last = merged.at(-1);
    if (turn.role === 'assistant') {
      if (last?.role === 'assistant') last.turns.push(turn);
      else merged.push({ role: 'assistant', turns: [turn] });
    } else {
      const user = last?.role === 'user' ? last : { role: 'user' as const, results: [], texts: [], turns: [] };
      if (user !== last) merged.push(user);
      if (turn.role === 'tool') user.results.push(...turn.results);
      else {
        user.texts.push(turn.text);
        user.turns.push(turn);
      }
    }
  }
  return { turns: merged, warnings };
}

/** What a turn of the assistant says and calls, in its order. */
export function piecesOf({ text, parts, toolCalls, order }: AssistantTurn): readonly TurnPiece[] {
  if (order !== undefined) return order;
  const said = parts ?? (text === '' ? [] : [{ type: 'text' as const, text }]);
  return [...said.map((part) => ({ part })), ...toolCalls.map((call) => ({ call }))];
}

/** The same for providers whose assistant turns hold text only: everything between two calls is one text. */
export function textsAndCalls(turn: AssistantTurn): readonly (string | ToolCall)[] {
  if (turn.order === undefined) return turn.text === '' ? turn.toolCalls : [turn.text, ...turn.toolCalls];
  const found: (string | ToolCall)[] = [];
  for (const piece of turn.order) {
    const last = found.at(-1);
    if ('call' in piece) found.push(piece.call);
    else if (piece.part.type === 'text') {
      if (typeof last === 'string') found[found.length - 1] = last + (piece.part.text ?? '');
      else found.push(piece.part.text ?? '');
    }
  }
  return found.filter((one) => one !== '');
}

/** The whole text of the assistant in a turn. */
export function writtenText(turn: AssistantTurn): string {
  return textsAndCalls(turn)
    .filter((one) => typeof one === 'string')
    .join('');
}
