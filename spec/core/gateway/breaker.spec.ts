import t from 'tap';
import { Breaker } from '../../../core/gateway/breaker.ts';
import { BlockhouseError, type ErrorCode } from '../../../core/index.ts';

/** Calls of one client and one model each, unless a test says otherwise. */
let clients = 0;
const another = () => {
  clients += 1;
  return from(`client ${clients}`, `model ${clients}`);
};
const from = (key: string, model = 'm', promptHash = '') => ({ client: `key ${key}`, key, model, promptHash });
const withToken = (promptHash: string, model = 'm') => ({ client: 'token', model, promptHash });
const RESET = new BlockhouseError('UPSTREAM_UNREACHABLE', 'reset', { mayHaveRun: true });
const REFUSED = new BlockhouseError('UPSTREAM_UNREACHABLE', 'refused');

function breakerAt() {
  const facts: object[] = [];
  const clock = { now: 0 };
  const breaker = new Breaker('Anthropic', () => clock.now, { opened: (fact) => facts.push(fact), closed: (fact) => facts.push({ closed: fact }) });
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
    message: /Anthropic has failed 20 times in a row.*in 5 s.*UPSTREAM_FAILED/,
  });
});

t.test('own-words: what a provider said about the call of one caller is told to it and to the token, and to no other key or block', async (t) => {
  const { breaker } = breakerAt();
  const quoted = new BlockhouseError('UPSTREAM_FAILED', 'can not process: a private letter', { upstreamStatus: 500 });
  for (let i = 0; i < 19; i += 1) breaker.admit(another()).fail(quoted);
  const last = another();
  breaker.admit(last).fail(quoted);
  const block = { client: 'block ada', caller: 'ada', model: 'm', promptHash: '' };
  for (const other of [another(), block]) t.throws(() => breaker.admit(other), { message: /in 5 s\. The last error: UPSTREAM_FAILED \(HTTP 500\)$/ });
  for (const entitled of [last, withToken('')]) t.throws(() => breaker.admit(entitled), { message: /a private letter/ });
});

t.test('a failed connection quotes nobody, and everybody is told why', async (t) => {
  const { breaker } = breakerAt();
  for (let i = 0; i < 20; i += 1) breaker.admit(another()).fail(REFUSED);
  t.throws(() => breaker.admit(another()), { message: /The last error: refused/ });
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

t.test('after its time each caller tries, one call at a time; a failure doubles its own time, up to a minute; a success ends it for all', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  failTimes(20);
  clock.now += 4999;
  t.throws(() => breaker.admit(another()), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 1000 });
  clock.now += 1;
  for (const openMs of [5000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    const permit = breaker.admit(from('a'));
    t.throws(() => breaker.admit(from('a', 'healthy')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000 }, 'its other calls wait, also to other models');
    t.doesNotThrow(() => breaker.admit(another()).fail(RESET), 'another caller does not wait for it');
    permit.fail(new BlockhouseError('UPSTREAM_TIMEOUT', 'silent'));
    t.throws(() => breaker.admit(from('a')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: openMs });
    clock.now += openMs - 1;
    t.throws(() => breaker.admit(from('a', `made up ${openMs}`)), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 1000 });
    clock.now += 1;
  }
  t.equal(facts.length, 1, 'a probe that fails is no news');
  breaker.admit(from('a')).fail(RESET);
  breaker.admit(another()).succeed();
  t.strictSame(facts.at(-1), { closed: { scope: 'all' } });
  t.doesNotThrow(() => breaker.admit(from('a')), 'nobody waits any more');
  failTimes(19);
  t.equal(breaker.isOpenFor(another()), false);
});

t.test('calls that were under way when it opened neither open it again nor end the permit', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  const underWay = breaker.admit(another());
  failTimes(20);
  underWay.fail(new BlockhouseError('UPSTREAM_FAILED', 'late'));
  t.equal(facts.length, 1);
  clock.now += 5000;
  breaker.admit(from('a'));
  underWay.fail(new BlockhouseError('UPSTREAM_FAILED', 'later'));
  t.match(breaker.state, { phase: 'trying' }, 'the permit goes on');
  t.throws(() => breaker.admit(from('a')));
});

