// Ends the work for a request when its caller aborts or disconnects.
import { BlockhouseError } from '../errors.ts';

const ONCE = { once: true } as const;

/** A signal that never fires. Each request gets its own: a shared one would collect the listeners of all requests. */
export const never = (): AbortSignal => new AbortController().signal;

/** The functions to call when a signal fires. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `leave` when `signal` fires, unless `offAbort` comes first. The signal itself gets one listener for all of them: to add and to remove one of
 * its own costs several times as much, and each request on a connection does so twice.
 */
export function onAbort(signal: AbortSignal, leave: () => void): void {
  const known = listeners.get(signal);
  if (known !== undefined) {
    known.add(leave);
    return;
  }
  const all = new Set([leave]);
  listeners.set(signal, all);
  const tellAll = (): void => {
    for (const each of all) each();
  };
  signal.addEventListener('abort', tellAll, ONCE);
}

/** Undoes `onAbort`. */
export function offAbort(signal: AbortSignal, leave: () => void): void {
  listeners.get(signal)?.delete(leave);
}

/** The error of a request whose caller has aborted or disconnected. */
export function callerLeft(cause: unknown, mayHaveRun = false): BlockhouseError {
  return new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { cause, mayHaveRun });
}

/**
 * Runs `task` and settles as it does, or rejects with CANCELLED once `signal` has fired. Work that heeds the signal itself has one turn of the
 * event loop to say how far it came. Of work that does not, nobody knows, so that it may have run.
 */
export function endWhenCallerLeaves<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const fail = (error: unknown): void => {
      offAbort(signal, leave);
      reject(error);
    };
    const leave = (): void => void setImmediate(() => reject(callerLeft(signal.reason, true)));
    onAbort(signal, leave);
    try {
      task().then((result) => {
        offAbort(signal, leave);
        resolve(result);
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
