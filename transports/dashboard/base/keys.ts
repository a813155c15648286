// The keys of the page. Exactly the registered keys work, and `?` lists them.
//
// letters-outside-fields: single letters work outside of fields only, and can be turned off.
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** A key, or two in a row (`g f`), and what it does. `mod` is ⌘ on a Mac, Ctrl elsewhere. */
export interface Command {
  readonly keys: string;
  /** What a person would call it. */
  readonly does: string;
  run(event: KeyboardEvent): void;
  /** True if it works inside of fields, too. */
  readonly inFields?: boolean;
  /** Whether it works at this moment and in this place; always, if left out. */
  when?(event: KeyboardEvent): boolean;
}

/** Whether single letters are commands. */
export const singleKeys = signal(true);

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);
/** Time for the second key of two. */
const CHORD_MS = 1500;

/** All that work now, the newest last; a later one wins over an earlier one with the same key. */
export const commands = signal<readonly Command[]>([]);

let first: { readonly key: string; readonly until: number } | undefined;

/** Keys that work while a component is shown. */
export function useKeys(list: readonly Command[], deps: readonly unknown[] = []): void {
  // With the component itself, and not after the next paint: a fast hand would be too early.
  useLayoutEffect(() => {
    commands.value = [...commands.peek(), ...list];
    return () => {
      commands.value = commands.peek().filter((command) => !list.includes(command));
    };
  }, deps as unknown[]);
}

/** Listens for as long as the page lives. */
export function runKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const key = keyOf(event);
    if (key === undefined) return;
    const chord = first !== undefined && first.until > Date.now() ? `${first.key} ${key}` : undefined;
    const command = (chord === undefined ? undefined : found(chord, event)) ?? found(key, event);
    first = undefined;
    if (command !== undefined) {
      event.preventDefault();
      command.run(event);
    } else if (isFree(event, key) && commands.peek().some(({ keys }) => keys.startsWith(`${key} `))) first = { key, until: Date.now() + CHORD_MS };
  });
}

function found(keys: string, event: KeyboardEvent): Command | undefined {
  return commands.peek().findLast((command) => command.keys === keys && (command.inFields === true || isFree(event, keys)) && command.when?.(event) !== false);
}

/** letters-outside-fields. */
function isFree(event: KeyboardEvent, keys: string): boolean {
  const target = event.target as HTMLElement;
  if (target.closest?.('input, textarea, select, [contenteditable]') != null) return false;
  const isSingle = /^\S( \S)?$/.test(keys);
  return !isSingle || singleKeys.value;
}

function keyOf({ key, metaKey, ctrlKey, altKey, shiftKey }: KeyboardEvent): string | undefined {
  if (altKey || key === 'Shift' || key === 'Control' || key === 'Meta') return undefined;
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (IS_MAC ? metaKey : ctrlKey) return `mod+${name}`;
  if (metaKey || ctrlKey) return undefined;
  return shiftKey && key.length > 1 ? `shift+${name}` : name;
}

const SHOWN: Readonly<Record<string, string>> = {
  Enter: '↵',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  'shift+Enter': '⇧↵',
  'shift+ArrowUp': '⇧↑',
  'shift+ArrowDown': '⇧↓',
  'shift+ArrowLeft': '⇧←',
  'shift+ArrowRight': '⇧→',
};

/** The keys as they are printed on the keyboard: `mod+k` is ⌘K or Ctrl+K. */
export function shownKeys(keys: string): readonly string[] {
  return keys.split(' ').map((key) => {
    const known = SHOWN[key];
    if (known !== undefined) return known;
    const plain = key.replace('mod+', IS_MAC ? '⌘' : 'Ctrl+');
    return plain.replace(/[^+⌘]+$/, (name) => SHOWN[name] ?? (name.length === 1 ? name.toUpperCase() : name));
  });
}
