// When a key pauses, and until when.
import t from 'tap';
import { BlockhouseError, type ErrorCode, type ErrorExtras } from '../../../../core/errors.ts';
import { keyFaultOf, KeyState } from '../../../../core/gateway/connections/key-state.ts';

const failure = (code: ErrorCode, extras: ErrorExtras = {}) => new BlockhouseError(code, 'words', extras);
const newState = () => new KeyState({ label: 'a', value: 'v', variable: undefined, weight: 1, inFlight: 2 });
const at = (takenAt: number, now = takenAt) => ({ takenAt, now });

t.test('what a failure says of its key', (t) => {
  for (const [code, extras, fault] of [
    ['UPSTREAM_RATE_LIMITED', { upstreamStatus: 429 }, 'cooling'],
    ['UPSTREAM_RATE_LIMITED', { upstreamStatus: 429, retryable: false }, 'empty'],
    ['UPSTREAM_REJECTED', { upstreamStatus: 402 }, 'empty'],
    ['UPSTREAM_AUTH', { upstreamStatus: 401 }, 'refused'],
    ['UPSTREAM_AUTH', { upstreamStatus: 403 }, 'refused'],
    ['UPSTREAM_RATE_LIMITED', { mayHaveRun: true }, undefined],
    ['UPSTREAM_REJECTED', { upstreamStatus: 400 }, undefined],
    ['UPSTREAM_FAILED', { upstreamStatus: 500 }, undefined],
    ['UPSTREAM_TIMEOUT', {}, undefined],
    ['UPSTREAM_UNREACHABLE', {}, undefined],
    ['QUEUE_FULL', {}, undefined],
    ['CANCELLED', {}, undefined],
  ] as const)
    t.equal(keyFaultOf(failure(code, extras)), fault, `${code} ${JSON.stringify(extras)}`);
  t.end();
});

t.test('a rate limit lasts as long as the provider says, from a second to an hour; a refused key ten minutes, an empty one an hour', (t) => {
  for (const [fault, extras, ms] of [
    ['cooling', { retryAfterMs: 10 }, 1000],
    ['cooling', { retryAfterMs: 20_000 }, 20_000],
    ['cooling', { retryAfterMs: 99_999_999 }, 3_600_000],
    ['cooling', { retryAfterMs: 0 }, 5000],
    ['cooling', {}, 5000],
    ['refused', { retryAfterMs: 10 }, 600_000],
    ['empty', { retryAfterMs: 10 }, 3_600_000],
  ] as const) {
    const state = newState();
    t.equal(state.fail('m', fault, failure('UPSTREAM_RATE_LIMITED', extras), at(1))?.until, 1 + ms, `${fault} ${JSON.stringify(extras)}`);
    t.equal(state.pauseFor('m', ms)?.fault, fault);
    t.equal(state.pauseFor('m', 1 + ms), undefined);
    t.equal(state.pauseFor('other', 2)?.fault, fault === 'cooling' ? undefined : fault);
  }
  t.end();
});

t.test('calls that were sent before a pause began neither end it nor make it longer', (t) => {
  const state = newState();
  state.take('m', 1);
  state.fail('m', 'cooling', failure('UPSTREAM_RATE_LIMITED'), at(1, 5));
  t.equal(state.fail('m', 'cooling', failure('UPSTREAM_RATE_LIMITED'), at(2, 9)), undefined);
  t.equal(state.succeed('m', 3), false);
  t.equal(state.pauseFor('m', 5004)?.strikes, 1);
  t.equal(state.fail('m', 'cooling', failure('UPSTREAM_RATE_LIMITED'), at(6000))?.strikes, 2);
  t.equal(state.succeed('m', 20_000), true);
  t.equal(state.succeed('m', 20_001), false);
  t.end();
});

t.test('one call tries a refused key when its time has come', (t) => {
  const state = newState();
  state.fail('m', 'refused', failure('UPSTREAM_AUTH', { upstreamStatus: 401 }), at(1));
  t.equal(state.pauseFor('m', 600_001), undefined);
  state.take('m', 600_001);
  t.equal(state.pauseFor('m', 600_002)?.fault, 'refused', 'no other meanwhile');
  t.match(state.shown(600_002), { fault: 'refused', models: [] });
  t.equal(state.succeed('m', 600_001), true);
  t.same(state.shown(600_003), { fault: undefined, until: undefined, models: [] });
  t.end();
});

t.test('one client makes a pause of all no longer for others, whenever it tries', (t) => {
  for (const [fault, extras, firstMs] of [
    ['cooling', { upstreamStatus: 429 }, 5000],
    ['empty', { upstreamStatus: 402 }, 3_600_000],
    ['refused', { upstreamStatus: 403 }, 600_000],
  ] as const) {
    const state = newState();
    const fail = (client: string, now: number) => state.fail('m', fault, failure('UPSTREAM_RATE_LIMITED', extras), { ...at(now), client });
    fail('greedy', 1);
    t.equal(fail('other', 2)?.until, 2 + firstMs, 'the first of both is no strike more');
    t.equal(state.pauseFor('m', firstMs, 'third')?.fault, fault, 'the pause of all');
    const over = 2 + firstMs;
    state.take('m', over, 'greedy');
    t.equal(state.pauseFor('m', over, 'other'), undefined, 'one that hangs');
    fail('greedy', over + 1);
    t.equal(state.pauseFor('m', over + 2, 'other'), undefined, fault);
    t.equal(state.pauseFor('m', over + 2, 'greedy')?.strikes, 2);
    fail('other', over + 2);
    t.equal(state.pauseFor('m', over + 3, 'third')?.strikes, 2, 'a second one in the same way');
  }
  t.end();
});

t.test('names of models that a client makes up take no more room than those of 64', (t) => {
  const state = newState();
  for (let each = 0; each < 5000; each += 1) state.fail(`m${each}`, 'cooling', failure('UPSTREAM_RATE_LIMITED'), at(1));
  t.equal(state.shown(2).models.length, 64);
  t.end();
});

t.test('the tokens of the last minute count, and no others', (t) => {
  const state = newState();
  state.count(100, 10, 40, 0);
  state.count(1, 1, 0, 30_000);
  t.equal(state.tokens(59_000), 112);
  t.equal(state.tokens(60_000), 2);
  t.equal(state.tokens(90_000), 0);
  t.equal(state.tokens(9_000_000), 0);
  t.same([state.inputTokens, state.cachedTokens], [101, 40]);
  t.end();
});
