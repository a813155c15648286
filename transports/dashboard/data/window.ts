// What a block sends to its model and how it spends, read from its files. Pure.
import type { BlockConfig, BlockMemory, ChatEntry, Compaction } from '../../../core/types.ts';

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
/** A shorter part of a day says nothing about its pace. */
const MIN_MS = 30 * 60_000;
const DAY_MS = 86_400_000;

/** The window of a block. The sum is the server's; what the parts don't explain are the newest messages. */
export function windowOf({ config, memory }: { readonly config: BlockConfig; readonly memory: BlockMemory }): WindowParts {
  const { maxTokens, tokens } = memory.window;
  const instructions = tokensIn([config.systemPrompt, ...config.goals]);
  const facts = tokensIn(memory.facts.filter(({ pinned }) => pinned).map(({ text }) => text));
  const summary = tokensIn([memory.summary]);
  const total = Math.max(tokens, instructions + facts + summary);
  return { instructions, facts, summary, messages: total - instructions - facts - summary, total, most: maxTokens, threshold: config.memory.thresholdPercent };
}

function tokensIn(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / CHARACTERS);
}

/** When the cap of a day is reached if the day goes on as it began, in epoch milliseconds; undefined if it is not reached today, or is already. */
export function capReachedAt(spent: number, cap: number | null | undefined, sinceMidnightMs: number, nowMs: number): number | undefined {
  if (cap === null || cap === undefined || spent <= 0 || spent >= cap || sinceMidnightMs < MIN_MS) return undefined;
  const left = ((cap - spent) / spent) * sinceMidnightMs;
  return sinceMidnightMs + left < DAY_MS ? nowMs + left : undefined;
}

/** Milliseconds since the day began in a time zone; in UTC if this browser does not know the zone. */
export function sinceMidnight(nowMs: number, timeZone: string): number {
  try {
    const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
    const [hours = 0, minutes = 0, seconds = 0] = format.format(nowMs).split(':').map(Number);
    return ((hours * 60 + minutes) * 60 + seconds) * 1000;
  } catch {
    return nowMs % DAY_MS;
  }
}

/** An answer, and the tokens that its model has seen for it. */
export interface Seen {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly tokens: number;
  readonly model: string;
}

/** The answers among entries, in their order; those without a count are left out. */
export function seenIn(entries: readonly ChatEntry[]): readonly Seen[] {
  return entries.flatMap(({ id, role, timestamp, finishedAt, usage, model = '' }) => {
    const tokens = role === 'assistant' ? (usage?.inputTokens ?? 0) : 0;
    return tokens > 0 ? [{ id, at: finishedAt ?? timestamp, tokens, model }] : [];
  });
}

/** A compaction on the axis of answers: it stands before the answer `index`. */
export interface Mark {
  readonly index: number;
  readonly compaction: Compaction;
}

/** Where the compactions stand that have moved the window, since the first of the answers. One that was undone stands there, too: it was there. */
export function marksOf(answers: readonly Seen[], compactions: readonly Compaction[]): readonly Mark[] {
  const [first] = answers;
  if (first === undefined) return [];
  return compactions
    .filter(({ at, outcome }) => outcome !== 'failed' && Date.parse(at) >= Date.parse(first.at))
    .map((compaction) => {
      const index = answers.findIndex(({ at }) => Date.parse(at) > Date.parse(compaction.at));
      return { index: index < 0 ? answers.length : index, compaction };
    });
}
