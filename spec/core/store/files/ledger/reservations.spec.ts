// What calls under way may yet cost.
import t from 'tap';
import { Reservations } from '../../../../../core/store/files/ledger/reservations.ts';

const never = new AbortController().signal;

function call(block: string, id: string, usd: number | null, tokens: number) {
  return { block, id, worstCase: { usd, tokens } };
}

t.test('reservations are summed by block, and each is released once', async (t) => {
  const reservations = new Reservations();
  t.equal(reservations.sum('a'), undefined);
  reservations.hold(call('a', '1', 1, 10));
  reservations.hold(call('a', '2', 2, 20));
  reservations.hold(call('b', '3', null, 40));
  t.strictSame(reservations.sum('a'), { usd: 3, tokens: 30 });
  reservations.release({ block: 'a', id: '1' });
  reservations.release({ block: 'a', id: '1' });
  t.strictSame(reservations.sum('a'), { usd: 2, tokens: 20 });
  reservations.release({ block: 'a', id: '2' });
  t.equal(reservations.sum('a'), undefined);
  t.strictSame(reservations.sum('b'), { usd: 0, tokens: 40 });
  reservations.hold(call('a', '4', 8, 80));
  reservations.release({ block: 'a', id: '2' });
  t.strictSame(reservations.sum('a'), { usd: 8, tokens: 80 });
});

t.test('a wait ends at the next release of the block or with its signal', async (t) => {
  const reservations = new Reservations();
  for (const block of ['a', 'b']) reservations.hold(call(block, '1', 1, 1));
  const heard: string[] = [];
  const leaving = new AbortController();
  const waits = [
    reservations.changed('a', never).then(() => heard.push('first')),
    reservations.changed('a', never).then(() => heard.push('second')),
    reservations.changed('a', leaving.signal).then(() => heard.push('left')),
  ];
  reservations.release({ block: 'b', id: '1' });
  leaving.abort();
  await waits[2];
  t.strictSame(heard, ['left'], 'another block is nothing to them');
  reservations.release({ block: 'a', id: '1' });
  await Promise.all(waits);
  t.strictSame(heard, ['left', 'first', 'second']);
  await reservations.changed('a', AbortSignal.abort());
});
