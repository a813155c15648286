// Ends the work for a request when its caller aborts or disconnects.
import { BlockhouseError } from '../errors.ts';
import { LinkedList, type Place } from './linked-list.ts';

const ONCE = { once: true } as const;

/** A signal that never fires. Each request gets its own: a shared one would collect the listeners of all requests. */
export const never = (): AbortSignal => new AbortController().signal;

/**
 * A signal that fires after `ms`. Unlike that of `AbortSignal.timeout` alone it does so within `AbortSignal.any`, too, which does not keep its parts: Node 20 forgets a time
 * limit that nothing else refers to. A listener keeps it.
 */
export function timeLimit(ms: number): AbortSignal {
  const limit = AbortSignal.timeout(ms);
  limit.addEventListener('abort', () => undefined, ONCE);
  return limit;
}

/** The functions to call when a signal fires. */
const listeners = new WeakMap<AbortSignal, LinkedList<() => void>>();

/**
 * Calls `leave` when `signal` fires, unless `offAbort` comes first with the place that this returns. The signal itself gets one listener for all of them: to add and to remove one of
 * its own costs several times as much, and each request on a connection does so twice.
 */
export function onAbort(signal: AbortSignal, leave: () => void): Place<() => void> {
  const known = listeners.get(signal);
  if (known !== undefined) return known.add(leave);
  const all = new LinkedList<() => void>();
  listeners.set(signal, all);
  const tellAll = (): void => {
    for (const each of [...all].reverse()) each();
  };
  signal.addEventListener('abort', tellAll, ONCE);
  return all.add(leave);
}

/** Undoes `onAbort`. */
export function offAbort(place: Place<() => void>): void {
  place.list?.leave(place);
}

/** The error of a request whose caller has aborted or disconnected. */
export function callerLeft(cause: unknown, mayHaveRun = false): BlockhouseError {
  return new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { cause, mayHaveRun });
}

/** The caller of some work has left. Takes the rest of the work, and returns the signal that ends it. */
export type GoOn<T> = (rest: Promise<T>) => AbortSignal | undefined;

/**
 * Runs `task` and settles as it does, or rejects with CANCELLED once `signal` has fired. Work that heeds the signal itself has one turn of the
 * event loop to say how far it came. Work that does not say so counts as work that may have run. `onEnd` is called once, when the work has ended.
 *
 * With `goOn`, the work is not given up when its caller leaves: `goOn` gets the rest of it, which it must handle, and returns the signal that ends it, or undefined to
 * have it end now.
 */
export function endWhenCallerLeaves<T>(task: () => Promise<T>, signal: AbortSignal, onEnd: () => void, goOn?: GoOn<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let hasEnded = false;
    const end = (): boolean => {
      if (hasEnded) return false;
      hasEnded = true;
      offAbort(place);
      onEnd();
      return true;
    };
    const fail = (error: unknown): void => {
      if (end()) reject(error);
    };
    const leave = (): void => {
      const left = callerLeft(signal.reason, true);
      let until: AbortSignal | undefined;
      if (!hasEnded && goOn !== undefined) {
        reject(left);
        until = goOn(
          new Promise<T>((resolveRest, rejectRest) => {
            resolve = resolveRest;
            reject = rejectRest;
          }),
        );
      }
      if (until === undefined || until.aborted) fail(left);
      else place = onAbort(until, () => void setImmediate(fail, left));
    };
    let place = onAbort(signal, () => void setImmediate(leave));
    try {
      task().then((result) => {
        if (end()) resolve(result);
      }, fail);
    } catch (error) {
      fail(error);
    }
  });
}

/** Rejects with CANCELLED as soon as `signal` fires. Resolves early when `closing` fires: the next attempt is refused then. */
export function sleep(ms: number, signal: AbortSignal, closing: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      closing.removeEventListener('abort', wake);
      settle();
    };
    const cancel = (): void => end(() => reject(callerLeft(signal.reason)));
    const wake = (): void => end(resolve);
    const timer = setTimeout(wake, ms);
    if (signal.aborted) return cancel();
    if (closing.aborted) return wake();
    signal.addEventListener('abort', cancel, ONCE);
    closing.addEventListener('abort', wake, ONCE);
  });
}

/** Throws SHUTTING_DOWN once `closing` has fired. */
export function assertOpen(closing: AbortSignal): void {
  if (closing.aborted) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
}
