// What agents read, in an order that holds up nobody.
//
// one-lane: what one caller reads is read one after the other, also over several connections and in a batch. A conversation has megabytes, and reading one needs no place as a
//   wait does.
// own-turn: each read begins in a turn of the event loop of its own, in which callers take turns.
import { nextTurn } from '../../../../core/base/next-turn.ts';
import { BlockhouseError, type Core } from '../../../../core/index.ts';
import { unreadAnswers } from '../../wire/unread-answers.ts';
import type { RouteContext } from '../../wire/route.ts';

type Sender = Pick<RouteContext, 'core' | 'res' | 'signal'>;

/** The end of each lane that is in use, by its caller. */
const lanes = new WeakMap<Core, Map<string, Promise<unknown>>>();

/** What `read` resolves with, when it is its turn. Rejects with CANCELLED for a client that has left meanwhile. */
export async function inLane<T>({ core, res, signal }: Sender, read: () => Promise<T>): Promise<T> {
  const caller = unreadAnswers.ownerOf(res);
  const ofCore = lanes.get(core) ?? new Map<string, Promise<unknown>>();
  lanes.set(core, ofCore);
  const before = ofCore.get(caller);
  const mine = (async () => {
    await before; // it never rejects
    await nextTurn(caller);
    if (signal.aborted) throw new BlockhouseError('CANCELLED', 'The client closed the connection before it was its turn.');
    return read();
  })();
  const end = mine.then(
    () => undefined,
    () => undefined, // it is the caller's
  );
  ofCore.set(caller, end);
  try {
    return await mine;
  } finally {
    if (ofCore.get(caller) === end) ofCore.delete(caller);
  }
}