t.test('a probe that says nothing costs its caller one turn, and nobody else anything', async (t) => {
  for (const code of ['CANCELLED', 'UPSTREAM_RATE_LIMITED'] as const) {
    const { breaker, clock, failTimes } = breakerAt();
    failTimes(20);
    clock.now += 5000;
    const probe = breaker.admit(from('a'));
    probe.fail(new BlockhouseError(code, 'left'));
    t.throws(() => breaker.admit(from('a')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000 });
    const other = breaker.admit(from('b'));
    clock.now += 5000;
    t.doesNotThrow(() => breaker.admit(from('a')));
    other.succeed();
    t.equal(breaker.isOpenFor(from('a')), false);
  }
});

t.test('a call that was let through to try has no say once it has told how it went', async (t) => {
  for (const code of ['CANCELLED', 'UPSTREAM_FAILED', 'UPSTREAM_REJECTED'] as const) {
    const { breaker, facts, clock, failTimes } = breakerAt();
    failTimes(20);
    clock.now += 5000;
    const early = breaker.admit(another());
    early.succeed();
    clock.now += 60_000;
    failTimes(20);
    clock.now += 5000;
    const trying = breaker.admit(from('a'));
    const told = facts.length;
    early.fail(new BlockhouseError(code, 'late'));
    early.succeed();
    t.equal(facts.length, told, `${code}: nothing opens or closes`);
    t.match(breaker.state, { phase: 'trying' }, code);
    t.throws(() => breaker.admit(from('a')), `${code}: one at a time`);
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
  t.equal(breaker.isOpenFor(another()), true, 'while another call tries');
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

t.test('failures of one client and one model open it for these alone', async (t) => {
  for (const error of [RESET, new BlockhouseError('UPSTREAM_FAILED', '500'), new BlockhouseError('UPSTREAM_TIMEOUT', 'silent', { mayHaveRun: true })]) {
    const { breaker, facts, failFrom } = breakerAt();
    failFrom('poison', 20, error);
    t.match(facts, [{ scope: 'caller', key: 'poison', model: 'm', openMs: 5000, failures: 20 }]);
    t.equal(facts.length, 1);
    const message = /^Anthropic, asked for m by the key poison, has failed 20 times in a row, so such calls to it are paused/;
    t.throws(() => breaker.admit(from('poison')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000, message });
    t.throws(() => breaker.assertAdmits(from('poison')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000 });
    t.doesNotThrow(() => breaker.admit(from('poison', 'healthy')), 'another model of that client');
    t.doesNotThrow(() => breaker.admit(another()), 'the same model for another client');
    t.equal(breaker.isOpenFor(another()), false);
    t.match(breaker.paused, [{ scope: 'caller', key: 'poison', caller: undefined, model: 'm', opensInMs: 5000 }]);
    t.same(breaker.state, { phase: 'closed', opensInMs: 0 });
  }
});

t.test('whatever one client alternates, it never opens for others', async (t) => {
  const { breaker, facts } = breakerAt();
  const codes = new Set<string | undefined>();
  for (let n = 0; n < 2000; n += 1) {
    for (const call of [from('attacker', `model ${n % 700}`, `prompt ${n}`), from('attacker', `model ${n % 3}`)]) {
      try {
        breaker.admit(call).fail(RESET);
      } catch (error) {
        codes.add((error as Partial<BlockhouseError>).code);
      }
    }
  }
  t.same([...codes], ['UPSTREAM_UNREACHABLE'], 'what is refused is refused so');
  t.same(
    facts.filter((fact) => (fact as { scope: string }).scope === 'all'),
    [],
  );
  t.equal(breaker.isOpenFor(another()), false);
  t.ok(breaker.paused.length <= 256, 'and what it made up is not kept without bound');
});

t.test('calls with the token are one client: many prompts pause the model for it, one prompt pauses itself', async (t) => {
  const many = breakerAt();
  for (let n = 0; n < 20; n += 1) many.breaker.admit(withToken(`prompt ${n}`)).fail(RESET);
  t.match(many.facts, [{ scope: 'caller', key: undefined, model: 'm' }]);
  t.throws(() => many.breaker.admit(withToken('new')), { message: /^Anthropic, asked for m with the token, has failed 20 times/ });
  t.doesNotThrow(() => many.breaker.admit(withToken('new', 'healthy')));
  t.doesNotThrow(() => many.breaker.admit(another()));

  const one = breakerAt();
  for (let n = 0; n < 20; n += 1) one.breaker.admit(withToken(n < 12 ? 'poison' : `prompt ${n}`)).fail(RESET);
  t.match(one.facts, [{ scope: 'prompt', model: 'm' }]);
  t.match(one.breaker.paused, [{ scope: 'prompt', model: 'm' }]);
  t.throws(() => one.breaker.admit(withToken('poison')), { message: /with this prompt for m, has repeatedly failed, so such calls to it are paused/ });
  one.breaker.admit(withToken('new')).succeed();
  t.match(one.facts.at(-1), { closed: { scope: 'prompt', model: 'm' } });
  t.same(one.breaker.paused, []);
});

t.test('connections that could not be made open it for everybody, whoever asked for them', async (t) => {
  const { breaker, facts, failFrom } = breakerAt();
  failFrom('one', 20, REFUSED);
  t.match(facts, [{ scope: 'all', failures: 20 }]);
  t.equal(breaker.isOpenFor(another()), true);
});

t.test('it opens for all at the twentieth failure, unless one client or one model has more than half of them', async (t) => {
  for (const [share, isForAll] of [
    [10, true],
    [11, false],
    [19, false],
  ] as const)
    for (const isModel of [false, true]) {
      const { breaker, facts } = breakerAt();
      const fail = (name: string) => breaker.admit(isModel ? from(`client ${clients++}`, name) : from(name, `model ${clients++}`)).fail(RESET);
      for (let n = 0; n < 20; n += 1) fail(n < share ? 'one' : 'other');
      const all = facts.filter((fact) => (fact as { scope: string }).scope === 'all');
      t.match(all, isForAll ? [{ scope: 'all', failures: 20 }] : [], `${share} of one ${isModel ? 'model' : 'client'}`);
      t.equal(all.length, isForAll ? 1 : 0);
      t.equal(breaker.isOpenFor(another()), isForAll);
    }
});

t.test('failures of several clients with one model pause that model, and no other', async (t) => {
  const { breaker, facts, clock, failFrom } = breakerAt();
  failFrom('one', 10);
  failFrom('other', 10);
  t.match(facts, [{ scope: 'model', model: 'm', key: undefined, openMs: 5000, failures: 20 }]);
  t.equal(facts.length, 1);
  const message = /^Anthropic, asked for m, has failed 20 times in a row/;
  t.throws(() => breaker.admit(from('third')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000, message });
  for (const client of ['one', 'other', 'third']) t.doesNotThrow(() => breaker.admit(from(client, 'healthy')).succeed(), 'another model');
  t.match(breaker.paused, [{ scope: 'model', model: 'm', key: undefined, caller: undefined, opensInMs: 5000 }]);
  t.same(breaker.state, { phase: 'closed', opensInMs: 0 });
  clock.now += 5000;
  breaker.admit(from('one')).fail(RESET);
  const hanging = breaker.admit(from('other'));
  t.throws(() => breaker.admit(from('one')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000 });
  t.throws(() => breaker.admit(from('other')), 'one at a time');
  breaker.admit(from('third')).succeed();
  t.match(facts.at(-1), { closed: { scope: 'model', model: 'm' } });
  t.same(breaker.paused, []);
  t.doesNotThrow(() => breaker.admit(from('one')), 'the success of any caller ends it for all');
  hanging.fail(RESET);
  t.doesNotThrow(() => breaker.admit(from('other')));
});

t.test('open for one client, the model is paused for all once ten failures have come from others', async (t) => {
  const { breaker, facts, failFrom } = breakerAt();
  failFrom('poison', 20);
  failFrom('a', 5);
  failFrom('b', 4);
  t.equal(facts.length, 1);
  failFrom('b', 1);
  t.match(facts[1], { scope: 'model', model: 'm', openMs: 5000, failures: 30 });
  t.equal(facts.length, 2);
  t.equal(breaker.isOpenFor(from('third')), true);
  t.equal(breaker.isOpenFor(another()), false);
});

t.test('the success of another client is no reason to call for one that is paused, but shows that the provider works', async (t) => {
  const { breaker, facts, failFrom } = breakerAt();
  failFrom('poison', 20);
  failFrom('a', 9);
  breaker.admit(from('healthy')).succeed();
  breaker.admit(from('poison', 'healthy')).succeed();
  t.equal(facts.length, 1);
  t.throws(() => breaker.admit(from('poison')));
  failFrom('a', 9);
  failFrom('b', 9);
  t.equal(breaker.isOpenFor(from('healthy')), false, 'what counts for all begins with 0');
});

t.test('a client whose calls fail for model after model is paused as a whole, and nobody else is', async (t) => {
  const { breaker, facts, clock } = breakerAt();
  for (let n = 0; n < 20; n += 1) breaker.admit(from('poison', `made up ${n}`)).fail(RESET);
  t.match(facts, [{ scope: 'caller', key: 'poison', model: undefined, openMs: 5000, failures: 20 }]);
  const message = /^Anthropic, asked by the key poison, has failed 20 times in a row/;
  t.throws(() => breaker.admit(from('poison', 'made up 20')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000, message });
  t.match(breaker.paused, [{ scope: 'caller', key: 'poison', model: undefined }]);
  t.equal(breaker.isOpenFor(another()), false);
  clock.now += 5000;
  breaker.admit(from('poison', 'made up 21')).fail(RESET);
  t.match(facts.at(-1), { scope: 'caller', openMs: 10_000 });
  clock.now += 10_000;
  breaker.admit(from('poison', 'healthy')).succeed();
  t.match(facts.at(-1), { closed: { scope: 'caller', key: 'poison' } });
  t.same(breaker.paused, []);
});

t.test('a client that fails among the successes of others is paused, too', async (t) => {
  const { breaker, facts, failFrom } = breakerAt();
  for (let n = 0; n < 20; n += 1) {
    failFrom('poison', 1);
    breaker.admit(from('healthy')).succeed();
  }
  t.match(facts, [{ scope: 'caller', key: 'poison', failures: 20 }]);
  for (let n = 0; n < 10; n += 1) breaker.admit(from('healthy')).succeed();
});

t.test('open for one client, that client alone tries again: a failure makes its pause longer, its success ends it', async (t) => {
  const { breaker, facts, clock, failFrom } = breakerAt();
  failFrom('poison', 20);
  clock.now += 5000;
  const probe = breaker.admit(from('poison'));
  t.throws(() => breaker.admit(from('poison')), 'one at a time');
  breaker.admit(another()).fail(new BlockhouseError('CANCELLED', 'left'));
  t.throws(() => breaker.admit(from('poison')), 'another caller who leaves lets no second probe through');
  failFrom('a', 3);
  probe.fail(RESET);
  t.match(facts.at(-1), { scope: 'caller', openMs: 10_000, failures: 21 });
  t.equal(breaker.isOpenFor(another()), false);
  clock.now += 10_000;
  breaker.admit(from('poison')).fail(new BlockhouseError('UPSTREAM_RATE_LIMITED', 'later'));
  breaker.admit(from('poison')).succeed();
  t.match(facts.at(-1), { closed: { scope: 'caller', key: 'poison', model: 'm' } });
  t.same(breaker.paused, []);
});

t.test('a call of a client from before its pause neither ends the pause nor counts after it', async (t) => {
  const { breaker, facts, clock, failFrom } = breakerAt();
  const [good, bad] = [breaker.admit(from('poison')), breaker.admit(from('poison'))];
  failFrom('poison', 20);
  good.succeed();
  t.equal(breaker.isOpenFor(from('poison')), true);
  clock.now += 5000;
  breaker.admit(from('poison')).succeed();
  failFrom('poison', 19);
  bad.fail(RESET);
  t.equal(breaker.isOpenFor(from('poison')), false);
  t.equal(facts.length, 2);
});

t.test('open for all, the probe of a client that is paused itself waits for both pauses', async (t) => {
  const { breaker, facts, clock, failFrom, failTimes } = breakerAt();
  failFrom('poison', 20);
  clock.now += 5000;
  breaker.admit(from('poison')).fail(RESET);
  failTimes(10);
  t.match(facts.at(-1), { scope: 'all', openMs: 5000 });
  t.throws(() => breaker.admit(from('poison')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 10_000 });
  clock.now += 5000;
  t.throws(() => breaker.admit(from('poison')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000 });
  breaker.admit(from('b')).succeed();
  t.match(facts.at(-1), { closed: { scope: 'all' } });
  t.throws(() => breaker.admit(from('poison')), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000 }, 'its own pause goes on');
  clock.now += 60_000;
  const probe = breaker.admit(from('poison'));
  failTimes(20);
  t.equal(breaker.isOpenFor(another()), true);
  probe.fail(RESET);
  clock.now += 5000;
  t.doesNotThrow(() => breaker.admit(from('poison')), 'its own probe has ended while all were paused');
});

t.test('for a minute after a success, the failures of others pause a client for nothing, unless a call of its own fails', async (t) => {
  const { breaker, clock, failTimes } = breakerAt();
  const works = from('works', 'good');
  failTimes(20);
  clock.now += 5000;
  breaker.admit(works).succeed();
  failTimes(20);
  t.equal(breaker.isOpenFor(another()), true);
  t.equal(breaker.isOpenFor(works), false);
  const many = Array.from({ length: 50 }, () => breaker.admit(works));
  clock.now += 59_999;
  t.doesNotThrow(() => breaker.admit(works));
  clock.now += 1;
  t.equal(breaker.isOpenFor(works), true, 'after a minute');
  many[0]?.succeed();
  t.equal(breaker.isOpenFor(another()), false, 'its success ends the pause of all');
  failTimes(20);
  t.equal(breaker.isOpenFor(works), false);
  breaker.admit(works).fail(RESET);
  t.equal(breaker.isOpenFor(works), true, 'after a failure');
  clock.now += 5000;
  const probe = breaker.admit(works);
  t.throws(() => breaker.admit(works), 'like everybody');
  many[1]?.fail(RESET);
  probe.fail(RESET);
  t.throws(() => breaker.admit(works), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 5000 });
});

t.test('a client for which a model works is not paused with those for which it does not', async (t) => {
  const { breaker, facts, failFrom } = breakerAt();
  failFrom('one', 5);
  breaker.admit(from('works')).succeed();
  failFrom('one', 10);
  failFrom('other', 10);
  t.match(facts, [{ scope: 'model' }]);
  t.equal(breaker.isOpenFor(from('works')), false);
  t.equal(breaker.isOpenFor(from('third')), true);
  const { breaker: again } = breakerAt();
  again.admit(from('works')).succeed();
  t.equal(again.isOpenFor(from('works')), false, 'nothing is remembered of it where nothing fails');
});

t.test('a refused request ends a pause, but proves nothing for the time after it', async (t) => {
  const { breaker, facts, clock, failTimes } = breakerAt();
  failTimes(20);
  clock.now += 5000;
  breaker.admit(another()).fail(new BlockhouseError('UPSTREAM_REJECTED', 'no such model'));
  t.match(facts.at(-1), { closed: { scope: 'all' } });
  failTimes(20);
  t.equal(breaker.isOpenFor(another()), true);
});

t.test('while it is open, its state says when the next of those that wait may try', async (t) => {
  const { breaker, clock, failTimes } = breakerAt();
  failTimes(20);
  t.same(breaker.state, { phase: 'open', opensInMs: 5000 });
  clock.now += 5000;
  t.same(breaker.state, { phase: 'open', opensInMs: 0 }, 'anybody');
  const [a, b] = [breaker.admit(from('a')), breaker.admit(from('b'))];
  t.match(breaker.state, { phase: 'trying' });
  a.fail(RESET);
  clock.now += 1000;
  b.fail(RESET);
  t.same(breaker.state, { phase: 'open', opensInMs: 4000 });
  t.same(breaker.paused, [], 'callers that wait for their turn are not paused on their own');
});
