// Something that a page reads: what is there stays while it is read again, and a failure stands beside it.
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { socket } from './services.ts';

/** What was read last, and how the newest try went. */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  /** Epoch milliseconds of this browser; 0 before the first answer. */
  readonly at: number;
}

/**
 * Reads when the component is shown, when `deps` change, when the connection comes back, and when `reload` is called. Answers that come late are dropped. With
 * `isFollowed`, somebody else calls `reload` when the server has answered the subscription: it is read here only where there is no connection.
 */
export function useLoad<T>(
  read: () => Promise<T>,
  deps: readonly unknown[],
  isFollowed = false,
): { readonly state: Signal<Loaded<T>>; reload(): Promise<void> } {
  const state = useMemo(() => signal<Loaded<T>>({ data: undefined, error: undefined, at: 0 }), []);
  const turn = useMemo(() => ({ last: 0 }), []);
  const reload = async (): Promise<void> => {
    turn.last += 1;
    const mine = turn.last;
    try {
      const data = await read();
      if (mine === turn.last) state.value = { data, error: undefined, at: Date.now() };
    } catch (error) {
      if (mine === turn.last) state.value = { ...state.peek(), error };
    }
  };
  const waits = isFollowed && !(socket.isSettled.value && socket.connection.peek().state !== 'live');
  useEffect(() => {
    if (!waits) void reload();
  }, [...deps, socket.revivals.value, waits]);
  useEffect(
    () => () => {
      turn.last += 1;
    },
    [],
  );
  return { state, reload };
}
