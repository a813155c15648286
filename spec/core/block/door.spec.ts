import t from 'tap';
import { Door } from '../../../core/block/door.ts';
import { gate } from '../../support/stepped-adapter.ts';

t.test('who comes in does what it came for, and has its own failure', async (t) => {
  const door = new Door();
  door.assertOpen();
  t.equal(await door.pass(async () => 5), 5);
  await t.rejects(
    door.pass(() => Promise.reject(new Error('no'))),
    { message: 'no' },
  );
  await door.emptied();
});

t.test('once it is shut nobody comes in', async (t) => {
  const door = new Door();
  door.shut();
  t.throws(() => door.assertOpen(), { code: 'SHUTTING_DOWN', status: 503 });
  await t.rejects(
    door.pass(async () => t.fail('nothing is done')),
    { code: 'SHUTTING_DOWN' },
  );
});

t.test('it is empty when the last one that was in has left, also by a failure', async (t) => {
  const door = new Door();
  const [first, second] = [gate(), gate()];
  const order: string[] = [];
  const failing = door.pass(async () => {
    await first.opened;
    order.push('first');
    throw new Error('no');
  });
  const going = door.pass(async () => {
    await second.opened;
    order.push('second');
  });
  door.shut();
  const emptied = door.emptied().then(() => order.push('empty'));
  first.open();
  await t.rejects(failing, { message: 'no' });
  second.open();
  await Promise.all([going, emptied]);
  t.same(order, ['first', 'second', 'empty']);
});
