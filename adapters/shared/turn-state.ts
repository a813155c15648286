// The provider's own state in a turn of the assistant. Pure: no I/O.
import type { AssistantTurn, Warning } from '../../core/index.ts';
import { metadataOf } from './read.ts';

/** The warning about reasoning of a model that only this model can use. */
export const REASONING_OF_ANOTHER: Warning = {
  field: 'messages',
  message: 'Earlier reasoning was not sent. It is only valid with the same model, and another one, or an unknown one, wrote it.',
};

/** The state of a turn: the message has it, or one of its reasoning parts. */
export function stateIn(turn: AssistantTurn, adapterId: string): Record<string, unknown> | undefined {
  const own = metadataOf(turn, adapterId);
  if (own !== undefined || turn.parts === undefined) return own;
  return turn.parts.map((part) => metadataOf(part, adapterId)).find((found) => found !== undefined);
}

/** The parts that there are, for `Adapter.replayed`; undefined if there is none. */
export function given(parts: readonly unknown[]): readonly unknown[] | undefined {
  const found = parts.filter((part) => part !== undefined);
  return found.length === 0 ? undefined : found;
}
