// How the circuits work together is in breaker.spec.ts.
import t from 'tap';
import { Circuit, NOBODY } from '../../../core/gateway/circuit.ts';
import { BlockhouseError } from '../../../core/index.ts';

const ERROR = new BlockhouseError('UPSTREAM_FAILED', 'overloaded');

const NEVER_ASKED = (): string => {
  throw new Error('Nobody asks who it is.');
};

function circuitAt(opensForMember: boolean) {
  const clock = { now: 0 };
  const told: (string | undefined)[] = [];
  const circuit = new Circuit({ now: () => clock.now, opensForMember, opened: ({ member }) => told.push(member ?? 'all'), closed: () => told.push('closed') });
  const fail = (member: string, times: number): void => {
    for (let n = 0; n < times; n += 1) circuit.fail({ turn: circuit.turn, isProbe: false }, () => member, ERROR);
  };
  return { circuit, clock, told, fail };
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
  const { circuit, clock, told, fail } = circuitAt(false);
  fail(NOBODY, 20);
  t.equal(circuit.opensInMs, 5000);
  clock.now += 5000;
  t.equal(circuit.isProbeDue, true);
  circuit.letProbeThrough();
  t.equal(circuit.isProbeDue, false);
  circuit.passOver({ turn: circuit.turn, isProbe: true });
  t.equal(circuit.isProbeDue, true);
  circuit.letProbeThrough();
  circuit.succeed({ turn: circuit.turn, isProbe: true });
  t.same(told, ['all', 'closed']);
  t.equal(circuit.opensInMs, 0);
});
