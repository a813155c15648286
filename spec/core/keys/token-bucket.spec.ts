import t from 'tap';
import { TokenBucket } from '../../../core/keys/token-bucket.ts';
import { Random } from '../../support/crash/random.ts';

t.test('so much may be taken at once, and then as much as runs off', async (t) => {
  const bucket = new TokenBucket(60, 0);
  t.same(bucket.state(0), { limit: 60, remaining: 60, resetMs: 0 });
  for (let n = 0; n < 60; n += 1) bucket.take(1, 0);
  t.equal(bucket.waitMs(1, 0), 1000);
  t.same(bucket.state(0), { limit: 60, remaining: 0, resetMs: 60_000 });
  t.equal(bucket.waitMs(1, 1000), 0);
  t.equal(bucket.waitMs(30, 1000), 29_000);
  t.same(bucket.state(30_500), { limit: 60, remaining: 30, resetMs: 29_500 });
  t.equal(bucket.waitMs(60, 60_000), 0);
});

t.test('what may not be taken now is not taken, and what is put back may be taken again', async (t) => {
  const bucket = new TokenBucket(60, 0);
  t.ok(bucket.tryTake(59, 0));
  t.notOk(bucket.tryTake(2, 0));
  t.same(bucket.state(0), { limit: 60, remaining: 1, resetMs: 59_000 });
  t.ok(bucket.tryTake(1, 0));
  bucket.putBack(1);
  t.ok(bucket.tryTake(1, 0));
  t.notOk(bucket.tryTake(1, 999));
  t.ok(bucket.tryTake(1, 1000), 'a second later');
});

t.test('what is larger than the limit needs an empty bucket, and makes what follows wait for all of it', async (t) => {
  const bucket = new TokenBucket(1000, 0);
  t.equal(bucket.waitMs(5000, 0), 0);
  bucket.take(5000, 0);
  t.equal(bucket.waitMs(1, 0), 4001 * 60);
  t.equal(bucket.waitMs(5000, 0), 300_000);
});

t.test('an estimate is settled: more is added, less is given back as far as it has not run off', async (t) => {
  const bucket = new TokenBucket(600, 0);
  bucket.take(600, 0);
  bucket.settle(600, 100, 0, 0);
  t.equal(bucket.state(0).remaining, 500);
  bucket.settle(0, 400, 0, 0);
  t.equal(bucket.state(0).remaining, 100);
  const late = new TokenBucket(600, 0);
  late.take(600, 0);
  late.take(300, 30_000);
  late.settle(600, 0, 0, 30_000);
  t.equal(late.state(30_000).remaining, 300, 'of 600, 300 had run off');
  late.settle(300, 0, 30_000, 200_000);
  late.take(600, 200_000);
  late.settle(600, 0, 0, 200_000);
  t.equal(late.state(200_000).remaining, 0, 'nothing is given back that was over long ago');
});

t.test('a limit that changes keeps what is used, and a clock that stands still or goes back gives nothing', async (t) => {
  const bucket = new TokenBucket(60, 1000);
  bucket.take(60, 1000);
  bucket.allow(120, 1000);
  t.equal(bucket.state(1000).remaining, 60);
  bucket.take(60, 1000);
  t.equal(bucket.waitMs(1, 1000), 500);
  t.equal(bucket.waitMs(1, 0), 500);
  bucket.allow(1, 1000);
  t.equal(bucket.state(1000).remaining, 0);
});

t.test('in no span of time more is used than the limit and what runs off, whatever was estimated', async (t) => {
  const random = new Random(3);
  const roll = (most: number) => Math.floor(random.next() * most);
  const limit = 1000;
  const bucket = new TokenBucket(limit, 0);
  const uses: { at: number; tokens: number }[] = [];
  const open: { at: number; estimate: number }[] = [];
  let now = 0;
  for (let n = 0; n < 3000; n += 1) {
    now += roll(400);
    const estimate = 1 + roll(300);
    if (bucket.waitMs(estimate, now) === 0) {
      bucket.take(estimate, now);
      open.push({ at: now, estimate });
    }
    if (roll(3) === 0) {
      const [call] = open.splice(roll(open.length), 1);
      if (call === undefined) continue;
      const tokens = roll(call.estimate + 1);
      bucket.settle(call.estimate, tokens, call.at, now);
      uses.push({ at: call.at, tokens });
    }
  }
  uses.sort((one, other) => one.at - other.at);
  for (let from = 0; from < uses.length; from += 7) {
    let sum = 0;
    for (const { at, tokens } of uses.slice(from)) {
      sum += tokens;
      const most = limit + ((at - (uses[from]?.at ?? 0)) * limit) / 60_000;
      if (sum > most + 0.001) t.fail(`${sum} in ${at - (uses[from]?.at ?? 0)} ms`);
    }
  }
});

t.test('there is room exactly when there is nothing to wait for, and a level that is set runs off too', async (t) => {
  const bucket = new TokenBucket(60, 0);
  bucket.setLevel(59, 0);
  t.equal(bucket.level(0), 59);
  for (const [amount, now, room] of [
    [1, 0, true],
    [2, 0, false],
    [2, 1000, true],
    [61, 1000, false],
    [61, 59_000, true],
  ] as const) {
    t.equal(bucket.waitMs(amount, now) === 0, room, `${amount} at ${now}`);
    const isTaken = bucket.tryTake(amount, now);
    t.equal(isTaken, room, `${amount} at ${now}`);
    if (isTaken) bucket.putBack(amount);
  }
  t.equal(bucket.level(59_000), 0);
});
