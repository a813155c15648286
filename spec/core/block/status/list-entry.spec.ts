import t from 'tap';
import { countQueue, factsOf } from '../../../../core/block/conversation/counts.ts';
import { noCosts } from '../../../../core/block/costs/costs.ts';
import { damagedEntry, entryOf as entryOfFacts, pulseAsItStands, restingPulse, statusOf } from '../../../../core/block/status/list-entry.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { BlockEntry } from '../../../../core/schemas/block-api.ts';
import { STATES } from '../../../../core/schemas/block-pulse.ts';
import { compile, type Validator } from '../../../../core/schemas/validate.ts';
import type { BlockContents } from '../../../../core/store/port.ts';
import { AT, configOf, memoryOf, pair, pulseOf, userEntry } from '../../../support/block-files.ts';

/** The credentials of every provider, or of none, are set. */
const gateway = (isReady: boolean) => ({
  readiness: (id: string) => ({ id, missing: isReady ? undefined : new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'x') }),
});
const check: Validator<BlockEntry> = compile(BlockEntry);
const entryOf = (contents: BlockContents, now: number): BlockEntry => entryOfFacts(factsOf(contents), now);
const BUCKET = { calls: 1, input: 1, output: 1, cacheRead: 0, cacheWrite: 0, costUsd: 0.5, unpricedCalls: 0 };

t.test('each of the eleven states has one of the four statuses', (t) => {
  t.same(
    STATES.map((state) => [state, statusOf(state)]),
    [
      ['unconfigured', 'SLEEPING'],
      ['stopped', 'SLEEPING'],
      ['starting', 'BUSY'],
      ['idle', 'ACTIVE'],
      ['working', 'BUSY'],
      ['compacting', 'BUSY'],
      ['backoff', 'BUSY'],
      ['paused', 'SLEEPING'],
      ['waiting-approval', 'SLEEPING'],
      ['stopping', 'BUSY'],
      ['failed', 'ERROR'],
    ],
  );
  t.end();
});

t.test('an entry sums up the files without private text, and is deeply frozen', (t) => {
  const adapter = { provider: 'p', model: 'm', baseURL: 'http://x', maxTokens: 1, cacheControl: false };
  const entry = entryOf(
    {
      config: configOf({ description: 'd', adapter, tags: ['t'], systemPrompt: 'hidden' }),
      memory: memoryOf(),
      costs: { ...noCosts(), totalInput: 5, calls: 1, byDay: { '2026-11-20': BUCKET } },
      pulse: pulseOf({ state: 'idle', status: 'ACTIVE' }),
      chat: [...pair('1'), userEntry('2', { status: 'queued', processed: false })],
    },
    Date.parse('2026-11-20T15:00:00.000Z'),
  );
  check(entry);
  t.match(entry, { name: 'a', status: 'ACTIVE', state: 'idle', queue: 1, lastMessageAt: AT });
  t.same(entry.config, { description: 'd', adapter: { provider: 'p', model: 'm' }, tags: ['t'], enabled: false });
  t.same(entry.costs, { totalInput: 5, totalOutput: 0, totalCost: null, calls: 1, today: 0.5 });
  t.same(entry.budget, { dailyUsd: null, spentUsd: 0, state: 'ok' }, 'no stand of this day');
  t.notOk('why' in entry, 'nobody is needed');
  t.throws(() => (entry.config as { tags: string[] }).tags.push('x'));
  t.throws(() => Object.assign(entry.pulse, { state: 'x' }));
  t.end();
});

t.test('an entry says how many messages failed, since when, and why the last one did', (t) => {
  const error = { code: 'UPSTREAM_REJECTED', message: 'too long', retryable: false };
  const failed = (id: string, finishedAt: string) => userEntry(id, { status: 'failed', finishedAt, error });
  const chat = [failed('2', '2026-11-20T14:05:00.000Z'), ...pair('1'), failed('3', '2026-11-20T14:04:00.000Z'), userEntry('4', { status: 'expired' })];
  const entry = entryOf(
    { config: configOf(), memory: memoryOf(), costs: noCosts(), pulse: pulseOf({ state: 'idle', status: 'ACTIVE' }), chat },
    Date.parse('2026-11-20T15:00:00.000Z'),
  );
  check(entry);
  t.match(entry, { status: 'ACTIVE', state: 'idle', attention: false }, 'the state stays true to the machine');
  const last = { id: '2', at: '2026-11-20T14:05:00.000Z', code: 'UPSTREAM_REJECTED', message: 'too long' };
  t.same(entry.failures, { count: 2, since: '2026-11-20T14:04:00.000Z', last });
  t.end();
});

