// The files of a block for its tabs: read when the tab is shown, and again when the server says that the block has changed.
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Details } from './block.ts';
import { blockURL } from './blocks.ts';
import { get } from './http.ts';
import { follow } from './socket.ts';

/** What was read last, and what went wrong since. */
export interface Loaded {
  readonly data: Details | undefined;
  readonly error: unknown;
}

const READ_EVERY_MS = 200;

/** The files of a block, kept right while the component is shown. */
export function useDetails(name: string): { readonly state: Signal<Loaded>; reload(): Promise<void> } {
  const state = useMemo(() => signal<Loaded>({ data: undefined, error: undefined }), [name]);
  const reload = async (): Promise<void> => {
    try {
      state.value = { data: await get<Details>(blockURL(name)), error: undefined };
    } catch (error) {
      state.value = { ...state.peek(), error };
    }
  };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    void reload();
    const stop = follow({
      begin: () => ({ type: 'subscribe', block: name }),
      end: () => ({ type: 'unsubscribe', block: name }),
      take(frame) {
        if (frame['block'] !== name || (frame.type !== 'refresh' && frame.type !== 'gone')) return false;
        timer ??= setTimeout(() => {
          timer = undefined;
          void reload();
        }, READ_EVERY_MS);
        return true;
      },
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [name]);
  return { state, reload };
}
