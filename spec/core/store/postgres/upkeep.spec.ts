import t from 'tap';
import { Upkeep } from '../../../../core/store/postgres/upkeep.ts';
import { fakeTimers } from '../../../support/fake-timers.ts';

class Failing extends Upkeep {
  count = 0;
  seen: boolean[] = [];

  async keep(): Promise<void> {
    this.count += 1;
    this.seen.push(this.isClosed);
    await Promise.resolve();
    throw new Error(`failed ${this.count}`);
  }
}

t.test('upkeep is done at the start and by time, its faults are passed on, and after the end nothing is', async (t) => {
  const pass = fakeTimers(t);
  const faults: string[] = [];
  const upkeep = new Failing(1000, (error) => faults.push((error as Error).message));
  upkeep.start();
  await pass(999);
  t.same(faults, ['failed 1']);
  await pass(1);
  t.same(faults, ['failed 1', 'failed 2']);
  upkeep.close();
  await pass(1000);
  t.equal(upkeep.count, 2);
  const left = new Failing(1000, () => t.fail('nobody is there any more'));
  left.start();
  left.close();
  await pass(1000);
  t.same(left.seen, [false]);
});
