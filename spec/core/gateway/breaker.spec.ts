import t from 'tap';
import { Breaker } from '../../../core/gateway/breaker.ts';
import { BlockhouseError, type ErrorCode } from '../../../core/index.ts';

/** Calls of one source each, unless a test says otherwise. */
let sources = 0;
const another = () => ({ source: `source ${sources++}` });
const from = (source: string) => ({ source });
const RESET = new BlockhouseError('UPSTREAM_UNREACHABLE', 'reset', { mayHaveRun: true });
const REFUSED = new BlockhouseError('UPSTREAM_UNREACHABLE', 'refused');

function breakerAt() {
  const facts: object[] = [];
  const clock = { now: 0 };
  const breaker = new Breaker('Anthropic', () => clock.now, { opened: (fact) => facts.push(fact), closed: () => facts.push({ closed: true }) });
  const fail = (code: ErrorCode = 'UPSTREAM_FAILED'): void => breaker.admit(another()).fail(new BlockhouseError(code, 'overloaded'));
  const failTimes = (count: number): void => {
    for (let i = 0; i < count; i += 1) fail();
  };
  const failFrom = (source: string, count: number, error = RESET): void => {
    for (let i = 0; i < count; i += 1) breaker.admit(from(source)).fail(error);
  };
  return { breaker, facts, clock, fail, failTimes, failFrom };
}

t.test('twenty failures in a row open it, and it says why and for how long', async (t) => {
  const { breaker, facts, failTimes } = breakerAt();
  failTimes(19);
  t.equal(breaker.isOpenFor(another()), false);
  failTimes(1);
  t.equal(breaker.isOpenFor(another()), true);
  t.strictSame(facts, [{ scope: 'all', openMs: 5000, failures: 20, code: 'UPSTREAM_FAILED', error: 'overloaded' }]);
  t.throws(() => breaker.admit(another()), {
    code: 'UPSTREAM_UNREACHABLE',
    retryAfterMs: 5000,
    message: /Anthropic has failed 20 times in a row.*in 5 s.*overloaded/,
  });
});

t.test('a success, or a refusal that shows the provider at work, begins the count anew', async (t) => {
  const { breaker, fail, failTimes } = breakerAt();
  failTimes(19);
  breaker.admit(another()).succeed();
  failTimes(19);
  fail('UPSTREAM_REJECTED');
  failTimes(19);
  fail('UPSTREAM_AUTH');
  failTimes(19);
  t.equal(breaker.isOpenFor(another()), false);
});

t.test('rate limits, callers who left and defects of ours are neither failure nor success', async (t) => {
  const { breaker, fail, failTimes } = breakerAt();
  for (const code of ['UPSTREAM_RATE_LIMITED', 'CANCELLED', 'INTERNAL_ERROR', 'QUEUE_FULL'] as const) for (let i = 0; i < 50; i += 1) fail(code);
  t.equal(breaker.isOpenFor(another()), false);
  failTimes(19);
  fail('UPSTREAM_RATE_LIMITED');
  failTimes(1);
  t.equal(breaker.isOpenFor(another()), true, 'the count went on');
});

t.test('after its time one call tries; its failure doubles the time, up to a minute, its success ends it', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  failTimes(20);
  for (const openMs of [5000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    t.match(facts.at(-1), { openMs });
    clock.now += openMs - 1;
    t.throws(() => breaker.admit(another()), { code: 'UPSTREAM_UNREACHABLE' });
    clock.now += 1;
    const trial = breaker.admit(another());
    t.throws(() => breaker.admit(another()), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 1000 }, 'the others wait');
    trial.fail(new BlockhouseError('UPSTREAM_TIMEOUT', 'silent'));
  }
  clock.now += 60_000;
  breaker.admit(another()).succeed();
  t.strictSame(facts.at(-1), { closed: true });
  failTimes(19);
  t.equal(breaker.isOpenFor(another()), false);
});

t.test('calls that were under way when it opened neither open it again nor end the trial', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  const underWay = breaker.admit(another());
  failTimes(20);
  underWay.fail(new BlockhouseError('UPSTREAM_FAILED', 'late'));
  t.equal(facts.length, 1);
  clock.now += 5000;
  breaker.admit(another());
  underWay.fail(new BlockhouseError('UPSTREAM_FAILED', 'later'));
  t.throws(() => breaker.admit(another()), 'the trial goes on');
});

t.test('a trial whose caller left makes room for the next one', async (t) => {
  const { breaker, clock, failTimes } = breakerAt();
  failTimes(20);
  clock.now += 5000;
  breaker.admit(another()).fail(new BlockhouseError('CANCELLED', 'left'));
  t.doesNotThrow(() => breaker.admit(another()));
  t.throws(() => breaker.admit(another()), 'one at a time');
});

t.test('a call that was let through to try has no say once it has told how it went', async (t) => {
  for (const code of ['CANCELLED', 'UPSTREAM_FAILED', 'UPSTREAM_REJECTED'] as const) {
    const { breaker, facts, clock, failTimes } = breakerAt();
    failTimes(20);
    clock.now += 5000;
    const early = breaker.admit(another());
    early.succeed();
    failTimes(20);
    clock.now += 5000;
    const trying = breaker.admit(another());
    const told = facts.length;
    early.fail(new BlockhouseError(code, 'late'));
    early.succeed();
    t.equal(facts.length, told, `${code}: nothing opens or closes`);
    t.throws(() => breaker.admit(another()), `${code}: one at a time`);
    trying.succeed();
    t.equal(breaker.isOpenFor(another()), false);
  }
});

