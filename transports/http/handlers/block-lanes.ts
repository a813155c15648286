// What clients ask of blocks, in an order that holds up nobody.
//
// one-lane: what one caller reads is read one after the other, also over several connections and in a batch. A conversation has megabytes, a list of blocks may take a database
//   some time, and to read needs no place as a wait does.
// few-at-once: of the messages that one caller sends, a few are queued beside each other. A database has some connections, which all blocks share, also to write their answers.
// read-together: those who want the same page of the list of blocks while it is read share the next reading of it, which begins after all of them have asked.
// own-turn: each begins in a turn of the event loop of its own, in which callers take turns.
import { nextTurn } from '../../../core/base/next-turn.ts';
import { BlockhouseError, type Core } from '../../../core/index.ts';
import { unreadAnswers } from '../wire/unread-answers.ts';
import type { RouteContext } from '../wire/route.ts';

/** Who asks. */
export type Sender = Pick<RouteContext, 'core' | 'res' | 'signal'>;

/** few-at-once. */
const SENT_AT_ONCE = 2;

type Pages = Core['blocks']['page'];
type Page = Awaited<ReturnType<Pages>>;

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/** The lanes that are in use, by their caller. */
type Lanes = WeakMap<Core, Map<string, Lane>>;
const reading: Lanes = new WeakMap();
const sending: Lanes = new WeakMap();

/** What `read` resolves with, when it is its turn. Rejects with CANCELLED for a client that has left meanwhile. one-lane. */
export function inLane<T>(sender: Sender, read: () => Promise<T>): Promise<T> {
  return inOrder(reading, 1, sender, read);
}

/** The same for what sends a message. few-at-once. */
export function inSendingLane<T>(sender: Sender, send: () => Promise<T>): Promise<T> {
  return inOrder(sending, SENT_AT_ONCE, sender, send);
}

async function inOrder<T>(lanes: Lanes, most: number, { core, res, signal }: Sender, work: () => Promise<T>): Promise<T> {
  const caller = unreadAnswers.ownerOf(res);
  const ofCore = lanes.get(core) ?? new Map<string, Lane>();
  lanes.set(core, ofCore);
  const lane = ofCore.get(caller) ?? { running: 0, waiting: [] };
  ofCore.set(caller, lane);
  if (lane.running < most) lane.running += 1;
  else await new Promise<void>((begin) => lane.waiting.push(begin));
  try {
    await nextTurn(caller); // own-turn
    if (signal.aborted) throw new BlockhouseError('CANCELLED', 'The client closed the connection before it was its turn.');
    return await work();
  } finally {
    const next = lane.waiting.shift();
    if (next !== undefined) next();
    else lane.running -= 1;
    if (lane.running === 0) ofCore.delete(caller);
  }
}

interface Reading {
  readonly now: Promise<unknown>;
  next?: Promise<Page>;
}

/** The readings under way, by what they read. */
const pages = new WeakMap<Core, Map<string, Reading>>();

/** A page of the list of blocks, as it is when this is called or later. Rejects as `blocks.page` does. read-together. */
export function pageOfBlocks(core: Core, query: Parameters<Pages>[0]): Promise<Page> {
  const ofCore = pages.get(core) ?? new Map<string, Reading>();
  pages.set(core, ofCore);
  const name = JSON.stringify(query);
  const read = (): Promise<Page> => {
    const page = core.blocks.page(query);
    const reading: Reading = { now: page.catch(() => undefined) }; // the failure is that of those who wait for the page
    ofCore.set(name, reading);
    void reading.now.then(() => reading.next === undefined && ofCore.delete(name));
    return page;
  };
  const reading = ofCore.get(name);
  if (reading === undefined) return read();
  reading.next ??= reading.now.then(read);
  return reading.next;
}
