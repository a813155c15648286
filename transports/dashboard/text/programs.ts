// Words of the programs that ask models through this server: their keys, and the names of models.
import { clock, count, dateName, plural, usd } from '../base/format.ts';
import { ownOf } from '../base/own.ts';
import type { CapOfKey, Failure, NumberField, ProgramKey } from '../data/programs.ts';

export const programsText = {
  title: 'Programs',
  activity: 'Activity',
  parts: 'Parts of the gateway',
  keys: 'Keys',
  keysLead: 'Give each program a key of its own: you see what it spends, limit it, and take it back without touching the others.',
  noKeys: 'No program has a key yet. The token of the workspace works too, but it may do everything.',
  newKey: 'New key…',
  create: 'Make the key',
  change: 'Change…',
  changeLimits: 'Change limits',
  save: 'Save the limits',
  revoke: 'Revoke…',
  endDebug: 'Stop keeping bodies',
  name: 'Name of the program',
  nameHelp: 'Lower-case letters, digits, dots and dashes.',
  nameWrong: 'A name has up to 64 lower-case letters, digits, dots and dashes, and begins with a letter or a digit.',
  caps: 'What it may spend, in USD',
  capsHelp: 'Leave a field empty for no limit. Days, weeks and months begin at 00:00 UTC.',
  more: 'More limits',
  lastDay: 'Works until the end of',
  models: 'Models that it may use',
  modelsHelp: 'One in each line. A star stands for any letters: openai/* allows every model of OpenAI. Empty allows all.',
  blocks: 'Blocks that it may ask as models',
  blocksHelp: 'One in each line, and a star alone for all. It asks them as block/name. Empty allows none.',
  agents: 'Another agent may list them, write to them and read their answers (MCP)',
  group: 'Group',
  groupHelp: 'The keys of a group share the limits of the group.',
  noGroup: 'None',
  refuse: 'Refuse models whose price is not known',
  refuseHelp: 'A cap in USD can’t count such calls.',
  wrongAmount: 'An amount such as 5 or 0.50.',
  wrongCount: 'A whole number from 1 on.',
  shownOnce: 'Copy the key now. It is not stored here, and nothing shows it again.',
  key: 'Key',
  baseURL: 'Base URL',
  baseHelp: 'Some programs add the /v1 themselves: then leave it out.',
  tryIt: 'Try it in a terminal',
  anyModel: 'provider/model',
  done: 'I have copied it',
  neverUsed: 'Not used yet',
  usedToday: 'Used today',
  noCap: 'No cap',
  thisMonth: 'this month',
  byShare: 'one of them, by their shares',
  names: 'Names of models',
  namesLead: 'An alias is a name that programs may ask for. You decide which model answers, and can change it without touching the programs.',
  noAliases: 'There is no alias yet.',
  newAlias: 'New alias…',
  alias: 'Name that programs ask for',
  aliasHelp: 'With a star at the end it stands for all names that begin so.',
  aliasWrong: 'A name is needed.',
  targets: 'Models, the first is asked first',
  targetsWrong: 'Name at least one model as provider/model; a share is a number from 1 to 1000.',
  saveAlias: 'Save the alias',
  spread: 'Spread conversations over these models',
  share: 'Share',
  on: 'Ask the next model when one',
  remove: 'Remove',
  restore: 'Undo',
  notReady: 'not ready',
  answersNow: 'Answers now',
  nobody: 'None of its models is ready',
  defaultProvider: 'All other names go to',
  refused: 'nobody: they are refused',
  meaning: 'What does a name mean?',
  meaningHelp: 'Type any name that a program asks for.',
  look: 'Look',
} as const;

export const LIMIT_NAMES: Readonly<Record<NumberField, string>> = {
  usdPerDay: 'A day',
  usdPerWeek: 'A week',
  usdPerMonth: 'A month',
  tokensPerDay: 'Tokens a day',
  tokensPerMonth: 'Tokens a month',
  inFlight: 'Calls at once',
  requestsPerMinute: 'Requests a minute',
  tokensPerMinute: 'Tokens a minute',
};

export const FAILURE_NAMES: Readonly<Record<Failure, string>> = {
  rate: 'has reached its limit',
  down: 'does not answer',
  key: 'refuses its key, or has none',
  context: 'is too small for the prompt',
  content: 'refuses what was asked',
};

