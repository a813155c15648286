// Words of a block's configuration. Labels of fields are plain English; a field that this page has never heard of has its own name.
import { clock, plural, usd } from '../base/format.ts';
import { ownOf } from '../base/own.ts';
import type { CapMeaning, CapPath } from '../data/caps.ts';

export const configText = {
  save: 'Save',
  undo: 'Undo my changes',
  saved: 'Saved.',
  asJson: 'As JSON',
  other: 'Other fields',
  otherLead: 'This page does not know them. They are kept.',
  conflict: 'Somebody else has changed the configuration meanwhile.',
  yours: 'Yours',
  theirs: 'Theirs',
  before: 'Before',
  conflictLead: 'Choose a side for each field. Nothing is saved until you save.',
  keepMine: 'All mine',
  takeTheirs: 'All theirs',
  goOn: 'Go on with these',
  changedOutside: 'The configuration was changed elsewhere. Your changes are still here.',
  leave: 'The configuration has changes that are not saved. Leave them?',
  field: 'Field',
  notSet: 'not set',
  mustBeObject: 'This must be an object.',
  revision: 'Revision',
  sections: 'Sections',
  isChanged: 'changed',
} as const;

/** The sections of the form: the first fields of each path. What belongs to none comes last. */
export const SECTIONS: readonly { readonly title: string; readonly starts: readonly string[] }[] = [
  { title: 'Purpose', starts: ['description', 'systemPrompt', 'goals', 'tags'] },
  { title: 'Model', starts: ['adapter', 'fallbacks'] },
  { title: 'Budget', starts: ['budget'] },
  { title: 'Tools', starts: ['tools', 'skills'] },
  { title: 'Memory', starts: ['memory'] },
  { title: 'Starting and retrying', starts: ['autoStart', 'enabled', 'schedule', 'hooks', 'retry', 'queue', 'pulse'] },
  { title: 'Logs', starts: ['logs'] },
];

const LABELS: Readonly<Record<string, string>> = {
  description: 'What it is for',
  systemPrompt: 'Instructions',
  goals: 'Goals, one a line',
  tags: 'Tags, one a line',
  'adapter.provider': 'Provider',
  'adapter.model': 'Model',
  'adapter.baseURL': 'Address, if not the default',
  'adapter.region': 'Region',
  'adapter.maxTokens': 'Longest answer, in tokens',
  'adapter.temperature': 'Temperature',
  'adapter.topP': 'Top P',
  'adapter.topK': 'Top K',
  'adapter.reasoning.effort': 'How much it thinks',
  'adapter.reasoning.budgetTokens': 'Most tokens of thinking',
  'adapter.cacheControl': 'Prompt caching',
  fallbacks: 'Models to try when it fails',
  'budget.dailyUsd': 'Cap a day, in USD',
  'budget.monthlyUsd': 'Cap a month, in USD',
  'budget.dailyTokens': 'Cap a day, in tokens',
  'budget.warnAt': 'Warn at this share of a cap',
  'budget.timezone': 'Time zone of the day',
  'memory.maxContextTokens': 'Largest prompt, in tokens',
  'memory.thresholdPercent': 'Summarise when so full, in percent',
  'memory.keepMessages': 'Newest messages that stay whole',
  skills: 'Skills that it may read, one a line; * for all',
  'tools.servers': 'Servers whose tools it may call, one a line',
  'tools.deny': 'Never called, one a line',
  'tools.ask': 'Called when you have agreed, one a line',
  'tools.allow': 'Called without asking, one a line',
  'tools.default': 'What no line names',
  'tools.always': 'Shown to the model even where tools are many, one a line',
  'tools.taint': 'Once it has read what somebody outside may have written',
  'tools.onUnknown': 'When it is not known whether a call ran',
  'tools.limits.steps': 'Most answers of the model to a message',
  'tools.limits.calls': 'Most calls of tools',
  'tools.limits.seconds': 'Most seconds of work',
  'tools.limits.tokens': 'Most tokens',
  'tools.limits.usd': 'Most USD',
  'tools.limits.parallel': 'Calls side by side',
  'tools.limits.resultTokens': 'Largest result that the model sees, in tokens',
  'tools.limits.definitionTokens': 'Room for the definitions of tools, in tokens',
  'tools.limits.sameCall': 'The equal call that is refused first',
  'tools.approvals.timeoutMs': 'A call waits for you, in milliseconds',
  'tools.approvals.onTimeout': 'If nobody has decided by then',
  'pulse.intervalSeconds': 'Heartbeat every so many seconds',
  'retry.maxAttempts': 'Attempts at a message',
  'retry.baseMs': 'First wait, in milliseconds',
  'retry.maxDelayMs': 'Longest wait, in milliseconds',
  'retry.staleAfterMs': 'A message expires after, in milliseconds',
  'queue.cap': 'Most waiting messages',
  'logs.maxFileBytes': 'Size of a log file, in bytes',
  'logs.maxFiles': 'Log files that are kept',
  autoStart: 'A message starts it',
  schedule: 'Schedules',
  hooks: 'Hooks',
  enabled: 'Starts with the server',
};

/** Help for people, where the contract's sentence says what a program has to check. */
const HELPS: Readonly<Record<string, string>> = {
  'adapter.provider': 'Who answers: a provider, or a connection from the settings.',
  'adapter.model': 'One of its models. A name that the list does not have can be typed.',
  'tools.deny': 'Such as bank/* or bank/pay. The first of the three lists that names a tool decides.',
  'tools.allow': 'A line may be a rule as JSON: {"tool": "files/write_file", "where": {"path": "~/out/**"}}',
};

/** The help of a field; undefined where the contract says it well. */
export function fieldHelp(path: string): string | undefined {
  return ownOf(HELPS, path);
}

/** The label of a field. */
export function fieldLabel(path: string): string {
  return ownOf(LABELS, path) ?? path;
}

/** `Cap a day, in USD. Yours: 2`, for those who do not see the table. */
export function sideText(path: string, side: 'mine' | 'theirs', value: string): string {
  return `${fieldLabel(path)}. ${side === 'mine' ? configText.yours : configText.theirs}: ${value}`;
}

/** `3 changes`. */
export function changesText(changes: number): string {
  return plural(changes, 'change', 'changes');
}

/** `Temperature: 1 value can't be saved as it is.` */
export function faultsText(paths: readonly string[]): string {
  const names = paths.map((path) => (path === 'json' ? configText.asJson : fieldLabel(path))).join('; ');
  return `${names}: ${plural(paths.length, 'value', 'values')} can’t be saved as ${paths.length === 1 ? 'it is' : 'they are'}.`;
}

/** `Spent today: $1.20. At this pace the block pauses at 16:50.` Calls without a price are named where money is counted. */
export function capText(path: CapPath, { spent, isReached, reachedAt }: CapMeaning, unpriced: number): string {
  const period = path === 'budget.monthlyUsd' ? 'month' : 'day';
  const amount = path === 'budget.dailyTokens' ? plural(spent, 'token', 'tokens') : usd(spent);
  return [
    `${path === 'budget.dailyTokens' ? 'Used' : 'Spent'} ${period === 'day' ? 'today' : 'this month'}: ${amount}.`,
    isReached ? `With this cap the block pauses until the ${period} ends.` : '',
    reachedAt === undefined ? '' : `At this pace the block pauses at ${clock(reachedAt)}.`,
    path !== 'budget.dailyTokens' && unpriced > 0 ? `So far ${plural(unpriced, 'call', 'calls')} had no known price; a cap in USD does not count those.` : '',
  ]
    .filter((text) => text !== '')
    .join(' ');
}
