// How it works together with the circuits of callers is in breaker.spec.ts.
import t from 'tap';
import { Turns } from '../../../core/gateway/circuit.ts';
import { SharedCircuit } from '../../../core/gateway/shared-circuit.ts';
import { BlockhouseError } from '../../../core/index.ts';

const ERROR = new BlockhouseError('UPSTREAM_FAILED', 'overloaded');

function sharedAt(hasModels: boolean) {
  const clock = { now: 0 };
  const turns = new Turns();
  const told: string[] = [];
  const shared = new SharedCircuit({
    now: () => clock.now,
    turns,
    hasModels,
    opened: ({ openMs, failures }) => told.push(`${failures} failures, ${openMs} ms`),
    closed: () => told.push('closed'),
  });
  const fail = (times: number, client: (n: number) => string, model: (n: number) => string, isNobodys = false): void => {
    for (let n = 0; n < times; n += 1) shared.fail({ turn: turns.current }, { client: client(n), model: model(n) }, isNobodys, ERROR);
  };
  const succeed = (client: string, isProof = true): boolean => shared.succeed({ turn: turns.current }, client, isProof);
  return { shared, clock, turns, told, fail, succeed };
}
const each = (n: number): string => `${n}`;
const same = (): string => 'same';

t.test('it opens for failures of several callers and several models, or of nobody', async (t) => {
  for (const [client, model, hasModels, isNobodys, opens] of [
    [each, each, true, false, true],
    [same, each, true, false, false],
    [each, same, true, false, false],
    [each, same, false, false, true],
    [same, same, false, false, false],
    [same, same, true, true, true],
  ] as const) {
    const { shared, told, fail } = sharedAt(hasModels);
    fail(19, client, model, isNobodys);
    t.equal(shared.isOpen, false);
    fail(
      1,
      () => 'last',
      () => 'last',
      isNobodys,
    );
    t.equal(shared.isOpen, opens);
    t.same(told, opens ? ['20 failures, 5000 ms'] : []);
  }
});

t.test('a call from before it opened does not close it, and one from before it closed does not count', async (t) => {
  const { shared, turns, fail, succeed, told } = sharedAt(true);
  const early = { turn: turns.current };
  fail(20, each, each);
  t.equal(shared.succeed(early, 'a', true), false);
  const probe = { turn: turns.current };
  t.equal(succeed('a'), true);
  shared.fail(probe, { client: 'b', model: 'm' }, false, ERROR);
  t.equal(shared.failures, 0);
  t.equal(told.at(-1), 'closed');
});

t.test('everybody rests once a minute: opened again before, it lets each caller try at once', async (t) => {
  const { shared, clock, fail, succeed, told } = sharedAt(true);
  fail(20, each, each);
  clock.now += 5000;
  succeed('a');
  for (const restsMs of [0, 0, 0, 5000]) {
    fail(20, each, each);
    t.equal(shared.opensInMs, restsMs);
    t.equal(told.at(-1), `20 failures, ${restsMs} ms`);
    clock.now += 20_000;
    succeed('a');
  }
});

t.test('it is forgotten when nothing fails, nobody has proven that it works, and it was never open', async (t) => {
  const { shared, clock, fail, succeed } = sharedAt(true);
  t.equal(shared.isBlank, true);
  fail(1, each, each);
  t.equal(shared.isBlank, false);
  t.equal(succeed('a'), false);
  t.equal(shared.isBlank, false);
  clock.now += 60_000;
  t.equal(shared.isBlank, true);
  fail(20, each, each);
  succeed('a', false);
  t.equal(shared.isBlank, false);
});

t.test('the last 1,024 callers for which it works are remembered', async (t) => {
  const { shared, fail, succeed } = sharedAt(true);
  for (let n = 0; n < 1025; n += 1) {
    fail(1, each, each);
    succeed(`works ${n}`);
  }
  fail(20, each, each);
  t.equal(shared.isOpenFor('works 0'), true);
  t.equal(shared.isOpenFor('works 1'), false);
  fail(1, () => 'works 1', same);
  t.equal(shared.isOpenFor('works 1'), true);
});
