import t, { type Test } from 'tap';
import { pair } from '../../support/block-files.ts';
import { type StartedCore, startCore } from '../../support/blocks.ts';
import { countFlushes } from '../../support/flushes.ts';

/** What an answered message may cost, from its POST until the answer is stored and the monitor rests. */
const MAX_FLUSHES = 9;

async function flushesOfOne(t: Test, one: StartedCore, message: string): Promise<number> {
  const count = await countFlushes(t);
  await one.ask('ada', message);
  await one.inState('ada', 'idle');
  await one.blocks.stop('ada');
  return count();
}

t.test('an answered message costs at most 9 flushes of the disk', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'the first one makes the ledger');
  await one.blocks.stop('ada');
  await one.blocks.start('ada');
  const flushes = await flushesOfOne(t, one, 'hi');
  t.ok(flushes > 0);
  // Stopping writes config.json, which is durable: a file and its folder.
  t.ok(flushes - 2 <= MAX_FLUSHES, `${flushes - 2}`);
});

t.test('an answered message costs as few flushes when the active window is full', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'chat', Array.from({ length: 260 }, (_, n) => pair(`${n}`)).flat());
  await one.blocks.start('ada');
  await one.ask('ada', 'the first one makes the ledger');
  await one.blocks.stop('ada');
  await one.blocks.start('ada');
  const flushes = await flushesOfOne(t, one, 'hi');
  t.ok(flushes - 2 <= MAX_FLUSHES, `${flushes - 2}`);
});
