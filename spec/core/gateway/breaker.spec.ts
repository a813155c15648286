import t from 'tap';
import { Breaker } from '../../../core/gateway/breaker.ts';
import { BlockhouseError, type ErrorCode } from '../../../core/index.ts';

function breakerAt() {
  const facts: object[] = [];
  const clock = { now: 0 };
  const breaker = new Breaker('Anthropic', () => clock.now, { opened: (fact) => facts.push(fact), closed: () => facts.push({ closed: true }) });
  const fail = (code: ErrorCode = 'UPSTREAM_FAILED'): void => breaker.admit().fail(new BlockhouseError(code, 'overloaded'));
  const failTimes = (count: number): void => {
    for (let i = 0; i < count; i += 1) fail();
  };
  return { breaker, facts, clock, fail, failTimes };
}

t.test('twenty failures in a row open it, and it says why and for how long', async (t) => {
  const { breaker, facts, failTimes } = breakerAt();
  failTimes(19);
  t.equal(breaker.isOpen, false);
  failTimes(1);
  t.equal(breaker.isOpen, true);
  t.strictSame(facts, [{ openMs: 5000, failures: 20, code: 'UPSTREAM_FAILED', error: 'overloaded' }]);
  t.throws(() => breaker.admit(), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000, message: /Anthropic has failed 20 times in a row.*in 5 s.*overloaded/ });
});

t.test('a success, or a refusal that shows the provider at work, begins the count anew', async (t) => {
  const { breaker, fail, failTimes } = breakerAt();
  failTimes(19);
  breaker.admit().succeed();
  failTimes(19);
  fail('UPSTREAM_REJECTED');
  failTimes(19);
  fail('UPSTREAM_AUTH');
  failTimes(19);
  t.equal(breaker.isOpen, false);
});

t.test('rate limits, callers who left and defects of ours are neither failure nor success', async (t) => {
  const { breaker, fail, failTimes } = breakerAt();
  for (const code of ['UPSTREAM_RATE_LIMITED', 'CANCELLED', 'INTERNAL_ERROR', 'QUEUE_FULL'] as const) for (let i = 0; i < 50; i += 1) fail(code);
  t.equal(breaker.isOpen, false);
  failTimes(19);
  fail('UPSTREAM_RATE_LIMITED');
  failTimes(1);
  t.equal(breaker.isOpen, true, 'the count went on');
});

t.test('after its time one call tries; its failure doubles the time, up to a minute, its success ends it', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  failTimes(20);
  for (const openMs of [5000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    t.match(facts.at(-1), { openMs });
    clock.now += openMs - 1;
    t.throws(() => breaker.admit(), { code: 'UPSTREAM_UNREACHABLE' });
    clock.now += 1;
    const trial = breaker.admit();
    t.throws(() => breaker.admit(), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 1000 }, 'the others wait');
    trial.fail(new BlockhouseError('UPSTREAM_TIMEOUT', 'silent'));
  }
  clock.now += 60_000;
  breaker.admit().succeed();
  t.strictSame(facts.at(-1), { closed: true });
  failTimes(19);
  t.equal(breaker.isOpen, false);
});

t.test('calls that were under way when it opened neither open it again nor end the trial', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  const underWay = breaker.admit();
  failTimes(20);
  underWay.fail(new BlockhouseError('UPSTREAM_FAILED', 'late'));
  t.equal(facts.length, 1);
  clock.now += 5000;
  breaker.admit();
  underWay.fail(new BlockhouseError('UPSTREAM_FAILED', 'later'));
  t.throws(() => breaker.admit(), 'the trial goes on');
});

t.test('a trial whose caller left makes room for the next one', async (t) => {
  const { breaker, clock, failTimes } = breakerAt();
  failTimes(20);
  clock.now += 5000;
  breaker.admit().fail(new BlockhouseError('CANCELLED', 'left'));
  t.doesNotThrow(() => breaker.admit());
  t.throws(() => breaker.admit(), 'one at a time');
});

t.test('a call that was let through to try has no say once it has told how it went', async (t) => {
  for (const code of ['CANCELLED', 'UPSTREAM_FAILED', 'UPSTREAM_REJECTED'] as const) {
    const { breaker, facts, clock, failTimes } = breakerAt();
    failTimes(20);
    clock.now += 5000;
    const early = breaker.admit();
    early.succeed();
    failTimes(20);
    clock.now += 5000;
    const trying = breaker.admit();
    const told = facts.length;
    early.fail(new BlockhouseError(code, 'late'));
    early.succeed();
    t.equal(facts.length, told, `${code}: nothing opens or closes`);
    t.throws(() => breaker.admit(), `${code}: one at a time`);
    trying.succeed();
    t.equal(breaker.isOpen, false);
  }
});

t.test('a stream from before the outage does not end it, nor does its failure count after it', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  const [good, bad] = [breaker.admit(), breaker.admit()];
  good.succeed();
  failTimes(20);
  good.succeed();
  t.equal(breaker.isOpen, true, 'while it is open');
  clock.now += 5000;
  const trying = breaker.admit();
  good.succeed();
  t.throws(() => breaker.admit(), 'while another call tries');
  trying.succeed();
  failTimes(19);
  bad.fail(new BlockhouseError('UPSTREAM_FAILED', 'late'));
  t.equal(breaker.isOpen, false, 'once it is closed again');
  t.equal(facts.length, 2);
});

t.test('a caller who left and whose call ends later has told all with the first', async (t) => {
  const { breaker, clock, failTimes } = breakerAt();
  failTimes(20);
  clock.now += 5000;
  const left = breaker.admit();
  left.fail(new BlockhouseError('CANCELLED', 'left'));
  left.succeed();
  t.equal(breaker.isOpen, true);
});