const PERIODS: Readonly<Record<CapOfKey['field'], string>> = {
  usdPerDay: 'today',
  usdPerWeek: 'this week',
  usdPerMonth: 'this month',
  tokensPerDay: 'tokens today',
  tokensPerMonth: 'tokens this month',
};

/** `$1.20 of $5.00 today`. */
export function capOfKeyText({ field, cap, spent }: CapOfKey): string {
  const shown = field.startsWith('usd') ? usd : count;
  return `${shown(spent)} of ${shown(cap)} ${PERIODS[field]}`;
}

/** `Group team · 4 calls at the same time · models openai/*`; empty without any. */
export function limitsText({ group, inFlight, requestsPerMinute, tokensPerMinute, models, rights, blocks, unpriced }: ProgramKey): string {
  return [
    group === null ? '' : `Group ${group}`,
    inFlight === null ? '' : `${plural(inFlight, 'call', 'calls')} at the same time`,
    requestsPerMinute === null ? '' : `${plural(requestsPerMinute, 'request', 'requests')} a minute`,
    tokensPerMinute === null ? '' : `${plural(tokensPerMinute, 'token', 'tokens')} a minute`,
    unpriced === 'refuse' ? 'known prices only' : '',
    models === null ? '' : models.join(', '),
    blocks === null && rights.length === 0 ? '' : `blocks ${blocks?.join(', ') ?? 'all'}${rights.includes('mcp') ? ' (MCP)' : ''}`,
  ]
    .filter((text) => text !== '')
    .join(' · ');
}

/** `Used today`, `Used 3 Nov`. */
export function lastUseText({ lastUsedOn }: ProgramKey, today: string): string {
  if (lastUsedOn === null) return programsText.neverUsed;
  return lastUsedOn === today ? programsText.usedToday : `Used ${dateName(lastUsedOn)}`;
}

/** `Ended 3 Nov`, `Ends 3 Nov`; empty for a key without an end. */
export function endText({ expiresAt }: ProgramKey, nowMs: number): string {
  if (expiresAt === null) return '';
  return `${Date.parse(expiresAt) <= nowMs ? 'Ended' : 'Ends'} ${dateName(expiresAt)}`;
}

/** While what its calls send and get is kept. */
export function debugText(until: string): string {
  return `What it sends and gets is kept until ${clock(until)}`;
}

export function limitsOfText(name: string): string {
  return `Limits of ${name}`;
}

export function revokeText(name: string): { readonly title: string; readonly text: string; readonly does: string } {
  return {
    title: `Revoke the key of ${name}?`,
    text: `${name} is refused from then on. This can’t be undone; a new key is another one.`,
    does: `Revoke ${name}`,
  };
}

export function revokedText(name: string): string {
  return `The key of ${name} is revoked.`;
}

export function limitsSavedText(name: string): string {
  return `The limits of ${name} hold from the next call on.`;
}

export function createdText(name: string): string {
  return `The key of ${name}`;
}

export function aliasSavedText(name: string, targets: readonly string[]): string {
  return `${name} now means ${targets.join(', then ')}.`;
}

export function aliasRemovedText(name: string): string {
  return `The alias ${name} is removed.`;
}

export function aliasTitle(name: string | undefined): string {
  return name === undefined ? 'New alias' : `Alias ${name}`;
}

/** `3 of 4 conversations`, in short: the weight. */
export function shareOfText(weight: number | null | undefined): string {
  return weight == null ? '' : ` (share ${weight})`;
}

export function rowText(what: string, index: number): string {
  return `${what} ${index + 1}`;
}

/** What a name means, by how it was found; a way that this page does not know is shown by its name. */
export function meaningText(name: string, by: string, targets: readonly string[]): string {
  const ways: Readonly<Record<string, string>> = {
    alias: 'is an alias of',
    provider: 'names its provider:',
    list: 'is in the list of its provider:',
    prefix: 'is known by its beginning:',
    default: 'goes to the default provider:',
  };
  return `${name} ${ownOf(ways, by) ?? `(${by})`} ${targets.join(', then ')}.`;
}
