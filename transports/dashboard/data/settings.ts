// The preferences of this browser: theme, keys, pinned blocks. Kept in a storage of this origin.
import { effect, signal } from '@preact/signals';
import { singleKeys } from '../base/keys.ts';
import { keep, type Shelf } from '../base/stored.ts';

/** `system` follows the operating system. */
export const theme = signal<'system' | 'light' | 'dark'>('system');
/** `enter` sends with ↵, `mod` with ⌘↵. */
export const sendWith = signal<'enter' | 'mod'>('enter');
/** Whether complete answers are read aloud by a screen reader. */
export const readAloud = signal(false);
/** Whether the browser tells of blocks that begin to need a person. */
export const notify = signal(false);
/** Names of blocks, in their order. */
export const pinned = signal<readonly string[]>([]);

/** Takes what is kept, keeps what changes, and shows the chosen theme. */
export function runSettings(shelf: Shelf): void {
  for (const [name, value] of Object.entries({ theme, singleKeys, sendWith, readAloud, notify, pinned })) keep<unknown>(shelf, name, value);
  effect(() => {
    if (theme.value === 'system') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', theme.value);
  });
}
