// Words of a block's chat.
import type { ChatEntry } from '../../../core/types.ts';
import { ago, clock, clockSeconds, count, plural, usd } from '../base/format.ts';

/** A wait below this is counted down. */
const NEAR_MS = 60_000;

export const chatText = {
  you: 'You',
  chat: 'Chat',
  reading: 'Reading the chat…',
  none: 'Nothing has been said yet. Write the first message below.',
  gone: 'This block is not here any more: it was archived, renamed or deleted.',
  toArchive: 'Go to the archive',
  lookAgain: 'Look again',
  writing: 'writing',
  starting: 'waits for the model',
  older: 'Reading older entries…',
  newest: 'Newest',
  sending: 'sending',
  sent: 'received',
  offline: 'sent when the server answers',
  refused: 'not sent',
  tryAgain: 'Try again',
  edit: 'Edit',
  retry: 'Retry',
  cancel: 'Cancel',
  stop: 'Stop',
  copyText: 'Copy as text',
  copyMarkdown: 'Copy as markdown',
  copyLink: 'Copy a link to this entry',
  copyCode: 'Copy the code',
  more: 'More about this entry',
  showAll: 'Show all',
  noEntry: 'That entry is not in this chat any more.',
  send: 'Send',
  newLine: 'new line',
  sendKey: 'send',
  kept: 'Draft kept in this browser',
  notKept: 'The browser keeps no draft: its storage is full or closed.',
  tooLong: 'A message has at most 262,144 characters.',
  takenBack: 'Taken back. It was not answered.',
  nextEntry: 'Next entry',
  entryBefore: 'Entry before',
  endReply: 'End the reply; its text so far is kept',
  takeBack: 'Take back the last waiting message',
  message: 'Message',
  about: 'About the block',
  retryHere: 'Retry the failed message',
  askAgain: 'Ask again',
  editAgain: 'Edit and ask again…',
  askOther: 'Ask another model…',
  editLast: 'Edit the last message and ask it again',
  question: 'Message',
  otherModel: 'Model',
  otherModelHelp: 'Left empty, the model of the block answers. Another model answers this once, and none of the fallbacks.',
  blank: 'A message has at least one letter.',
  keptVersions: 'The version that is there stays, with its answer. Models no longer see it once the new one is answered.',
  versions: 'Versions of this message',
  versionBefore: 'Version before',
  versionAfter: 'Version after',
  unseen: 'models see a later version',
  noAgain: 'The last message waits or is being answered, so it can’t be asked again now.',
} as const;

export const panelText = {
  now: 'Now',
  making: 'A reply is being made.',
  sees: 'What the model sees',
  memory: 'Memory',
  budget: 'Budget',
  costs: 'Costs',
  today: 'Today',
  month: 'This month',
  tokensToday: 'Tokens today',
  noCap: 'No cap is set.',
  last: 'Last call',
  model: 'Model',
  firstText: 'First text',
  whole: 'Whole answer',
  tokens: 'Tokens',
  cost: 'Cost',
  at: 'At',
  unpriced: 'not priced',
  noCall: 'No answer yet.',
  fails: 'If it fails',
  noFallback: 'There is no other model to fall back to.',
  since: 'Since',
  next: 'What happens next',
  todo: 'What you can do',
  instructions: 'Instructions',
  summary: 'Summary',
  messages: 'Newest messages',
} as const;

export const asModelText = {
  title: 'Use it as a model',
  lead: 'Any chat program can talk to this block. It needs a key that may ask blocks: Gateway, Programs.',
  baseURL: 'Base URL',
  model: 'Model',
  tryIt: 'Try it in a terminal',
  key: '<key>',
} as const;

/** What became of a message or an answer, where it is not simply done. */
const OUTCOMES: Readonly<Record<string, string>> = {
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired: it waited too long to be answered',
  interrupted: 'interrupted: the text until then was kept',
};

/** Who or what has sent a message. */
export function senderText({ channel, chain, clientId }: Pick<ChatEntry, 'channel' | 'chain' | 'clientId'>): string {
  if (channel === 'schedule') return `Schedule ${clientId?.split(':')[1] ?? ''}`;
  const [link] = chain ?? [];
  if (link?.via === 'hook') return `Hook ${link.hook ?? ''}`;
  if (link?.via === 'mcp') return link.key === undefined ? 'MCP' : `MCP, key ${link.key}`;
  return link?.via === 'key' && link.key !== undefined ? `Key ${link.key}` : chatText.you;
}

/** An outcome in words. An outcome that this page does not know keeps its own name. */
export function outcomeText(status: string): string {
  return Object.hasOwn(OUTCOMES, status) ? (OUTCOMES[status] ?? status) : status;
}

