// What people are told: which facts become notices, for whom, and in which words. Pure: no I/O.
//
// names-only: a notice has names, ids, times and codes. Arguments, results, texts of messages, notes, a provider's words and keys are never in it: it goes through
//   programs of others.
import { escapeInvisible } from '../base/invisible.ts';
import type { CoreEvents } from '../bus.ts';
import type { Approval, NotifyTarget } from '../types.ts';

/** What people can be told of. */
export type NoticeEvent = NotifyTarget['events'][number];

/** A call that waits, as a notice shows it. */
export interface AskedCall {
  readonly id: string;
  readonly tool: string;
  readonly because: Approval['because'];
  readonly expiresAt: string;
}

/** Something to tell. */
export interface Notice {
  readonly type: NoticeEvent;
  readonly block: string;
  /** Absent for what is not about a message. */
  readonly messageId?: string;
  readonly approval?: AskedCall;
  readonly code?: string;
}

/** What a notice is told with. */
export interface Telling {
  /** ISO 8601. */
  readonly at: string;
  /** Where the page of this server is, as people reach it: `https://host`; undefined where nothing is known. */
  readonly base: string | undefined;
  /** The link that decides. */
  readonly decide?: string | undefined;
}

/** The body of a delivery. */
export interface NoticeBody {
  readonly type: NoticeEvent | 'summary' | 'test';
  readonly timestamp: string;
  /** One sentence, for receivers that show nothing else. */
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A call waits. */
export function askedNotice({ block, id, approval, tool, because, expiresAt }: CoreEvents['approval.requested']): Notice {
  return { type: 'approval.asked', block, messageId: id, approval: { id: approval, tool: plain(tool), because, expiresAt } };
}

/** Undefined for an outcome that somebody has chosen, or that is none yet. */
export function finishedNotice({ block, id, status, code }: CoreEvents['message.finished']): Notice | undefined {
  if (status === 'done') return { type: 'message.done', block, messageId: id };
  if (status !== 'failed' && status !== 'expired') return undefined;
  return { type: 'message.failed', block, messageId: id, code: code ?? status.toUpperCase() };
}

/** A block pauses at its cap. */
export function capNotice({ block, to, cause }: CoreEvents['block.transitioned']): Notice | undefined {
  return to === 'paused' && cause === 'BUDGET_REACHED' ? { type: 'cap.reached', block, code: cause } : undefined;
}

/** Whether a target wants to hear of it. */
export function isWanted({ events, blocks }: Pick<NotifyTarget, 'events' | 'blocks'>, { type, block }: Notice): boolean {
  return events.includes(type) && (blocks === null || blocks.some((one) => fits(one, block)));
}

function fits(pattern: string, block: string): boolean {
  return pattern.endsWith('*') ? block.startsWith(pattern.slice(0, -1)) : block === pattern;
}

/** names-only. */
export function bodyOf(notice: Notice, { at, base, decide }: Telling): NoticeBody {
  const { type, block, messageId, approval, code } = notice;
  const url = base === undefined ? undefined : `${base}/ui/blocks/${encodeURIComponent(block)}`;
  const fields = { block, messageId, approval, code, url, decide };
  return { type, timestamp: at, text: textOf(notice), data: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) };
}

const BECAUSE: Readonly<Record<Approval['because'], string>> = {
  rule: 'a rule says so',
  default: 'no rule names it',
  tainted: 'its run has read from outside',
  repeat: 'an equal call may have run before',
  unknown: 'nobody knows whether it ran',
  input: 'its server asks for input',
};

function textOf({ type, block, approval, code }: Notice): string {
  if (type === 'approval.asked') return `${block} waits for your decision: ${approval?.tool}, because ${BECAUSE[approval?.because ?? 'default']}.`;
  if (type === 'message.failed') return `A message to ${block} has failed (${code}).`;
  if (type === 'cap.reached') return `${block} has reached its cap and pauses.`;
  return `${block} has answered a message.`;
}

/** How many of each kind were summed up. */
export type Counts = Readonly<Partial<Record<NoticeEvent, number>>>;

/** One more. */
export function counted(counts: Counts, type: NoticeEvent): Counts {
  return { ...counts, [type]: (counts[type] ?? 0) + 1 };
}

/** What stands for notices that were too many. */
export function summaryBody(counts: Counts, { at, base }: Telling): NoticeBody {
  const parts = Object.entries(counts).map(([type, count]) => `${count} ${type}`);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const url = base === undefined ? {} : { url: `${base}/ui/` };
  return { type: 'summary', timestamp: at, text: `${total} more in the last hour: ${parts.join(', ')}.`, data: { counts, ...url } };
}

/** What tries a target. */
export function testBody({ at, base }: Telling): NoticeBody {
  const url = base === undefined ? {} : { url: `${base}/ui/` };
  return { type: 'test', timestamp: at, text: 'Notifications of Blockhouse arrive here.', data: url };
}

const MAX_NAME = 128;

/** Names of tools are those of other people's servers. */
function plain(name: string): string {
  return escapeInvisible(name).slice(0, MAX_NAME);
}