t.test('a stream from before the outage does not end it, nor does its failure count after it', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  const [good, bad] = [breaker.admit(another()), breaker.admit(another())];
  good.succeed();
  failTimes(20);
  good.succeed();
  t.equal(breaker.isOpenFor(another()), true, 'while it is open');
  clock.now += 5000;
  const trying = breaker.admit(another());
  good.succeed();
  t.throws(() => breaker.admit(another()), 'while another call tries');
  trying.succeed();
  failTimes(19);
  bad.fail(new BlockhouseError('UPSTREAM_FAILED', 'late'));
  t.equal(breaker.isOpenFor(another()), false, 'once it is closed again');
  t.equal(facts.length, 2);
});

t.test('a caller who left and whose call ends later has told all with the first', async (t) => {
  const { breaker, clock, failTimes } = breakerAt();
  failTimes(20);
  clock.now += 5000;
  const left = breaker.admit(another());
  left.fail(new BlockhouseError('CANCELLED', 'left'));
  left.succeed();
  t.equal(breaker.isOpenFor(another()), true);
});

t.test('failures from one source open it for that source alone', async (t) => {
  for (const error of [RESET, new BlockhouseError('UPSTREAM_FAILED', '500'), new BlockhouseError('UPSTREAM_TIMEOUT', 'silent', { mayHaveRun: true })]) {
    const { breaker, facts, failFrom } = breakerAt();
    failFrom('poison', 20, error);
    t.match(facts, [{ scope: 'caller', openMs: 5000, failures: 20 }]);
    t.throws(() => breaker.admit(from('poison')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000, message: /calls to it are paused/ });
    t.throws(() => breaker.assertAdmits(from('poison')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000 });
    t.doesNotThrow(() => breaker.admit(another()));
    t.equal(breaker.isOpenFor(another()), false);
  }
});

t.test('connections that could not be made open it for everybody, whoever asked for them', async (t) => {
  const { breaker, facts, failFrom } = breakerAt();
  failFrom('one', 20, REFUSED);
  t.match(facts, [{ scope: 'all', failures: 20 }]);
  t.equal(breaker.isOpenFor(another()), true);
});

t.test('it opens at the twentieth failure: for one source when that has more than half of them, otherwise for all', async (t) => {
  for (const [share, scope] of [
    [10, 'all'],
    [11, 'caller'],
    [19, 'caller'],
  ] as const) {
    const { breaker, facts, failFrom } = breakerAt();
    failFrom('one', share);
    failFrom('other', 20 - share);
    t.match(facts, [{ scope, failures: 20 }], `${share} of one`);
    t.equal(breaker.isOpenFor(from('one')), true);
    t.equal(breaker.isOpenFor(from('other')), scope === 'all');
  }
});

t.test('open for one source, it opens for all once ten failures have come from others', async (t) => {
  const { breaker, facts, failFrom } = breakerAt();
  failFrom('poison', 20);
  failFrom('a', 5);
  failFrom('b', 4);
  t.equal(facts.length, 1);
  failFrom('b', 1);
  t.match(facts[1], { scope: 'all', openMs: 5000, failures: 30 });
  t.equal(breaker.isOpenFor(another()), true);
});

t.test('open for one source, it closes when any other call succeeds', async (t) => {
  const { breaker, facts, failFrom } = breakerAt();
  failFrom('poison', 20);
  failFrom('a', 9);
  breaker.admit(another()).succeed();
  t.strictSame(facts[1], { closed: true });
  failFrom('poison', 10);
  failFrom('a', 9);
  t.equal(facts.length, 2, 'all counts begin anew');
});

t.test('open for one source, that source alone tries again, and its failures make its pause longer', async (t) => {
  const { breaker, facts, clock, failFrom } = breakerAt();
  failFrom('poison', 20);
  clock.now += 5000;
  const probe = breaker.admit(from('poison'));
  t.throws(() => breaker.admit(from('poison')), 'one at a time');
  breaker.admit(another()).fail(new BlockhouseError('CANCELLED', 'left'));
  t.throws(() => breaker.admit(from('poison')), 'another caller who leaves lets no second probe through');
  failFrom('a', 3);
  probe.fail(RESET);
  t.match(facts.at(-1), { scope: 'caller', openMs: 10_000, failures: 24 });
  t.equal(breaker.isOpenFor(another()), false);
});

t.test('open for all, a probe of any source closes it or opens it again for all', async (t) => {
  const { breaker, facts, clock, failTimes, failFrom } = breakerAt();
  failTimes(20);
  for (let opened = 0; opened < 30; opened += 1) {
    clock.now += 60_000;
    failFrom('same', 1);
  }
  t.match(facts.at(-1), { scope: 'all', openMs: 60_000, failures: 50 });
  t.equal(breaker.isOpenFor(another()), true);
});
