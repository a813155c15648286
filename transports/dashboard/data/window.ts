// What a block sends to its model, as far as its files say. Pure.
import type { BlockDetails } from '../../../core/types.ts';

/** Tokens by what they are for. */
export interface WindowParts {
  readonly instructions: number;
  readonly facts: number;
  readonly summary: number;
  readonly messages: number;
  readonly total: number;
  readonly most: number;
  /** Percent of `most` at which older messages are summarised. */
  readonly threshold: number;
}

/** Roughly the characters of a token, as the server estimates. */
const CHARACTERS = 4;

/** The window of a block. The sum is the server's; what the parts don't explain are the newest messages. */
export function windowOf({ config, memory }: BlockDetails): WindowParts {
  const { maxTokens, tokens } = memory.window;
  const instructions = tokensIn([config.systemPrompt ?? '', ...(config.goals ?? [])]);
  const facts = tokensIn(memory.facts.map(({ text }) => text));
  const summary = tokensIn([memory.summary]);
  const total = Math.max(tokens, instructions + facts + summary);
  return {
    instructions,
    facts,
    summary,
    messages: total - instructions - facts - summary,
    total,
    most: maxTokens,
    threshold: config.memory?.thresholdPercent ?? 80,
  };
}

function tokensIn(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / CHARACTERS);
}

/** When the cap of a day is reached at the pace of this day, in epoch milliseconds; undefined if it is not reached today. */
export function capReachedAt(spent: number, cap: number | null | undefined, now: number, dayBegan: number): number | undefined {
  if (cap === null || cap === undefined || spent <= 0 || spent >= cap || now <= dayBegan) return undefined;
  const at = now + ((cap - spent) / spent) * (now - dayBegan);
  return at < dayBegan + 86_400_000 ? at : undefined;
}
