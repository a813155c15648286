// Callers of every kind against one destination, on a simulated clock: a caller whose calls would succeed is refused for a bounded time on behalf of others, and
// a destination that is dead is tried at a bounded rate.
import t from 'tap';
import { Breaker, type Permit } from '../../../core/gateway/breaker.ts';
import { BlockhouseError, type ErrorCode } from '../../../core/index.ts';
import { Random } from '../../support/crash/random.ts';
import { sweep } from '../../support/sweep.ts';

const OUTCOMES = ['works', 'fails', 'hangs', 'resets', 'limited', 'leaves', 'flips'] as const;
type Outcome = (typeof OUTCOMES)[number];

const ERRORS: Readonly<Record<Exclude<Outcome, 'works' | 'flips'>, [ErrorCode, number]>> = {
  fails: ['UPSTREAM_FAILED', 20],
  hangs: ['UPSTREAM_TIMEOUT', 120_000],
  resets: ['UPSTREAM_UNREACHABLE', 5],
  limited: ['UPSTREAM_RATE_LIMITED', 10],
  leaves: ['CANCELLED', 50],
};

interface Member {
  readonly name: string;
  readonly outcome: Outcome;
  /** Milliseconds between two of its calls. */
  readonly everyMs: number;
  readonly models: readonly string[];
  /** Calls at the same time at most. */
  readonly inFlight: number;
}

/** One destination and its callers. It is dead in the time `isDead` says; otherwise each caller gets its outcome. */
class World {
  readonly clock = { now: 0 };
  readonly breaker = new Breaker('P', () => this.clock.now, { opened: () => undefined, closed: () => undefined });
  /** When calls were let through while it was dead. */
  readonly probes: number[] = [];
  /** Of the one whose calls would succeed: when one was made, and how it went. */
  readonly watched: { readonly at: number; readonly isRefused: boolean }[] = [];
  readonly #random: Random;
  readonly #isDead: (now: number) => boolean;
  readonly #ends: { readonly at: number; readonly end: () => void }[] = [];
  readonly #underWay = new Map<string, number>();

  constructor(random: Random, isDead: (now: number) => boolean) {
    this.#random = random;
    this.#isDead = isDead;
  }

  /** Runs until `untilMs`. Most calls are refused, and the stack of their errors would take more time than all else. */
  run(members: readonly Member[], untilMs: number, stepMs = 10): void {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      this.#run(members, untilMs, stepMs);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  #run(members: readonly Member[], untilMs: number, stepMs: number): void {
    const next = members.map(({ everyMs }) => this.#random.below(everyMs + 1));
    while (this.clock.now < untilMs) {
      this.clock.now += stepMs;
      for (const { end } of this.#ends.splice(0, this.#due())) end();
      for (const [index, member] of members.entries())
        if ((next[index] ?? 0) <= this.clock.now) {
          next[index] = this.clock.now + member.everyMs;
          this.#call(member);
        }
    }
  }

  #due(): number {
    const index = this.#ends.findIndex(({ at }) => at > this.clock.now);
    return index < 0 ? this.#ends.length : index;
  }

  #call(member: Member): void {
    const { name, inFlight, models } = member;
    const underWay = this.#underWay.get(name) ?? 0;
    if (underWay >= inFlight) return;
    const model = models.length === 0 ? `made up ${this.#random.below(1e9)}` : this.#random.pick(models);
    const permit = this.#admit({ client: `key ${name}`, key: name, model, promptHash: '' });
    if (name === 'watched') this.watched.push({ at: this.clock.now, isRefused: permit === undefined });
    if (permit === undefined) return;
    this.#underWay.set(name, underWay + 1);
    const [verdict, takesMs] = this.#verdictOf(member);
    const end = (): void => {
      this.#underWay.set(name, (this.#underWay.get(name) ?? 0) - 1);
      verdict(permit);
    };
    this.#addEnd(this.clock.now + takesMs, end);
  }

  /** Behind those that end at the same time. */
  #addEnd(at: number, end: () => void): void {
    let index = this.#ends.length;
    while (index > 0 && (this.#ends[index - 1]?.at ?? 0) > at) index -= 1;
    this.#ends.splice(index, 0, { at, end });
  }

  #admit(call: Parameters<Breaker['admit']>[0]): Permit | undefined {
    try {
      const permit = this.breaker.admit(call);
      if (this.#isDead(this.clock.now)) this.probes.push(this.clock.now);
      return permit;
    } catch {
      return undefined; // it throws nothing but refusals: breaker.spec.ts
    }
  }

  #verdictOf({ outcome }: Member): [(permit: Permit) => void, number] {
    const failing = outcome === 'flips' || outcome === 'works' ? 'fails' : outcome;
    const isFailing = this.#isDead(this.clock.now) || (outcome === 'flips' ? this.#random.below(30) > 0 : outcome !== 'works');
    if (!isFailing) return [(permit) => permit.succeed(), 200];
    const [code, takesMs] = ERRORS[failing];
    return [(permit) => permit.fail(new BlockhouseError(code, 'x', { mayHaveRun: true })), takesMs];
  }
}

