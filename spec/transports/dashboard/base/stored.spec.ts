import { signal } from '@preact/signals';
import t from 'tap';
import { keep, stored } from '../../../../transports/dashboard/base/stored.ts';
import { MemoryShelf } from '../../../support/shelf.ts';

t.test('what is not JSON is as if nothing were stored', async (t) => {
  const shelf = new MemoryShelf();
  t.equal(stored(shelf, 'a'), undefined);
  shelf.setItem('a', '{');
  t.equal(stored(shelf, 'a'), undefined);
  shelf.setItem('a', '{"b":1}');
  t.strictSame(stored(shelf, 'a'), { b: 1 });
});

t.test('a kept signal begins with its stored value, stores each change, and follows another tab', async (t) => {
  const told: ((event: { readonly key: string }) => void)[] = [];
  t.intercept(globalThis, 'addEventListener', { value: (_name: string, listener: (event: { readonly key: string }) => void) => told.push(listener) });
  const shelf = new MemoryShelf();
  shelf.setItem('blockhouse.theme', '"dark"');
  shelf.setItem('blockhouse.pinned', '"no list"');
  const [theme, pinned] = [signal('system'), signal<readonly string[]>([])];
  keep(shelf, 'theme', theme);
  keep(shelf, 'pinned', pinned);
  t.equal(theme.value, 'dark');
  t.strictSame(pinned.value, [], 'a value of another type is left out');
  theme.value = 'light';
  t.equal(shelf.getItem('blockhouse.theme'), '"light"');
  shelf.setItem('blockhouse.theme', '"system"');
  for (const tell of told) tell({ key: 'blockhouse.theme' });
  t.equal(theme.value, 'system');
});

t.test('a setting that nobody has changed takes no room', async (t) => {
  t.intercept(globalThis, 'addEventListener', { value: () => undefined });
  const shelf = new MemoryShelf();
  keep(shelf, 'readAloud', signal(false));
  t.equal(shelf.length, 0);
});