t.test("spending of another day does not count as today's", (t) => {
  const contents = { config: configOf(), memory: memoryOf(), costs: { ...noCosts(), byDay: { '2026-11-20': BUCKET } }, pulse: pulseOf(), chat: [] };
  t.match(entryOf(contents, Date.parse('2026-11-21T00:00:00.000Z')), { costs: { today: null }, config: { adapter: null }, lastMessageAt: null, queue: 0 });
  t.end();
});

t.test('the entry of a damaged block has the error', (t) => {
  const entry = damagedEntry('ada', 'chat.json is bad');
  check(entry);
  t.match(entry, { name: 'ada', status: 'ERROR', state: 'failed', attention: true, configError: 'chat.json is bad', pulse: { error: 'chat.json is bad' } });
  t.throws(() => Object.assign(entry.config, { enabled: true }));
  t.end();
});

t.test('without a monitor, the state that another process left in pulse.json is not shown', (t) => {
  const config = configOf({ adapter: { provider: 'p', model: 'm' }, enabled: true });
  const left = pulseOf({
    state: 'working',
    status: 'BUSY',
    attention: true,
    error: 'x',
    reason: { code: 'X', message: 'x', fix: null },
    nextWakeUp: AT,
    currentTask: { messageId: '1', startedAt: AT, attempt: 1, phase: 'streaming', outputChars: 1 },
    restarts: 3,
    lastRun: AT,
  });
  const at = restingPulse(left, config, countQueue([userEntry('1', { status: 'queued', processed: false })]), gateway(true));
  t.match(at, { state: 'stopped', status: 'SLEEPING', attention: false, error: null, reason: null, nextWakeUp: null, currentTask: null });
  t.match(at, { desired: 'running', restarts: 3, lastRun: AT, queue: { queued: 1 } }, 'the rest stays');
  t.equal(restingPulse(left, config, countQueue([]), gateway(false)).state, 'unconfigured');
  t.match(restingPulse(left, undefined, countQueue([]), gateway(true)), { state: 'unconfigured', desired: left.desired }, 'config.json is damaged');
  t.end();
});

t.test('a block that any server may have shows what its owner does, and waits for messages while nobody has it', (t) => {
  const shown = (state: (typeof STATES)[number], heldBy: string | null, isRunning = true) =>
    pulseAsItStands(
      { pulse: pulseOf({ state }), config: configOf({ enabled: isRunning, adapter: { provider: 'p', model: 'm' } }), queue: countQueue([]) },
      { isRunning, state, heldBy },
      gateway(true),
    ).state;
  t.equal(shown('working', 'b'), 'working');
  t.equal(shown('working', null), 'idle', 'its server has died');
  t.equal(shown('paused', null), 'paused');
  t.equal(shown('stopped', 'b'), 'idle', 'its server has not said a word yet');
  t.equal(shown('idle', null, false), 'stopped');
  t.end();
});

t.test('the activity is the answers of the last 24 hours, also of those that have left the active chat', (t) => {
  const answersByHour = { '2026-11-19T15': 8, '2026-11-19T16': 2, '2026-11-20T15': 700, '2026-11-20T18': 4 };
  const contents = { config: configOf(), memory: memoryOf(), costs: { ...noCosts(), answersByHour }, pulse: pulseOf(), chat: [] };
  t.same(
    entryOf(contents, Date.parse('2026-11-20T15:59:59.999Z')).activity,
    [2, ...Array.from({ length: 22 }, () => 0), 700],
    'none of a clock that was ahead',
  );
  t.same(
    entryOf({ ...contents, costs: noCosts() }, Date.parse(AT)).activity,
    Array.from({ length: 24 }, () => 0),
  );
  t.end();
});

t.test('the stand of another day counts as nothing', (t) => {
  const now = Date.parse('2026-11-20T15:00:00.000Z');
  const stand = (key: string) => ({ day: { usd: 3, tokens: 1, key }, month: { usd: 3, tokens: 1, key: '2026-11' }, state: 'exceeded' as const });
  const entry = (key: string) =>
    entryOf({ config: configOf(), memory: memoryOf(), costs: { ...noCosts(), budget: stand(key) }, pulse: pulseOf(), chat: [] }, now);
  t.match(entry('2026-11-20').budget, { spentUsd: 3, state: 'exceeded' });
  t.match(entry('2026-11-19').budget, { spentUsd: 0, state: 'ok' });
  t.end();
});
