// Turns for the providers that want strictly alternating roles and tool results inside the user's turn.
// Pure: no I/O.
import type { PromptToolResult, ToolCall, Turn, Warning } from '../core/index.ts';

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

/** Maps foreign tool-call ids to ids that the provider takes; the same id always to the same one. */
export function idMapper(allowed: RegExp): (id: string) => string {
  // Most conversations have no calls.
  let mapped: Map<string, string> | undefined;
  let taken: Set<string> | undefined;
  return (id) => {
    mapped ??= new Map();
    taken ??= new Set();
    const known = mapped.get(id);
    if (known !== undefined) return known;
    let candidate = allowed.test(id) ? id : `call_${id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(-48)}`;
    for (let n = 2; taken.has(candidate); n += 1) candidate = `${candidate.slice(0, 56)}_${n}`;
    taken.add(candidate);
    mapped.set(id, candidate);
    return candidate;
  };
}

/** The text of a tool result for the wires that have no mark for a failed one: the text must say it. */
export function outputText({ content, isError }: PromptToolResult): string {
  return isError && !/^\W*error\b/i.test(content) ? `Error: ${content}` : content;
}

/** `parameters` of a tool as an object schema; providers refuse one without type or properties. */
export function objectSchema(parameters: Record<string, unknown> | undefined): Record<string, unknown> {
  return { ...parameters, type: 'object', properties: parameters?.['properties'] ?? {} };
}

/** What the adapter keeps for the provider on a message or a call, under the adapter's own id. */
export function metadataOf(
  holder: { readonly providerMetadata?: Record<string, unknown> | undefined } | ToolCall,
  adapterId: string,
): Record<string, unknown> | undefined {
  const own = holder.providerMetadata?.[adapterId];
  return typeof own === 'object' && own !== null && !Array.isArray(own) ? (own as Record<string, unknown>) : undefined;
}
