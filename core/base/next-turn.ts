// Turns of the event loop for work that is done in slices or comes in bursts, so that others are served between them.
//
// one-each: of those who wait for a turn of their own, each turn goes to one.
// round: callers have turns one after the other, so that many waits of one caller don't stand before those of another.
// bounded-turn: short work waits only while this turn has no room: once its short work has taken TURN_MS, or while others wait. Those who waited share turns of TURN_MS.
// short-first: a turn goes to the short work that waits, and then to one who has it alone. Else the requests of a quiet caller would come to one a turn while
//   another caller sends large bodies, and would wait for seconds.
// no-starving: after short work that has used up its time, those who want a turn alone share ALONE_MS, one after the other. A large body has hundreds of pieces, most of them
//   short, and one of them beside 10 ms of others would take it seconds.
// long-turns: after a turn that others have made long, as by reading, those who want a turn alone share half as much time as it took, up to SHARE_MS. Else the hundreds of pieces of
//   a large body would come to one a turn for as long as somebody floods the server.
// newcomers-first: the system hands over one new connection in each turn. While they come, there is no room, and for NEWCOMERS_MS at a time nobody has a turn: else the
//   connections of one client, with work for each of them, would stand for seconds before those of others.

/** Much more than a turn of a busy server needs for usual requests. */
const TURN_MS = 10;
const ALONE_MS = 5;
/** long-turns. */
const SHARE_MS = 25;
/** Hundreds of new connections on a quiet machine, dozens on a busy one. */
const NEWCOMERS_MS = 20;

/** Those who wait, by their caller; the first caller has the next turn. */
type Waiting = Map<string, (() => void)[]>;
/** For a turn of their own (one-each). */
const alone: Waiting = new Map();
/** For a turn that others may share. */
const short: Waiting = new Map();
/** When the short work of this turn began; undefined if there was none yet. */
let beganAt: number | undefined;
let hasNewcomer = false;
/** Since when newcomers hold up those who wait. */
let heldSince: number | undefined;
let isDue = false;
/** When this turn began for those who wait. */
let waitingSince = 0;

/** Resolves in a turn of the event loop that nobody else gets of those who wait for one here (one-each, round). */
export function nextTurn(caller = ''): Promise<void> {
  return wait(alone, caller);
}

/** True if short work may begin in this turn (bounded-turn). */
export function hasRoom(): boolean {
  if (isAwaited() || hasNewcomer) return false;
  const now = performance.now();
  beganAt ??= now;
  endSoon();
  return now - beganAt < TURN_MS;
}

/** Resolves in a turn that others may share (bounded-turn, round). */
export function sharedTurn(caller: string): Promise<void> {
  return wait(short, caller);
}

/** Somebody new has come, and there may be more (newcomers-first). */
export function letNewcomersIn(): void {
  hasNewcomer = true;
  endSoon();
}

function wait(waiting: Waiting, caller: string): Promise<void> {
  return new Promise((begin) => {
    const own = waiting.get(caller);
    if (own === undefined) waiting.set(caller, [begin]);
    else own.push(begin);
    endSoon();
  });
}

function endSoon(): void {
  if (isDue) return;
  waitingSince = performance.now();
  goOn();
}

function goOn(): void {
  isDue = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  isDue = false;
  beganAt = undefined;
  const mayCome = hasNewcomer;
  hasNewcomer = false;
  if (!isAwaited()) return;
  const now = performance.now();
  heldSince = mayCome ? (heldSince ?? now) : undefined;
  if (heldSince !== undefined && now - heldSince < NEWCOMERS_MS) {
    goOn(); // newcomers-first
    return;
  }
  heldSince = undefined;
  giveUntil(now + TURN_MS, Math.min((now - waitingSince) / 2, SHARE_MS));
}

function isAwaited(): boolean {
  return short.size > 0 || alone.size > 0;
}

/** short-first. `share`: of the time of those who want a turn alone, in milliseconds (long-turns). */
function giveUntil(end: number, share: number): void {
  if (!giveOne(short)) {
    giveAlone(share > ALONE_MS ? performance.now() + share : 0); // one-each
    return;
  }
  afterIt(() => {
    if (performance.now() < end) giveUntil(end, share);
    else giveAlone(performance.now() + Math.max(ALONE_MS, share));
  });
}

/** One has its turn, and until `end` others, too (no-starving, long-turns). */
function giveAlone(end: number): void {
  const next = (): void => {
    if (performance.now() < end) giveAlone(end);
    else if (isAwaited()) endSoon(); // not before: their own work is not that of others (long-turns)
  };
  if (giveOne(alone)) afterIt(next);
  else if (isAwaited()) endSoon();
}

/** What has begun goes on in microtasks. A tick comes after them all. */
function afterIt(next: () => void): void {
  isDue = true;
  queueMicrotask(() =>
    process.nextTick(() => {
      isDue = false;
      next();
    }),
  );
}

/** True if somebody waited. */
function giveOne(waiting: Waiting): boolean {
  for (const [caller, own] of waiting) {
    const begin = own.shift();
    waiting.delete(caller);
    if (own.length > 0) waiting.set(caller, own); // round
    begin?.();
    return true;
  }
  return false;
}
