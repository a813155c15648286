// The list of approvals over all blocks, a page at a time.
//
// one-question: a store that has all approvals is asked for the page; no journal is read.
// page-held: of what waits, only what may be of the page is held while the journals are read, however many calls wait.
// last-key: a cursor is the key of the last one, so pages neither skip nor repeat what stays.
import { isObject, tryParseJson } from '../base/json.ts';
import { type BlockhouseError, invalidRequest, toBlockhouseError } from '../errors.ts';
import type { ApprovalPlace as StoredPlace, ApprovalStore } from '../store/approvals.ts';
import type { Conversation } from '../store/port.ts';
import type { ApprovalList, ApprovalQuery, ShownApproval } from '../types.ts';
import type { ApprovalIndex, ApprovalPlace } from './approval-index.ts';

const USUAL = 100;

interface Keyed {
  readonly key: string;
  readonly approval: ShownApproval;
}

/** A page of approvals. Rejects with INVALID_REQUEST for a cursor that is none of this list. */
export async function listApprovals(
  index: ApprovalIndex,
  { state = 'pending', block, cursor, limit = USUAL }: ApprovalQuery,
  conversationOf: (block: string) => Promise<Conversation>,
  now: number,
): Promise<ApprovalList> {
  const after = cursor === undefined ? undefined : keyIn(cursor, state);
  if (index.stored !== undefined) return paged(await inStore(index.stored, { state, block, limit }, after, now), state, limit);
  const read = (place: ApprovalPlace, id?: string): Promise<readonly ShownApproval[]> => approvalsAt(place, id, conversationOf, now);
  const found = state === 'pending' ? await pending(index, block, after, read, limit) : await decided(index, state, block, after, read, limit);
  return paged(found, state, limit);
}

function paged(found: readonly Keyed[], state: string, limit: number): ApprovalList {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const isMore = found.length > limit && last !== undefined;
  return { approvals: page.map(({ approval }) => approval), cursor: isMore ? cursorAfter(last.key, state) : null };
}

interface StoredQuery {
  readonly state: ShownApproval['state'];
  readonly block: string | undefined;
  readonly limit: number;
}

/** one-question. One more than the page has, so that it is known whether there is another one. */
async function inStore(store: ApprovalStore, { state, block, limit }: StoredQuery, after: string | undefined, now: number): Promise<Keyed[]> {
  const { decisionsOf, shownStored } = await import('./reply/run/parts.ts');
  const before = after === undefined ? undefined : placeIn(after);
  const decisions = state === 'pending' ? undefined : decisionsOf(state);
  const found = await store.list({ decisions, block, after: decisions === undefined ? stillOpen(before, now) : before, limit: limit + 1 });
  return found.map((one) => {
    const approval = shownStored(one, now);
    return { key: `${approval.decidedAt ?? approval.expiresAt} ${approval.id}`, approval };
  });
}

/** Behind what nobody can decide any more, though nothing has noticed its deadline yet. */
function stillOpen(before: StoredPlace | undefined, now: number): StoredPlace {
  const first = { at: new Date(now + 1).toISOString(), id: '' };
  return before === undefined || before.at < first.at ? first : before;
}

/** A time that is none would be a fault of the statement. */
function placeIn(key: string): StoredPlace {
  const [, time = '', id = ''] = /^(\d{4}-\S+Z) ([\w-]+)$/.exec(key) ?? [];
  const at = Date.parse(time);
  if (Number.isNaN(at)) throw wrongCursor();
  return { at: new Date(at).toISOString(), id };
}

type Read = (place: ApprovalPlace, id?: string) => Promise<readonly ShownApproval[]>;

/** The next deadline first; one more than the page has (page-held). */
async function pending(index: ApprovalIndex, block: string | undefined, after: string | undefined, read: Read, limit: number): Promise<Keyed[]> {
  let found: Keyed[] = [];
  for (const { place } of await index.waiting(block)) {
    for (const approval of await read(place)) {
      const key = `${approval.expiresAt} ${approval.id}`;
      if (approval.state === 'pending' && (after === undefined || key > after)) found.push({ key, approval });
    }
    if (found.length > 2 * limit) found = firstOf(found, limit + 1);
  }
  return firstOf(found, limit + 1);
}

function firstOf(found: readonly Keyed[], count: number): Keyed[] {
  return [...found].sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, count);
}

/** The newest decision first. */
async function decided(
  index: ApprovalIndex,
  state: Exclude<ShownApproval['state'], 'pending'>,
  block: string | undefined,
  after: string | undefined,
  read: Read,
  limit: number,
): Promise<Keyed[]> {
  const found: Keyed[] = [];
  for (const { key, id, ...place } of index.decided(state, block)) {
    if (after !== undefined && key >= after) continue;
    const approval = (await read(place, id)).find((one) => one.id === id);
    if (approval !== undefined) found.push({ key, approval });
    if (found.length > limit) break;
  }
  return found;
}

/** None where the block is gone, or its journal can't be used. */
async function approvalsAt(
  { block, messageId }: ApprovalPlace,
  id: string | undefined,
  conversationOf: (block: string) => Promise<Conversation>,
  now: number,
): Promise<readonly ShownApproval[]> {
  const { approvalOf, approvalsOf } = await import('./reply/run/parts.ts');
  try {
    const conversation = await conversationOf(block);
    const found = id === undefined ? await approvalsOf(conversation, messageId, now) : [await approvalOf(conversation, messageId, id, now)];
    return found.flatMap((approval) => (approval === undefined ? [] : [{ ...approval, block }])); // its journal has the name that the block had then
  } catch (error) {
    const { code } = toBlockhouseError(error);
    if (code === 'BLOCK_NOT_FOUND' || code === 'BLOCK_DAMAGED') return [];
    throw error;
  }
}

function cursorAfter(key: string, state: string): string {
  return Buffer.from(JSON.stringify({ state, key })).toString('base64url');
}

function keyIn(cursor: string, state: string): string {
  const value = tryParseJson(Buffer.from(cursor, 'base64url').toString());
  if (!isObject(value) || value['state'] !== state || typeof value['key'] !== 'string') throw wrongCursor();
  return value['key'];
}

function wrongCursor(): BlockhouseError {
  return invalidRequest('cursor', 'is not one that a page of this list has given; leave it out to begin with the first page');
}
