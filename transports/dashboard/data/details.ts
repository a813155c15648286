// The files of a block for its tabs: read when the server has answered the subscription, and again when it says that the block has changed.
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { timers } from '../base/clock.ts';
import { get } from './http.ts';
import { type Loaded, useLoad } from './load.ts';
import type { Details } from './open-block.ts';
import { blockURL } from './paths.ts';
import { socket } from './services.ts';

const READ_EVERY_MS = 200;

/** The files of a block, kept right while the component is shown. */
export function useDetails(name: string): { readonly state: Signal<Loaded<Details>>; reload(): Promise<void> } {
  return useFollowed(name, () => get<Details>(blockURL(name)));
}

/** What is read of a block, kept right while the component is shown. */
export function useFollowed<T>(name: string, read: () => Promise<T>): { readonly state: Signal<Loaded<T>>; reload(): Promise<void> } {
  const loaded = useLoad(read, [name], true);
  useEffect(() => {
    let cancel: (() => void) | undefined;
    let isAnswered = false;
    const end = socket.follow({
      begin() {
        isAnswered = false;
        return { type: 'subscribe', block: name };
      },
      end: () => ({ type: 'unsubscribe', block: name }),
      take(frame) {
        if (frame['block'] !== name || !['refresh', 'gone', 'error'].includes(frame.type)) return false;
        cancel ??= timers.after(isAnswered ? READ_EVERY_MS : 0, () => {
          cancel = undefined;
          void loaded.reload();
        });
        isAnswered = true;
        return true;
      },
    });
    return () => {
      end();
      cancel?.();
    };
  }, [name]);
  return loaded;
}
