// block/remember: a pinned fact of the block itself. Pure: no I/O.
import type { BlockMemory, Fact, Taint } from '../../types.ts';
import { sha256 } from '../canonical.ts';

const MAX_FACTS = 100;

/** Where a fact comes from. */
export interface FactOrigin {
  readonly callId: string;
  readonly messageId: string;
  readonly at: string;
  /** What has tainted the run, which goes on with the fact. */
  readonly taint: readonly Taint[];
}

/** The memory with one fact more, whose id is of the call, so the same call is the same fact; or why there is none. */
export function withFact(memory: BlockMemory, text: string, { callId, messageId, at, taint }: FactOrigin): BlockMemory | string {
  const id = `f${sha256(callId).slice(0, 12)}`;
  if (memory.facts.some((fact) => fact.id === id)) return memory;
  if (text.trim() === '') return 'The text is blank.';
  const own = memory.facts.filter(({ by }) => by === 'block').length;
  if (own >= MAX_FACTS) return `This block has kept ${own} facts, which is the most. The user can remove some.`;
  const fact: Fact = { id, text, pinned: true, createdAt: at, by: 'block', messageId, ...(taint.length > 0 && { taint: [...taint] }) };
  return { ...memory, facts: [...memory.facts, fact] };
}
