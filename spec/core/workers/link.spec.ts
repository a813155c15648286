import t from 'tap';
import { BlockhouseError } from '../../../core/errors.ts';
import type { GatewayLoad } from '../../../core/gateway/live.ts';
import { createBus } from '../../../core/bus.ts';
import { WorkerFacts } from '../../../core/workers/facts.ts';
import { Link } from '../../../core/workers/link.ts';
import { joinedLoads } from '../../../core/workers/loads.ts';
import { callOf, RemoteCall } from '../../../core/workers/remote-call.ts';
import { Turns } from '../../../core/workers/turns.ts';
import { linePair } from '../../support/workers.ts';

interface OneSays {
  readonly tells: { readonly note: string };
  readonly asks: { readonly double: readonly [number, number]; readonly fail: readonly [undefined, undefined] };
}
interface OtherSays {
  readonly tells: object;
  readonly asks: object;
}

function create() {
  const { ends, cut } = linePair();
  const notes: string[] = [];
  const failure = new BlockhouseError('KEY_CAP_REACHED', 'Later.', { retryAfterMs: 7, details: [{ path: 'a', message: 'b' }] });
  const other = new Link<OtherSays, OneSays>(ends[1], {
    tell: { note: (text) => notes.push(text) },
    ask: { double: async (number) => number * 2, fail: () => Promise.reject(failure) },
  });
  const one = new Link<OneSays, OtherSays>(ends[0], { tell: {}, ask: {} });
  return { one, other, notes, cut };
}

t.test('a question is answered, and with the error that the other process throws', async (t) => {
  const { one, notes } = create();
  one.tell('note', 'first');
  t.same(await Promise.all([one.ask('double', 1), one.ask('double', 2)]), [2, 4]);
  t.same(notes, ['first'], 'what was said before a question is heard before its answer');
  await t.rejects(one.ask('fail', undefined), { code: 'KEY_CAP_REACHED', message: 'Later.', retryAfterMs: 7, details: [{ path: 'a', message: 'b' }] });
});

t.test('questions to a process that is gone are refused, those that wait too', async (t) => {
  const { one, cut } = create();
  cut();
  const asked = one.ask('double', 1);
  one.close();
  await t.rejects(asked, { code: 'SHUTTING_DOWN' });
  await t.rejects(one.ask('double', 1), { code: 'SHUTTING_DOWN' });
  t.doesNotThrow(() => one.tell('note', 'nobody'));
});

t.test('a provider is as busy as all processes that call it, and in the worst state of them', async (t) => {
  const load = (atWork: number, phase: GatewayLoad['breaker']['phase']): GatewayLoad => ({
    atWork,
    waiting: 1,
    limits: { concurrency: 64, waiting: 256 },
    breaker: { phase, opensInMs: atWork },
    paused: [{ scope: 'caller', key: `k${atWork}`, caller: undefined, model: undefined, opensInMs: 1 }],
    missing: undefined,
  });
  t.match(joinedLoads([load(1, 'closed'), load(2, 'open'), load(3, 'trying')]), {
    atWork: 6,
    waiting: 3,
    limits: { concurrency: 192, waiting: 768 },
    breaker: { phase: 'open', opensInMs: 2 },
    paused: [{ key: 'k1' }, { key: 'k2' }, { key: 'k3' }],
  });
  t.equal(joinedLoads([]), undefined);
});

t.test('a worker tells what has happened in order, and of its calls only who wants to know', async (t) => {
  const told = (options: { readonly tellsEnds: boolean }, isWatched: boolean): string[] => {
    const names: string[] = [];
    const bus = createBus();
    const link = { tell: (_name: string, facts: readonly { readonly name: string }[]) => names.push(...facts.map(({ name }) => name)) };
    const facts = new WorkerFacts(link as never, bus, options);
    if (isWatched) facts.tellAll();
    for (const name of ['call.started', 'call.retried', 'call.finished', 'adapter.recovered', 'credentials.changed', 'workspace.fault'] as const)
      bus.emit(name, {} as never);
    facts.flush();
    facts.flush();
    return names;
  };
  t.same(told({ tellsEnds: false }, false), ['call.retried', 'adapter.recovered', 'workspace.fault']);
  t.same(told({ tellsEnds: true }, true), ['call.started', 'call.retried', 'call.finished', 'adapter.recovered', 'workspace.fault']);
});

t.test('turns at a file come in the order in which they were asked for, and those at another file do not wait', async (t) => {
  const turns = new Turns();
  const [first, second, other] = [turns.begin('a'), turns.begin('a'), turns.begin('b')];
  const begun: string[] = [];
  const noted = [second.begun.then(() => begun.push('second')), other.begun.then(() => begun.push('other'))];
  await first.begun;
  await noted[1];
  t.same(begun, ['other']);
  first.end();
  await noted[0];
  t.same(begun, ['other', 'second']);
});

t.test('a call of a worker is known by what its account needs, and its usage only grows known', async (t) => {
  const facts = {
    call: 1,
    requestId: 'r',
    key: 'app',
    adapterId: 'p',
    model: 'm',
    hasOutput: true,
    choices: 2,
    inputTokens: 7,
    hourInCache: true,
    isCounted: true,
  };
  const call = new RemoteCall(facts);
  t.match(call, { key: 'app', choices: 2, request: Object, priced: { as: undefined } });
  t.same([call.inputTokens(), call.asksForHourInCache(), call.usageSoFar()], [7, true, undefined]);
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  call.use(usage);
  call.use(undefined);
  t.equal(call.usageSoFar(), usage);
  t.ok(call.ageMs() >= 0);
  const end = { kind: 'chat', call: 1, requestId: 'r', adapter: 'p', model: 'm', attempts: 1, durationMs: 1 } as const;
  t.match(callOf(end, undefined, 'team'), { requestId: 'r', adapterId: 'p', group: 'team', hasOutput: true });
});
