import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { Meter } from '../../../core/gateway/meter.ts';
import { localView } from '../../../core/gateway/view.ts';

const BEGIN = Date.parse('2026-11-23T08:00:00.000Z');

function create() {
  const bus = createBus();
  const world = { now: BEGIN };
  const meter = new Meter(bus, () => world.now);
  const call = (more: object = {}): void =>
    bus.emit('call.finished', { kind: 'chat', call: 1, requestId: 'r', adapter: 'a', model: 'm', attempts: 1, durationMs: 1000, firstTextMs: 200, ...more });
  return { world, meter, call };
}

t.test('counts, tokens and times of a window add up to the calls', async (t) => {
  const { world, meter, call } = create();
  for (let index = 0; index < 100; index += 1) {
    call({ usage: { inputTokens: 10, outputTokens: 3, totalTokens: 13, cacheReadTokens: 4 }, durationMs: 100 + index, firstTextMs: 50 + index });
    world.now += 1000;
  }
  call({ code: 'UPSTREAM_FAILED', firstTextMs: undefined });
  call({ code: 'CANCELLED', firstTextMs: undefined });
  for (const window of ['15m', '90m', '24h'] as const) {
    const points = meter.series('a', window);
    const sum = (name: 'requests' | 'errors' | 'input' | 'output' | 'cached') => points.reduce((all, point) => all + point[name], 0);
    t.same([sum('requests'), sum('errors'), sum('input'), sum('output'), sum('cached')], [102, 1, 1000, 300, 400], window);
    t.ok(points.length <= 180, `${points.length} points`);
    t.ok(points.every(({ at }, index) => index === 0 || at > (points[index - 1]?.at ?? 0)));
  }
  const all = meter.series('a', '24h').filter(({ requests }) => requests > 0);
  for (const { firstTextP50, durationP95 } of all) {
    t.ok((firstTextP50 ?? 0) >= 50 && (firstTextP50 ?? 0) <= 160, String(firstTextP50));
    t.ok((durationP95 ?? 0) >= 100 && (durationP95 ?? 0) <= 260, String(durationP95));
  }
});

t.test('what is older than its window is gone, and an adapter without calls has no series', async (t) => {
  const { world, meter, call } = create();
  call();
  world.now += 16 * 60_000;
  const requests = (window: '15m' | '90m' | '24h') => meter.series('a', window).reduce((sum, point) => sum + point.requests, 0);
  t.equal(requests('15m'), 0);
  t.equal(requests('90m'), 1);
  world.now += 24 * 3_600_000;
  t.equal(requests('24h'), 0);
  call();
  t.equal(requests('24h'), 1, 'a step that comes round again begins anew');
  t.same(meter.series('b', '15m'), []);
});

t.test('the last 500 calls are kept, the newest first', async (t) => {
  const { meter, call } = create();
  for (let index = 0; index < 1300; index += 1) call({ requestId: `r${index}` });
  t.equal(meter.ended().length, 500);
  t.equal(meter.ended()[0]?.fact.requestId, 'r1299');
});

t.test('times without bounds end in the last class', async (t) => {
  const { meter, call } = create();
  call({ durationMs: 1e9, firstTextMs: 0 });
  const [point] = meter.series('a', '24h').filter(({ requests }) => requests > 0);
  t.ok((point?.durationP50 ?? 0) > 300_000);
  t.ok((point?.firstTextP50 ?? 0) <= 10);
});

t.test('the view of a process that serves alone is its own', async (t) => {
  const { meter, call } = create();
  call();
  const load = { atWork: 1 } as never;
  const view = localView({ meter, gateway: { upstreams: () => [{ id: 'a' } as never], load: () => load, live: () => [], stopReading: () => true } });
  t.match(await view.figures('15m'), [{ id: 'a', load, series: { length: 180 } }]);
  t.match(await view.calls(), { live: [], ended: [{ fact: { requestId: 'r' } }] });
  view.addEnd(() => true);
  t.equal(await view.endElsewhere('r'), false, 'there is nobody else');
});

t.test('what a call has cost is known from the line of its ledger, whichever call of the same request that is', async (t) => {
  const bus = createBus();
  const priced = new Meter(bus);
  const end = { kind: 'chat', requestId: 'r', adapter: 'a', model: 'm', attempts: 1, durationMs: 1 } as const;
  const line = { requestId: 'r', key: null, provider: 'a', model: 'm', usage: null, error: null } as const;
  for (const number of [1, 2, 3]) bus.emit('call.finished', { ...end, call: number });
  bus.emit('call.counted', { ...line, call: 2, costUsd: 0.5 });
  bus.emit('call.billed', {
    call: 3,
    block: 'ada',
    provider: 'a',
    model: 'm',
    purpose: 'chat',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    costUsd: null,
  });
  bus.emit('call.counted', { ...line, call: 4, costUsd: 9 });
  t.same(
    priced.ended().map(({ costUsd }) => costUsd),
    [null, 0.5, undefined],
  );
});