function others(random: Random, count: number): Member[] {
  return Array.from({ length: count }, (_, n) => ({
    name: `other ${n}`,
    outcome: random.pick(OUTCOMES),
    everyMs: random.pick([10, 50, 100, 1000, 20_000]),
    models: random.pick([[], ['shared'], ['shared', 'good'], [`m${n}`], [`m${n % 3}`, 'good']]),
    inFlight: random.pick([1, 5, 40]),
  }));
}
const watched = (models: readonly string[]): Member => ({ name: 'watched', outcome: 'works', everyMs: 500, models, inFlight: 3 });

/** The longest time in which every call was refused, and how many were refused in the busiest minute. */
function refusals(calls: World['watched'], from: number) {
  let longestMs = 0;
  let since: number | undefined;
  for (const { at, isRefused } of calls) {
    if (at < from) continue;
    if (!isRefused) since = undefined;
    else {
      since ??= at;
      longestMs = Math.max(longestMs, at - since);
    }
  }
  const refused = calls.filter(({ at, isRefused }) => isRefused && at >= from).map(({ at }) => at);
  return { longestMs, inMinute: busiest(refused, 60_000) };
}

/** How many of these times, in their order, lie within `spanMs` at most. */
function busiest(times: readonly number[], spanMs: number): number {
  let from = 0;
  let most = 0;
  for (const [index, at] of times.entries()) {
    while ((times[from] ?? 0) <= at - spanMs) from += 1;
    most = Math.max(most, index + 1 - from);
  }
  return most;
}

t.test(
  'whatever others do, a caller whose calls succeed waits for one pause of its model and one of all at most, and two thirds of its calls are served',
  async (t) => {
    for (let seed = 0; seed < sweep(200, 1); seed += 1) {
      const random = new Random(seed);
      const world = new World(random, () => false);
      world.run([...others(random, 1 + random.below(30)), watched([random.pick(['good', 'shared'])])], 150_000);
      const { longestMs, inMinute } = refusals(world.watched, 0);
      t.ok(longestMs <= 12_000 && inMinute <= 40, `seed ${seed}: ${longestMs} ms, ${inMinute} of 120 calls in a minute`);
    }
  },
);

t.test('after an outage, such a caller is refused for one pause more at most, whatever others do', async (t) => {
  for (let seed = 0; seed < sweep(200, 1); seed += 1) {
    const random = new Random(seed);
    const endsAt = 20_000 + random.below(120_000);
    const world = new World(random, (now) => now >= 10_000 && now < endsAt);
    world.run([...others(random, 1 + random.below(30)), watched(['good'])], endsAt + 130_000);
    const { longestMs } = refusals(world.watched, endsAt);
    t.ok(longestMs <= 61_000, `seed ${seed}: ${longestMs} ms after the end`);
    const { inMinute } = refusals(world.watched, endsAt + 61_000);
    t.ok(inMinute <= 24, `seed ${seed}: ${inMinute} of 120 calls in a later minute`);
  }
});

t.test('one that comes after the outage is served within 5 s, although 30 others keep failing and 30 hang', async (t) => {
  const random = new Random(1);
  const world = new World(random, (now) => now < 60_000);
  const failing = Array.from(
    { length: 60 },
    (_, n): Member => ({
      name: `${n}`,
      outcome: n % 2 === 0 ? 'fails' : 'hangs',
      everyMs: 20,
      models: [],
      inFlight: 20,
    }),
  );
  world.run(failing, 60_000);
  world.run([...failing, watched(['good'])], 120_000);
  const { longestMs } = refusals(world.watched, 0);
  t.ok(longestMs <= 5000, `${longestMs} ms`);
  t.ok(world.watched.filter(({ isRefused }) => isRefused).length <= 12);
});

t.test('a dead destination gets at most eight calls a second of a thousand callers, and fewer than three once all have tried', async (t) => {
  for (const outcome of (['hangs', 'fails'] as const).slice(0, sweep(2, 1))) {
    const world = new World(new Random(2), () => true);
    const callers = Array.from({ length: 1000 }, (_, n): Member => ({ name: `${n}`, outcome, everyMs: 5000, models: [`m${n % 7}`], inFlight: 2 }));
    world.run(callers, 900_000, 100);
    const opened = world.probes.findIndex((at, n) => at - (world.probes[n - 1] ?? 0) >= 5000);
    const probes = world.probes.slice(opened);
    const inSecond = busiest(probes, 1000);
    t.ok(inSecond <= 8, `${outcome}: ${inSecond} in the busiest second`);
    const late = probes.filter((at) => at > 600_000).length / 300;
    t.ok(late < 3, `${outcome}: ${late} a second`);
  }
});
