// The calls of tools that wait for a person, of all blocks: read when the server says that one has come or was decided.
//
// stays-put: one that is decided stays known, with who decided, until nobody looks at the list any more; so nothing moves under a hand.
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Decide, ShownApproval } from '../../../core/types.ts';
import { timers } from '../base/clock.ts';
import { ApiError } from './api-error.ts';
import { onEvent } from './events.ts';
import { asks } from './fleet.ts';
import { call, get } from './http.ts';
import { session, socket } from './services.ts';

const PAGE = 200;
const MAX_PAGES = 5;
const SOON_MS = 150;

/** Those that wait, and those that were decided while this page was open, by their ids. */
export const approvals = signal<ReadonlyMap<string, ShownApproval>>(new Map());
/** False until they are read for the first time. */
export const isInboxRead = signal(false);
/** What went wrong when they were last read. */
export const inboxError = signal<unknown>(undefined);
/** How many wait. */
export const pending = computed(() => [...approvals.value.values()].filter(({ state }) => state === 'pending').length);

/** Those that were decided here. */
export const ownDecisions = new Set<string>();

let isDue = false;
let isReading = false;
let isWanted = false;

/** Follows them until the page ends. */
export function runApprovals(): void {
  onEvent(({ name }) => {
    if (name.startsWith('approval.') || name === 'missed') want();
  });
  effect(() => {
    asks.value; // of blocks that other servers run, the list alone tells
    if (session.signIn.value === 'in' && socket.connection.value.state === 'live') untracked(want);
  });
}

function want(): void {
  isWanted = true;
  if (isReading || isDue) return;
  isDue = true;
  timers.after(SOON_MS, () => {
    isDue = false;
    void readApprovals();
  });
}

/** Reads them all. */
export async function readApprovals(): Promise<void> {
  isReading = true;
  isWanted = false;
  try {
    const found = await pages();
    const names = new Set(found.map(({ id }) => id));
    const left = [...approvals.peek().values()].filter(({ id }) => !names.has(id));
    const now = await Promise.all(left.map((each) => (each.state === 'pending' ? readApproval(each.id).catch(() => undefined) : each)));
    approvals.value = new Map([...found, ...now.flatMap((each) => each ?? [])].map((each) => [each.id, each]));
    isInboxRead.value = true;
    inboxError.value = undefined;
  } catch (error) {
    inboxError.value = error;
  } finally {
    isReading = false;
    if (isWanted) want();
  }
}

async function pages(): Promise<readonly ShownApproval[]> {
  const all: ShownApproval[] = [];
  let cursor: string | null = '';
  for (let page = 0; page < MAX_PAGES && cursor !== null; page += 1) {
    const at: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const read: { readonly approvals: readonly ShownApproval[]; readonly cursor: string | null } = await get(`/api/approvals?limit=${PAGE}${at}`);
    all.push(...read.approvals);
    cursor = read.cursor;
  }
  return all;
}

/** One of them, also one that is decided. Rejects with an ApiError. */
export async function readApproval(id: string): Promise<ShownApproval> {
  const { approval } = await get<{ readonly approval: ShownApproval }>(pathOf(id));
  return approval;
}

function pathOf(id: string): string {
  return `/api/approvals/${encodeURIComponent(id)}`;
}

export type Decision = 'approve' | 'deny' | 'ran' | 'not-ran' | 'tell';

/** What may come with a decision. */
export type More = Partial<Pick<Decide, 'scope' | 'note' | 'input'>>;

/** Decides what was shown. Where somebody else was faster, that decision is shown. Rejects with an ApiError. */
export async function decide({ id, digest }: ShownApproval, decision: Decision, more: More = {}): Promise<void> {
  type Said = { readonly approval?: ShownApproval; readonly error?: string; readonly code?: string };
  const { status, data } = await call<Said>('POST', pathOf(id), { body: { decision, digest, ...more }, accepts: 409 });
  if (status !== 409) ownDecisions.add(id);
  const now = status === 409 ? await readApproval(id) : data.approval;
  if (now !== undefined) approvals.value = new Map(approvals.peek()).set(id, now);
  if (status === 409 && data.code !== 'APPROVAL_DECIDED') throw new ApiError(data.error ?? '', { status, code: data.code ?? '' });
}

/** stays-put: nobody looks at the list any more. */
export function forgetDecided(): void {
  approvals.value = new Map([...approvals.peek()].filter(([, { state }]) => state === 'pending'));
}
