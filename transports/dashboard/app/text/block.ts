// Words of a block and its chat.
import { clock, count, duration, plural, usd } from '../format.ts';

export const chatText = {
  you: 'You',
  writing: 'writing',
  reading: 'Reading the conversation…',
  empty: 'Nothing was said yet. What you write waits on disk until it is answered.',
  gone: 'This block is not here any more. It was archived or renamed.',
  toArchive: 'Look in the archive',
  stopReply: 'Stop',
  cancel: 'Cancel',
  retry: 'Try again',
  takeBack: 'Take back',
  newest: 'Newest',
  older: 'Older messages',
  link: 'Copy a link to this',
  copyMarkdown: 'Copy',
  showAll: 'Show all',
  sending: 'sending',
  send: 'Send',
  newLine: 'new line',
  draftKept: 'Draft kept in this browser',
  heldByBudget: 'Your message is stored, and answered when the cap lets it.',
  heldByHalt: 'Model calls are halted. Your message is stored and waits.',
  heldByStop: 'The block is stopped. Your message is stored and waits for its start.',
  now: 'Now',
  sees: 'What the model sees',
  budget: 'Budget',
  today: 'Today',
  month: 'This month',
  noCap: 'no cap',
  lastCall: 'Last call',
  model: 'Model',
  firstText: 'First text',
  whole: 'Whole answer',
  tokens: 'Tokens',
  cost: 'Cost',
  ifItFails: 'If it fails',
  instructions: 'Instructions and goals',
  facts: 'Facts',
  summary: 'Summary',
  messages: 'Newest messages',
  about: 'About this block',
} as const;

const OUTCOMES: Readonly<Record<string, string>> = {
  failed: 'was not answered',
  cancelled: 'was cancelled',
  expired: 'expired before it was answered',
  interrupted: 'was ended early; the text so far was kept',
};

/** What happened to a message, in words; an unknown status by its own name. */
export function outcomeText(status: string): string {
  return OUTCOMES[status] ?? status;
}

/** `waits, 2 before it`. */
export function waitsText(before: number): string {
  return before === 0 ? 'waits' : `waits, ${count(before)} before it`;
}

/** `Message support…`. */
export function writeTo(block: string): string {
  return `Message ${block}…`;
}

/** `3,418 in`, `152 out`, `$0.0125`, `0.7 s to first text, 3.8 s`. */
export function answerFacts({
  model,
  usage,
  costUsd,
  ttftMs,
  latencyMs,
}: {
  readonly model?: string | undefined;
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number } | null | undefined;
  readonly costUsd?: number | null | undefined;
  readonly ttftMs?: number | null | undefined;
  readonly latencyMs?: number | null | undefined;
}): readonly string[] {
  const times = [
    ttftMs === null || ttftMs === undefined ? '' : `${duration(ttftMs)} to first text`,
    latencyMs === null || latencyMs === undefined ? '' : duration(latencyMs),
  ].filter((part) => part !== '');
  return [
    model ?? '',
    usage === null || usage === undefined ? '' : `${count(usage.inputTokens)} in`,
    usage === null || usage === undefined ? '' : `${count(usage.outputTokens)} out`,
    costUsd === null || costUsd === undefined ? '' : usd(costUsd),
    times.join(', '),
  ].filter((part) => part !== '');
}

/** `attempt 2`, `212 pieces`. */
export function writingFacts(attempt: number, pieces: number): readonly string[] {
  return [plural(pieces, 'piece', 'pieces'), ...(attempt > 1 ? [`attempt ${attempt}`] : [])];
}

/** `61,204 of 100,000 tokens`. */
export function windowText(tokens: number, most: number): { readonly tokens: string; readonly of: string } {
  return { tokens: count(tokens), of: `of ${count(most)} tokens` };
}

/** `At this pace the daily cap is reached at 16:50.` */
export function paceText(at: number): string {
  return `At this pace the daily cap is reached at ${clock(at)}.`;
}

/** What a screen reader hears. */
export const heard = {
  writes: (block: string) => `${block} is writing.`,
  complete: (tokens: number | undefined) => (tokens === undefined ? 'Answer complete.' : `Answer complete, ${plural(tokens, 'token', 'tokens')}.`),
  failed: (message: string) => `Failed: ${message}`,
} as const;
