import t from 'tap';
import { ProbeSlots } from '../../../core/gateway/probe-slots.ts';
import { Random } from '../../support/crash/random.ts';

function slotsAt() {
  const clock = { now: 0 };
  return { clock, slots: new ProbeSlots(() => clock.now) };
}

t.test('eight newcomers may try at once; the next waits for a second after the first that has ended, or five', async (t) => {
  const { clock, slots } = slotsAt();
  const probes = Array.from({ length: 8 }, () => ({ turn: 0 }));
  for (const [n, probe] of probes.entries()) {
    t.equal(slots.waitMs(`c${n}`, true), 0);
    slots.take(probe, `c${n}`, true);
  }
  t.equal(slots.waitMs('late', true), 5000, 'all hang');
  clock.now += 100;
  slots.release(probes[7] ?? { turn: 0 });
  t.equal(slots.waitMs('late', true), 900);
  clock.now += 4900;
  t.equal(slots.waitMs('late', false), 0, 'a probe that hangs holds nobody up');
  slots.release({ turn: 0 });
});

t.test('callers who have tried before leave half of them to newcomers', async (t) => {
  const { slots } = slotsAt();
  for (let n = 0; n < 4; n += 1) slots.take({ turn: 0 }, `c${n}`, false);
  t.equal(slots.waitMs('failing', false), 5000);
  t.equal(slots.waitMs('new', true), 0);
  for (let n = 0; n < 4; n += 1) slots.take({ turn: 0 }, `n${n}`, true);
  t.equal(slots.waitMs('new', true), 5000);
});

t.test('newcomers leave the others theirs, as long as they have some of their own', async (t) => {
  const { slots } = slotsAt();
  for (let n = 0; n < 4; n += 1) slots.take({ turn: 0 }, `n${n}`, true);
  t.equal(slots.waitMs('failing', false), 0);
});

t.test('a caller holds one at a time', async (t) => {
  const { clock, slots } = slotsAt();
  const probe = { turn: 0 };
  slots.take(probe, 'a', true);
  slots.release(probe);
  t.equal(slots.waitMs('a', true), 1000);
  t.equal(slots.waitMs('b', true), 0);
  clock.now += 1000;
  t.equal(slots.waitMs('a', true), 0);
});

t.test('at most eight begin within any second, whatever ends when', async (t) => {
  const random = new Random(7);
  const { clock, slots } = slotsAt();
  const begun: number[] = [];
  const under: { turn: number }[] = [];
  for (let step = 0; step < 20_000; step += 1) {
    clock.now += random.below(40);
    const [client, isNewcomer] = [`c${random.below(1000)}`, random.below(2) === 0];
    if (slots.waitMs(client, isNewcomer) === 0) {
      const probe = { turn: step };
      slots.take(probe, client, isNewcomer);
      under.push(probe);
      begun.push(clock.now);
    }
    if (under.length > 0 && random.below(3) > 0) slots.release(under.splice(random.below(under.length), 1)[0] ?? { turn: 0 });
  }
  t.ok(begun.length > 1000);
  t.equal(
    begun.find((at, n) => (begun[n + 8] ?? Number.POSITIVE_INFINITY) < at + 1000),
    undefined,
  );
});
