// The files of a block for its tabs: read when the tab is shown, and again when the server says that the block has changed.
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { get } from './http.ts';
import type { Details } from './open-block.ts';
import { blockURL } from './paths.ts';
import { socket } from './services.ts';

/** What was read last, and what went wrong since. */
export interface Loaded {
  readonly data: Details | undefined;
  readonly error: unknown;
}

const READ_EVERY_MS = 200;

/** Calls `changed` whenever the server says that a block has changed, while the component is shown. */
export function useChanges(name: string, changed: () => unknown): void {
  useEffect(
    () =>
      socket.follow({
        begin: () => ({ type: 'subscribe', block: name }),
        end: () => ({ type: 'unsubscribe', block: name }),
        take(frame) {
          if (frame['block'] !== name || (frame.type !== 'refresh' && frame.type !== 'gone')) return false;
          changed();
          return true;
        },
      }),
    [name],
  );
}

/** The files of a block, kept right while the component is shown. */
export function useDetails(name: string): { readonly state: Signal<Loaded>; reload(): Promise<void> } {
  const state = useMemo(() => signal<Loaded>({ data: undefined, error: undefined }), [name]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const reload = async (): Promise<void> => {
    try {
      state.value = { data: await get<Details>(blockURL(name)), error: undefined };
    } catch (error) {
      state.value = { ...state.peek(), error };
    }
  };
  useEffect(() => {
    void reload();
    return () => clearTimeout(timer.current);
  }, [name]);
  useChanges(name, () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void reload();
    }, READ_EVERY_MS);
  });
  return { state, reload };
}
