// How the circuits work together is in breaker.spec.ts.
import t from 'tap';
import { Circuit, Turns } from '../../../core/gateway/circuit.ts';
import { NOBODY } from '../../../core/gateway/tally.ts';
import { BlockhouseError } from '../../../core/index.ts';

const ERROR = new BlockhouseError('UPSTREAM_FAILED', 'overloaded');

const NEVER_ASKED = (): string => {
  throw new Error('Nobody asks who it is.');
};

function circuitAt(opensForMember: boolean, roundMs = 0) {
  const clock = { now: 0 };
  const turns = new Turns();
  const told: (string | undefined)[] = [];
  const opened = ({ member }: { member: string | undefined }) => told.push(member ?? 'all');
  const circuit = new Circuit({ now: () => clock.now, turns, since: 0, opensForMember, roundMs: () => roundMs, opened, closed: () => told.push('closed') });
  const fail = (member: string, times: number): void => {
    for (let n = 0; n < times; n += 1) circuit.fail({ turn: turns.current }, () => member, ERROR);
  };
  const probe = () => {
    const permit = { turn: turns.current };
    circuit.letThrough(permit);
    return permit;
  };
  return { circuit, clock, told, fail, probe, turns };
}

t.test('a member with more than half of the failures opens it for itself, or not at all where members have circuits of their own', async (t) => {
  for (const opensForMember of [true, false]) {
    const { circuit, told, fail } = circuitAt(opensForMember);
    fail('a', 20);
    t.same(told, opensForMember ? ['a'] : []);
    t.equal(
      circuit.isOpenFor(() => 'a'),
      opensForMember,
    );
    t.equal(
      circuit.isOpenFor(() => 'b'),
      false,
    );
    fail('b', 10);
    t.equal(told.at(-1), 'all');
  }
});

t.test("failures that are nobody's open it for all", async (t) => {
  const { circuit, told, fail } = circuitAt(true);
  fail(NOBODY, 20);
  t.same(told, ['all']);
  t.equal(circuit.isOpenFor(NEVER_ASKED), true);
});

t.test('a probe that says nothing lets the next one through', async (t) => {
  const { circuit, clock, told, fail, probe } = circuitAt(false);
  fail(NOBODY, 20);
  t.equal(circuit.opensInMs, 5000);
  clock.now += 5000;
  t.equal(circuit.waitMs, 0);
  const permit = probe();
  t.equal(circuit.waitMs, 1);
  circuit.passOver(permit);
  t.equal(circuit.waitMs, 0);
  circuit.succeed(probe());
  t.same(told, ['all', 'closed']);
  t.equal(circuit.opensInMs, 0);
});

t.test('where it only keeps a turn, it tells nobody, waits for the whole round, and is gone once released', async (t) => {
  const { circuit, clock, told, fail, probe, turns } = circuitAt(false, 20_000);
  fail('m', 3);
  circuit.fail(probe(), () => 'm', ERROR);
  t.equal(circuit.opensInMs, 20_000);
  clock.now += 20_000;
  circuit.passOver(probe());
  t.equal(circuit.opensInMs, 20_000);
  t.equal(circuit.isOwnPause, false);
  const late = probe();
  circuit.release(turns.next());
  circuit.fail(late, () => 'm', ERROR);
  t.equal(circuit.isBlank, true);
  t.same(told, []);
});

t.test('a pause of its own outlasts the shared one', async (t) => {
  const { circuit, fail, turns, told } = circuitAt(false);
  fail(NOBODY, 20);
  circuit.release(turns.next());
  t.equal(circuit.isOwnPause, true);
  t.same(told, ['all']);
});
