// What the model sees of a block, in tokens. Pure.
import type { Details } from '../../../data/block.ts';

/** A part of what the model sees. */
export interface Part {
  readonly id: 'instructions' | 'facts' | 'summary' | 'messages';
  readonly tokens: number;
}

/** The parts, as far as they are not empty: the server counts the whole, the parts besides the messages are estimates. */
export function partsOf({ config, memory }: Pick<Details, 'config' | 'memory'>): readonly Part[] {
  const pinned = memory.facts.filter((fact) => fact.pinned);
  const instructions = estimate([config.systemPrompt, ...config.goals].join('\n'));
  const facts = estimate(pinned.map(({ text }) => text).join('\n'));
  const summary = estimate(memory.summary);
  const messages = Math.max(0, memory.window.tokens - instructions - facts - summary);
  const parts: readonly Part[] = [
    { id: 'instructions', tokens: instructions },
    { id: 'facts', tokens: facts },
    { id: 'summary', tokens: summary },
    { id: 'messages', tokens: messages },
  ];
  return parts.filter(({ tokens }) => tokens > 0);
}

/** Some four characters make a token. */
function estimate(text: string): number {
  return Math.ceil(text.length / 4);
}
