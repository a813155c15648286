// What this browser has been told to do: theme, keys, pinned blocks. Kept in localStorage of this origin.
import { effect, type Signal, signal } from '@preact/signals';

/** `system` follows the operating system. */
export const theme = kept<'system' | 'light' | 'dark'>('theme', 'system');
/** Whether single letters are commands. */
export const singleKeys = kept('singleKeys', true);
/** `enter` sends with ↵, `mod` with ⌘↵. */
export const sendWith = kept<'enter' | 'mod'>('sendWith', 'enter');
/** Whether complete answers are read aloud by a screen reader. */
export const readAloud = kept('readAloud', false);
/** Names of blocks, in their order. */
export const pinned = kept<readonly string[]>('pinned', []);

/** Shows the chosen theme. */
export function runTheme(): void {
  effect(() => {
    if (theme.value === 'system') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', theme.value);
  });
}

function kept<T>(name: string, initial: T): Signal<T> {
  const at = `blockhouse.${name}`;
  const value = signal(read(at, initial));
  effect(() => {
    const text = JSON.stringify(value.value);
    if (localStorage.getItem(at) !== text && (localStorage.getItem(at) !== null || text !== JSON.stringify(initial))) localStorage.setItem(at, text);
  });
  addEventListener('storage', ({ key }) => {
    if (key === at) value.value = read(at, initial);
  });
  return value;
}

function read<T>(at: string, initial: T): T {
  const text = localStorage.getItem(at);
  if (text === null) return initial;
  try {
    const value = JSON.parse(text) as T;
    return typeof value === typeof initial && Array.isArray(value) === Array.isArray(initial) ? value : initial;
  } catch {
    return initial;
  }
}
