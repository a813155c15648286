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

t.test('one key has three quarters of the places of a block, and of all, and no more: others have the rest', async (t) => {
  const waits = new BlockWaits();
  const [greedy, other] = [keyWith('greedy', null), keyWith('other')];
  const leaves = Array.from({ length: 24 }, () => waits.enter('a', greedy));
  t.throws(() => waits.enter('a', greedy), { code: 'QUEUE_FULL', message: /24 connections of the key greedy wait for the block a/, retryAfterMs: 5000 });
  for (let n = 0; n < 8; n += 1) t.doesNotThrow(() => waits.enter('a', n % 2 === 0 ? other : undefined));
  leaves[0]?.();
  t.doesNotThrow(() => waits.enter('a', greedy));
  for (let n = 24; n < 384; n += 1) waits.enter(`b${n % 30}`, greedy);
  t.throws(() => waits.enter('c', greedy), { code: 'QUEUE_FULL', message: /384 connections of the key greedy wait for blocks/ });
  t.doesNotThrow(() => waits.enter('c', other));
  t.doesNotThrow(() => waits.enter('c', undefined));
});

t.test('each core counts its own', async (t) => {
  const [one, other] = [{} as Core, {} as Core];
  t.equal(waitsOf(one), waitsOf(one));
  t.not(waitsOf(one), waitsOf(other));
});
