// block/later: when a block may write to itself, and how often. Pure: no I/O.
//
// no-endless-chain: a message of `later` knows how many came before it in a row, without a person or a schedule in between. The number stands in the id of its schedule, and
//   goes along with messages to other blocks.
// still-tainted: what a tainted run writes to its block for later taints then, whatever the model sees besides. So does what it writes to another block. A t behind the number
//   says so.
import type { ChainLink, ChatEntry, Schedule } from '../../types.ts';
import { sha256 } from '../canonical.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_PENDING = 20;
const MAX_A_DAY = 24;
const MAX_LINKS = 24;
/** A run that was missed is made up for as long, so its entry stays. */
const KEPT_MS = 2 * 3_600_000;
const ID = /^later-(\d{1,3})t?-[0-9a-f]{12}$/;
const OF_MESSAGE = /^schedule:(later-\d{1,3}(t?)-[0-9a-f]{12}):/;

/** How many messages of `later` in a row have led to this one. */
export function linksOf({ clientId = '', chain = [] }: Pick<ChatEntry, 'clientId' | 'chain'>): number {
  const id = OF_MESSAGE.exec(clientId)?.[1];
  return Math.max(Number(ID.exec(id ?? '')?.[1] ?? 0), ...chain.map(({ links = 0 }) => links), 0);
}

/** What the model asks for. */
export interface LaterCall {
  readonly at?: string;
  readonly inMinutes?: number;
  readonly message: string;
}

/** How a message of a schedule has come, by its clientId: from the block itself, where a tainted run has written it (still-tainted). */
export function chainOfSchedule(block: string, clientId: string): { readonly chain?: ChainLink[] } {
  return OF_MESSAGE.exec(clientId)?.[2] === 't' ? { chain: [{ via: 'block', block }] } : {};
}

/** The schedule of a call. Its id is of the call, so the same call is the same schedule. Or why there is none. */
export function laterOf(
  { at, inMinutes }: LaterCall,
  { callId, links, isTainted }: { readonly callId: string; readonly links: number; readonly isTainted: boolean },
  now: number,
): { readonly id: string; readonly at: number } | string {
  if ((at === undefined) === (inMinutes === undefined)) return 'Give either at or inMinutes.';
  if (at !== undefined && !/(?:Z|[+-]\d{2}:?\d{2})$/i.test(at)) return 'at needs a time zone, such as Z or +01:00.';
  const time = at === undefined ? now + (inMinutes ?? 0) * MINUTE_MS : Date.parse(at);
  if (!Number.isFinite(time)) return 'at is no time.';
  if (time < now + MINUTE_MS) return 'The time must be a minute from now or later.';
  if (links >= MAX_LINKS)
    return `This is the ${links}th message in a row that a block has sent itself, without a person or a schedule in between. No further one is made.`;
  return { id: `later-${links + 1}${isTainted ? 't' : ''}-${sha256(callId).slice(0, 12)}`, at: time };
}

/** The run may have read something between two tries of a call. */
function isOfSameCall(one: string, other: string): boolean {
  return ID.test(one) && one.replace('t-', '-') === other.replace('t-', '-');
}

/** The schedules with one more, without those of `later` that are over; or why there may be none more. */
export function withLater(schedules: readonly Schedule[], one: Schedule, entries: readonly ChatEntry[], now: number): readonly Schedule[] | string {
  if (schedules.some(({ id }) => isOfSameCall(id, one.id))) return schedules;
  const kept = schedules.filter(({ id, at }) => !ID.test(id) || at === undefined || Date.parse(at) > now - KEPT_MS);
  const pending = kept.filter(({ id, at }) => ID.test(id) && at !== undefined && Date.parse(at) > now);
  if (pending.length >= MAX_PENDING || kept.length >= MAX_PENDING) return `There are ${kept.length} schedules by now, which is the most.`;
  const today = entries.filter(({ clientId = '', timestamp }) => OF_MESSAGE.test(clientId) && Date.parse(timestamp) > now - DAY_MS).length + pending.length;
  if (today >= MAX_A_DAY) return `This block has sent itself ${today} messages within a day, which is the most.`;
  return [...kept, one];
}
