// The list of blocks, kept right by the server's feed of changes.
//
// never-emptied: what is shown stays until what replaces it is there; each block keeps its own signal, so that a change draws one row.
import { computed, type Signal, signal } from '@preact/signals';
import type { BlockEntry, BlockState } from '../../../core/types.ts';
import type { Frame } from './frame.ts';
import { halt } from './halt.ts';
import { call } from './http.ts';
import { socket } from './services.ts';

/** A block as the list has it. */
export type Entry = BlockEntry;

/** A block of the list; its signal changes with it. */
export type Row = Signal<Entry>;

/** The rows by name. The map is replaced when blocks come or go; a row's own signal tells of its changes. */
export const rows = signal<ReadonlyMap<string, Row>>(new Map());
/** False until the list is there for the first time. */
export const isListed = signal(false);
/** Grows with every change of any row, at most twice a second. */
export const changes = signal(0);

/** States in which a block does something. */
const AT_WORK: ReadonlySet<BlockState> = new Set(['working', 'starting', 'stopping', 'compacting', 'backoff']);

/** The group that a block belongs to in the fleet's filter. */
export type Group = 'work' | 'needs' | 'idle' | 'asleep';

/** True for a block that does nothing until somebody starts it. A block that is stopping can already be started again. */
export function isAsleep(state: string): boolean {
  return state === 'stopped' || state === 'stopping' || state === 'failed' || state === 'unconfigured';
}

/** True for a block that is meant to run, also while it waits for something or has failed. Its own page knows its `state` before the list does. */
export function isWanted(name: string, state?: string): boolean {
  if (state === 'stopped' || state === 'stopping') return false;
  return (state !== undefined && !isAsleep(state)) || rows.peek().get(name)?.peek().config.enabled === true;
}

/** True for a block whose messages wait for its model. */
export function lacksModel({ state, queue }: Pick<BlockEntry, 'state' | 'queue'>): boolean {
  return state === 'unconfigured' && queue > 0;
}

/** True for a block that needs a person. While model calls are halted, a line across every page says so once, and not each block that waits for the release. */
export function needsPerson(entry: Pick<BlockEntry, 'attention' | 'state' | 'queue'>): boolean {
  return lacksModel(entry) || (entry.attention && !(entry.state === 'paused' && halt.value?.halted === true));
}

/** What a block is counted as: one group for each. */
export function groupOf(entry: Pick<BlockEntry, 'attention' | 'state' | 'queue'>): Group {
  const { state } = entry;
  if (needsPerson(entry)) return 'needs';
  if (AT_WORK.has(state)) return 'work';
  return state === 'idle' ? 'idle' : 'asleep';
}

/** How many blocks each group has. */
export const counts = computed(() => {
  changes.value;
  const sums = { all: rows.value.size, work: 0, needs: 0, idle: 0, asleep: 0, asks: 0 };
  for (const row of rows.value.values()) {
    sums[groupOf(row.peek())] += 1;
    if (row.peek().state === 'waiting-approval') sums.asks += 1;
  }
  return sums;
});
/** How many wait for a decision. */
export const asks = computed(() => counts.value.asks);

/** Grows with every change that the server tells, and not when the list is read. */
export let told = 0;

let seq: number | undefined;
/** The ETag of the list; undefined once a row has changed. */
let listTag: string | undefined;

/** Follows the fleet until the page ends. */
export function runFleet(): void {
  socket.follow({
    begin: () => ({ type: 'subscribe', fleet: true, ...(seq !== undefined && { since: seq }) }),
    end: () => ({ type: 'unsubscribe', fleet: true }),
    take(frame) {
      if (frame.type !== 'fleet') return false;
      takeChanges(frame);
      return true;
    },
  });
}

type List = { readonly blocks: readonly Entry[] };

/** Reads the whole list, page after page where it is long. Rejects with an ApiError. */
export async function readFleet(): Promise<void> {
  const { status, data, etag, next } = await call<List>('GET', '/api/blocks', listTag === undefined ? {} : { headers: { 'if-none-match': listTag } });
  if (status === 304) return;
  const blocks = [...data.blocks];
  for (let path = next; path !== undefined; ) {
    const page = await call<List>('GET', path);
    blocks.push(...page.data.blocks);
    path = page.next;
  }
  listTag = next === undefined ? etag : undefined;
  const known = rows.peek();
  rows.value = new Map(blocks.map((entry) => [entry.name, placed(known.get(entry.name), entry)]));
  isListed.value = true;
  changes.value += 1;
}

function placed(row: Row | undefined, entry: Entry): Row {
  if (row === undefined) return signal(entry);
  row.value = entry;
  return row;
}

function takeChanges(frame: Frame): void {
  const { reset, changed, gone } = frame as unknown as { reset: boolean; changed: readonly Entry[]; gone: readonly string[] };
  seq = frame['seq'] as number;
  if (reset || !isListed.peek()) {
    void readFleet().catch(() => {
      seq = undefined; // the next connection reads it
    });
    return;
  }
  if (changed.length + gone.length === 0) return;
  told += 1;
  listTag = undefined;
  const known = rows.peek();
  const isNew = changed.some(({ name }) => !known.has(name));
  const next = isNew || gone.length > 0 ? new Map(known) : known;
  for (const entry of changed) {
    const row = placed(known.get(entry.name), entry);
    if (next !== known) (next as Map<string, Row>).set(entry.name, row);
  }
  if (next !== known) {
    for (const name of gone) (next as Map<string, Row>).delete(name);
    rows.value = next;
  }
  changes.value += 1;
}