/** Why an answer is shorter than it might be; undefined where it ended by itself. */
export function stopText(stopReason: string | undefined): string | undefined {
  if (stopReason === undefined || stopReason === 'end_turn' || stopReason === 'stop_sequence') return undefined;
  return stopReason === 'max_tokens' ? 'ended at its longest allowed length' : stopReason;
}

/** `Message support…`. */
export function placeholderText(name: string): string {
  return `Message ${name}…`;
}

/** `2 of 3`. */
export function versionText(at: number, all: number): string {
  return `${count(at)} of ${count(all)}`;
}

/** Told to a screen reader. */
export function versionShownText(at: number, all: number): string {
  return `Version ${versionText(at, all)}`;
}

/** `waits, 2 before it`. */
export function waitsText(before: number): string {
  return before === 0 ? 'waits, next' : `waits, ${count(before)} before it`;
}

/** `tried again in 12 s`; `tried again at 14:31` if that is further away. */
export function againText(at: string, nowMs: number): string {
  const ms = Date.parse(at) - nowMs;
  if (ms > NEAR_MS) return `tried again at ${clock(at)}`;
  return ms > 0 ? `tried again ${ago(at, nowMs)}` : 'tried again now';
}

/** `It is tried again at 14:31:05, in 12 s.` */
export function nextTryText(at: string, nowMs: number): string {
  return Date.parse(at) > nowMs ? `It is tried again at ${clockSeconds(at)}, ${ago(at, nowMs)}.` : 'It is tried again now.';
}

/** The queue has no room. */
export function fullText(seconds: number): string {
  return seconds > 0 ? `the queue is full; sent again in ${seconds} s` : 'the queue is full; sent again now';
}

/** `1,204 in`. */
export function inText(tokens: number): string {
  return `${count(tokens)} in`;
}

/** `186 out`. */
export function outText(tokens: number): string {
  return `${count(tokens)} out`;
}

/** `0.6 s to first text, 3.1 s`. */
export function timesText(first: string | undefined, whole: string | undefined): string {
  return [first === undefined ? undefined : `${first} to first text`, whole].filter((part) => part !== undefined).join(', ');
}

/** `attempt 2`. */
export function attemptText(attempt: number): string {
  return `attempt ${attempt}`;
}

/** `118 characters`, and how fast. */
export function charactersText(characters: number): string {
  return plural(characters, 'character', 'characters');
}

/** `64 a second`. */
export function speedText(perSecond: number): string {
  return `${count(perSecond)} a second`;
}

/** The rest of a long text. */
export function restText(characters: number): string {
  return `${count(characters)} more characters`;
}

/** The rest of long code. */
export function restLinesText(lines: number): string {
  return `${plural(lines, 'more line', 'more lines')}`;
}

/** What becomes of a message that is not answered at once, by the state of the block. */
export const composerHint: Readonly<Record<string, string>> = {
  halted: 'Model calls are halted: the message is stored, and answered after the release.',
  paused: 'The message is stored, and answered when the cap lets it.',
  stopped: 'The block is stopped: the message is stored, and answered after a start.',
  failed: 'The block stands still: the message is stored, and answered when it works again.',
  unconfigured: 'The block has no model yet: the message is stored, and answered when it has one.',
};

/** Told to a screen reader. */
export function isWritingText(name: string): string {
  return `${name} is writing`;
}
export function completeText(tokens: number | undefined): string {
  return tokens === undefined ? 'Answer complete' : `Answer complete, ${plural(tokens, 'token', 'tokens')}`;
}
export function failedText(sentence: string): string {
  return `Failed: ${sentence}`;
}

/** `61,204 of 100,000 tokens`. */
export function ofTokensText(whole: number): string {
  return `of ${count(whole)} tokens`;
}

/** `Instructions, 2 goals`. */
export function instructionsText(goals: number): string {
  return goals === 0 ? panelText.instructions : `${panelText.instructions}, ${plural(goals, 'goal', 'goals')}`;
}
export function factsText(facts: number): string {
  return plural(facts, 'pinned fact', 'pinned facts');
}
export function newestText(messages: number): string {
  return messages === 1 ? 'Newest message' : `Newest ${count(messages)} messages`;
}

/** `of $5.00`. */
export function ofText(cap: string): string {
  return `of ${cap}`;
}
export function spentText(spent: number, cap: number): string {
  return `${usd(spent)} of ${usd(cap)} today`;
}

/** `At this pace the daily cap is reached at 16:50.` */
export function paceText(at: number): string {
  return `At this pace the daily cap is reached at ${clock(at)}.`;
}
