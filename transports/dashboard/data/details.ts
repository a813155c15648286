// The files of a block for its tabs: read when the tab is shown, and again when the server says that the block has changed.
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
  const loaded = useLoad(() => get<Details>(blockURL(name)), [name]);
  useEffect(() => {
    let cancel: (() => void) | undefined;
    const end = socket.follow({
      begin: () => ({ type: 'subscribe', block: name }),
      end: () => ({ type: 'unsubscribe', block: name }),
      take(frame) {
        if (frame['block'] !== name || (frame.type !== 'refresh' && frame.type !== 'gone')) return false;
        cancel ??= timers.after(READ_EVERY_MS, () => {
          cancel = undefined;
          void loaded.reload();
        });
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
