import t from 'tap';
import type { Core, NamedKey } from '../../../../core/index.ts';
import { BlockWaits, waitsOf } from '../../../../transports/http/handlers/block-waits.ts';

const keyWith = (name: string, ...inFlight: (number | null)[]) => ({ name, bounds: inFlight.map((most) => ({ inFlight: most })) }) as unknown as NamedKey;

t.test('32 connections wait for a block, and the next one is refused until one has left', async (t) => {
  const waits = new BlockWaits();
  const leaves = Array.from({ length: 32 }, () => waits.enter('a', undefined));
  t.throws(() => waits.enter('a', undefined), { code: 'QUEUE_FULL', message: /32 connections wait for the block a/, retryAfterMs: 5000 });
  t.doesNotThrow(() => waits.enter('b', undefined));
  leaves[0]?.();
  t.doesNotThrow(() => waits.enter('a', undefined));
  t.throws(() => waits.enter('a', undefined), { code: 'QUEUE_FULL' });
});

t.test('512 connections wait for blocks in all', async (t) => {
  const waits = new BlockWaits();
  const leaves = Array.from({ length: 512 }, (_, n) => waits.enter(`b${n % 16}`, undefined));
  t.throws(() => waits.enter('other', undefined), { code: 'QUEUE_FULL', message: /512 connections wait for blocks/ });
  leaves.at(-1)?.();
  t.doesNotThrow(() => waits.enter('other', undefined));
});

t.test('a key has no more connections that wait than calls at a time, by its own limit and by that of its group', async (t) => {
  const waits = new BlockWaits();
  const key = keyWith('app', 3, 2);
  const leave = waits.enter('a', key);
  waits.enter('b', key);
  t.throws(() => waits.enter('c', key), { code: 'QUEUE_FULL', message: /2 connections of the key app/ });
  t.doesNotThrow(() => waits.enter('c', keyWith('other', null)), 'another key');
  leave();
  t.doesNotThrow(() => waits.enter('c', key));
});

t.test('each core counts its own', async (t) => {
  const [one, other] = [{} as Core, {} as Core];
  t.equal(waitsOf(one), waitsOf(one));
  t.not(waitsOf(one), waitsOf(other));
});
