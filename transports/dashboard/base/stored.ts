// What this browser keeps: values as JSON, in a storage that other programs may have written to.
import { effect, type Signal } from '@preact/signals';

/** The part of `Storage` that is used. */
export type Shelf = Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>;

/** The value at a key; undefined if there is none, or if it is not JSON. */
export function stored(shelf: Shelf, key: string): unknown {
  const text = shelf.getItem(key);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keeps the value of a signal, and takes what another tab keeps in its place. A stored value of another type is left out. */
export function keep<T>(shelf: Shelf, name: string, value: Signal<T>): void {
  const at = `blockhouse.${name}`;
  const initial = value.peek();
  const read = (): void => {
    const found = stored(shelf, at);
    value.value = typeof found === typeof initial && Array.isArray(found) === Array.isArray(initial) ? (found as T) : initial;
  };
  read();
  effect(() => {
    const text = JSON.stringify(value.value);
    if (shelf.getItem(at) !== text && (shelf.getItem(at) !== null || text !== JSON.stringify(initial))) shelf.setItem(at, text);
  });
  addEventListener('storage', ({ key }) => {
    if (key === at) read();
  });
}
