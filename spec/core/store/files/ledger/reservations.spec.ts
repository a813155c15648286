// What calls under way may yet cost.
import t from 'tap';
import { Reservations } from '../../../../../core/store/files/ledger/reservations.ts';

const never = new AbortController().signal;

t.test('reservations are summed by block, and each is released once', async (t) => {
  const reservations = new Reservations();
  t.equal(reservations.sum('a'), undefined);
  const first = reservations.hold('a', { usd: 1, tokens: 10 });
  const second = reservations.hold('a', { usd: 2, tokens: 20 });
  reservations.hold('b', { usd: 4, tokens: 40 });
  t.strictSame(reservations.sum('a'), { usd: 3, tokens: 30 });
  first.release();
  first.release();
  t.strictSame(reservations.sum('a'), { usd: 2, tokens: 20 });
  second.release();
  t.equal(reservations.sum('a'), undefined);
  t.strictSame(reservations.sum('b'), { usd: 4, tokens: 40 });
  reservations.hold('a', { usd: 8, tokens: 80 });
  second.release();
  t.strictSame(reservations.sum('a'), { usd: 8, tokens: 80 });
});

t.test('a wait ends at the next release of the block or with its signal', async (t) => {
  const reservations = new Reservations();
  const [a, b] = ['a', 'b'].map((name) => reservations.hold(name, { usd: 1, tokens: 1 }));
  const heard: string[] = [];
  const leaving = new AbortController();
  const waits = [
    reservations.changed('a', never).then(() => heard.push('first')),
    reservations.changed('a', never).then(() => heard.push('second')),
    reservations.changed('a', leaving.signal).then(() => heard.push('left')),
  ];
  b?.release();
  leaving.abort();
  await waits[2];
  t.strictSame(heard, ['left'], 'another block is nothing to them');
  a?.release();
  await Promise.all(waits);
  t.strictSame(heard, ['left', 'first', 'second']);
  await reservations.changed('a', AbortSignal.abort());
});
