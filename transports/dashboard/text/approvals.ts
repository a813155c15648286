// Words of the calls that wait for a person.
import type { ShownApproval } from '../../../core/types.ts';
import { plural } from '../base/format.ts';
import { ownOf } from '../base/own.ts';

export const inboxText = {
  title: 'Inbox',
  wait: 'calls wait for you',
  none: 'Nothing waits for you. A call of a tool comes here when a rule of its block says to ask, or when no rule names it.',
  tools: 'Go to the tools',
  next: 'Next call',
  before: 'Call before',
  once: 'Allow once',
  deny: 'Deny',
  answer: 'Send the answer',
  decline: 'Decline',
  required: '(required)',
  yesOrNo: [
    { value: 'true', title: 'Yes' },
    { value: 'false', title: 'No' },
  ],
  denyNote: 'Deny with a note…',
  always: 'Always allow this tool…',
  same: 'Always allow these arguments…',
  alwaysTitle: 'Always allow it?',
  sameTitle: 'Always allow these arguments?',
  ran: 'It ran…',
  didRun: 'It ran',
  notRan: 'It did not run: call it',
  tell: 'Tell the model to find out',
  note: 'Note for the model',
  more: 'Other decisions',
  noArguments: 'It has no arguments.',
  readBefore: 'Read before',
  outside: 'From outside',
  expires: 'expires',
  call: 'Call that waits',
} as const;

/** The marks that hold, and what follows where one does not. */
export function marksText({ readOnly, idempotent, closedWorld }: ShownApproval['marks']): readonly (readonly [text: string, isWarning: boolean])[] {
  return [
    [readOnly ? 'only reads' : 'may change things', !readOnly],
    [closedWorld ? 'stays inside' : 'may send data out', !closedWorld],
    ...(!readOnly && idempotent ? [['repeating is harmless', false] as const] : []),
  ];
}

const BECAUSE: Readonly<Record<string, string>> = {
  rule: 'A rule of the block says to ask.',
  default: 'No rule of the block names this tool.',
  tainted: 'Somebody outside may have written what this run has read, and the call changes something or sends data out.',
  repeat: 'An equal call was made for this message before.',
  unknown: 'The call was sent, and no answer came: it may have taken effect. Look, then say what happened.',
  input: 'The server asks you for something before it goes on. It gets what you type, and the block keeps it: type no secret.',
};

/** Why it asks. */
export function becauseText(because: string): string {
  return ownOf(BECAUSE, because) ?? because;
}

const VIA: Readonly<Record<string, string>> = {
  key: 'a message of a key',
  hook: 'a message of a hook',
  block: 'a message of a block',
  mcp: 'a message over MCP',
};

/** What was read of somebody outside. */
export function taintText({ tool, via }: { readonly tool?: string; readonly via?: string }): string {
  return tool ?? (via === undefined ? '' : (ownOf(VIA, via) ?? via));
}

const DECIDED: Readonly<Record<string, string>> = {
  approve: 'Allowed once',
  always: 'Always allowed',
  'same-arguments': 'These arguments are always allowed',
  deny: 'Denied',
  expire: 'Denied: nobody decided in time',
  expired: 'Denied: nobody decided in time',
  cancel: 'Withdrawn: the message was cancelled',
  cancelled: 'Withdrawn: nobody needs it any more',
  ran: 'It ran',
  'not-ran': 'It did not run',
  tell: 'The model finds out',
};
const CHANNELS: Readonly<Record<string, string>> = { cli: 'in a terminal', web: 'on the page', api: 'over the API', link: 'by a link' };

/** Of what a server asks. */
const ANSWERED: Readonly<Record<string, string>> = {
  approve: 'Answered',
  deny: 'Declined',
  expire: 'Nobody answered in time',
  expired: 'Nobody answered in time',
};

/** `Denied over the API`, `Denied by a link, on-call`. */
export function decidedText(
  { kind, state, decision, scope, decidedBy }: Pick<ShownApproval, 'kind' | 'state' | 'decision' | 'scope' | 'decidedBy'>,
  isOwn: boolean,
): string {
  const how = scope !== undefined && scope !== 'once' ? scope : (decision ?? state);
  const what = (kind === 'input' ? ownOf(ANSWERED, how) : undefined) ?? ownOf(DECIDED, how) ?? how;
  if (isOwn) return `${what} by you`;
  const where = decidedBy === undefined ? undefined : ownOf(CHANNELS, decidedBy.channel);
  if (decidedBy === undefined || where === undefined) return what;
  return ['token', 'page'].includes(decidedBy.name) ? `${what} ${where}` : `${what} ${where}, ${decidedBy.name}`;
}

/** What the rule does. */
export function ruleLead(block: string, isTool: boolean): string {
  return `This rule comes into the configuration of ${block}. ${isTool ? 'Every call of this tool' : 'Every equal call'} is then made without asking, until the tool changes.`;
}

/** `4 calls wait`. */
export function callsWaitText(calls: number): string {
  return plural(calls, 'call waits', 'calls wait');
}

/** `Show all 1,204 characters`. */
export function allText(characters: number): string {
  return `Show all, ${plural(characters, 'character', 'characters')}`;
}

type Bounded = NonNullable<ShownApproval['request']>[string]['fields'][number];

/** `2 to 40 characters`, `at least 18`; empty without bounds. */
export function boundsText({ type, min, max }: Pick<Bounded, 'type' | 'min' | 'max'>): string {
  const range = rangeText(min, max);
  return type === 'string' && range !== '' ? `${range} characters` : range;
}

function rangeText(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return max === undefined ? '' : `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}
