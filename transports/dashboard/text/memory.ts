// Words of a block's memory.
import { clock, count, dayName, plural } from '../base/format.ts';
import { ownOf } from '../base/own.ts';
import type { Seen } from '../data/window.ts';

export const memoryText = {
  window: 'What the model sees',
  overTime: 'What it has seen for each answer',
  tooFew: 'The plot begins with the second answer.',
  seen: 'Tokens of the prompt, as the provider counts',
  mark: 'Older messages were summarised',
  limit: 'From here on they are summarised',
  asTable: 'As a table',
  asPlot: 'As a plot',
  compactNow: 'Summarise now',
  undo: 'Undo the last summary',
  summary: 'Summary',
  noSummary: 'Nothing was summarised yet. The model sees all messages.',
  facts: 'Facts',
  factsLead: 'A pinned fact is in every prompt. The others are only kept.',
  loose: 'not in prompts',
  pin: 'Pin it: in every prompt',
  unpin: 'Unpin it: keep it out of prompts',
  isPinned: 'In every prompt',
  addFact: 'Add a fact',
  add: 'Add',
  remove: 'Remove',
  noFacts: 'The block remembers no facts.',
  compactions: 'Summaries so far',
  noCompactions: 'None yet. Older messages are summarised when the window is full.',
  changed: 'What the last one changed',
  same: 'The summary is as it was.',
  when: 'When',
  why: 'Why',
  messages: 'Messages',
  tokens: 'Tokens',
  model: 'Model',
  cost: 'Cost',
  compacted: 'Older messages are summarised.',
  nothingOlder: 'There is nothing to summarise: the newest messages stay whole, as many as the configuration says.',
  notCompacted: 'The older messages could not be summarised. They stay as they are.',
  undone: 'The last summary is undone.',
  factRemoved: 'The fact is removed.',
} as const;

const TRIGGERS: Readonly<Record<string, string>> = { threshold: 'the window was full', overflow: 'a prompt was too long', manual: 'asked for' };
const OUTCOMES: Readonly<Record<string, string>> = { summarized: '', evicted: 'dropped without a summary', failed: 'failed' };

/** Why a summary was made, and how it ended; unknown words by their own names. */
export function compactionText(trigger: string, outcome: string, isUndone: boolean): string {
  return [ownOf(TRIGGERS, trigger) ?? trigger, ownOf(OUTCOMES, outcome) ?? outcome, isUndone ? 'undone' : ''].filter((part) => part !== '').join(', ');
}

/** `61,204 → 13,020`. */
export function beforeAfter(before: number | undefined, after: number | undefined): string {
  return before === undefined || after === undefined ? '–' : `${count(before)} → ${count(after)}`;
}

/** `214 messages in the window`. */
export function inWindow(messages: number): string {
  return `${plural(messages, 'message', 'messages')} in the window`;
}

/** `14:31`, `Yesterday, 14:31`, `3 Nov, 14:31`. */
export function momentText(at: string, nowMs: number): string {
  const day = dayName(at, nowMs);
  return day === dayName(nowMs, nowMs) ? clock(at) : `${day}, ${clock(at)}`;
}

/** `3 Nov, 14:31: 12,345 tokens, gemma4`. */
export function seenText({ at, tokens, model }: Seen): string {
  return `${momentText(at, Date.now())}: ${plural(tokens, 'token', 'tokens')}${model === '' ? '' : `, ${model}`}`;
}

/** What a plot of the window says. */
export function overTimeText(answers: readonly Seen[], compactions: number): string {
  const tokens = answers.map((answer) => answer.tokens);
  const range = `between ${count(Math.min(...tokens))} and ${count(Math.max(...tokens))}, ${count(tokens.at(-1) ?? 0)} for the last`;
  return `Tokens that the model has seen for each of the last ${plural(answers.length, 'answer', 'answers')}: ${range}. Older messages were summarised ${plural(compactions, 'time', 'times')} meanwhile.`;
}

/** A compaction in the table of the plot. */
export function compactedText(before: number | undefined, after: number | undefined): string {
  return before === undefined || after === undefined ? memoryText.compacted : `Older messages were summarised: ${beforeAfter(before, after)}`;
}
