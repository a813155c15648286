import t from 'tap';
import { statusOf } from '../../../core/block/summary.ts';
import { explain } from '../../../core/monitor/explain.ts';
import { Explanation, type Failures } from '../../../core/schemas/block-api.ts';
import { type BlockPulse, type BlockState, STATES } from '../../../core/schemas/block-pulse.ts';
import { compile } from '../../../core/schemas/validate.ts';
import { configOf, pulseOf } from '../../support/block-files.ts';

const NOW = Date.parse('2026-11-20T14:03:10.000Z');
const NONE: Failures = { count: 0, since: null, last: null };
const ADAPTER = { provider: 'acme', model: 'm' };

function told(state: BlockState, pulse: Partial<BlockPulse> = {}, config: object = { adapter: ADAPTER }): string[] {
  const { why, next, fix } = explain({
    name: 'a',
    config: configOf({ ...config }),
    pulse: pulseOf({ state, status: statusOf(state), ...pulse }),
    failures: NONE,
    now: NOW,
  });
  return [why, next, fix ?? 'none'];
}

const queued = (count: number): Partial<BlockPulse> => ({ queue: { queued: count, processing: 0, failed: 0, oldestQueuedAt: null } });
const reason = (code: string, message: string, fix: string | null = null): Partial<BlockPulse> => ({ reason: { code, message, fix } });

t.test('each state has a reason, a next step, and a fix if a person is needed', async (t) => {
  const cases: [title: string, found: string[], wanted: string[]][] = [
    [
      'no model',
      told('unconfigured', {}, {}),
      ['No model is set.', 'Nothing by itself; no message waits.', 'blockhouse config set a adapter.provider=<id> adapter.model=<model>'],
    ],
    [
      'no credentials',
      told('unconfigured', queued(1)),
      ['Its adapter "acme" has no credentials, or there is no such adapter.', 'Nothing by itself; 1 message waits.', 'blockhouse auth set acme'],
    ],
    ['a provider that can be none', told('unconfigured', {}, { adapter: { provider: '; rm', model: 'm' } }).slice(2), ['blockhouse auth set <id>']],
    ['stopped', told('stopped', queued(2)), ['Its monitor is stopped.', 'Nothing until it is started; 2 messages wait.', 'blockhouse start a']],
    ['starting by itself', told('stopped', {}, { autoStart: true }).slice(1), ['The next message starts it.', 'blockhouse start a']],
    ['wanted', told('stopped', {}, { enabled: true }).slice(1, 2), ['It starts with the next start of the server; no message waits.']],
    ['starting', told('starting'), ['Its monitor has been started and brings the chat in order.', 'It waits for messages then.', 'none']],
    ['starting with messages', told('starting', queued(1)).slice(1, 2), ['It answers the first message that waits.']],
    [
      'idle',
      told('idle', {}, { adapter: ADAPTER, enabled: true }),
      ['Its monitor runs and no message waits.', 'It answers the next message as soon as it comes.', 'none'],
    ],
    [
      'idle and not wanted',
      told('idle').slice(1, 2),
      ['It answers the next message as soon as it comes. It does not start again with the server, because `enabled` is false.'],
    ],
    ['working', told('working'), ['A message is being answered.', 'The answer is stored when it is complete.', 'none']],
    [
      'compacting',
      told('compacting'),
      ['Older messages are being summarised, because the window of its memory is full or somebody asked for it.', 'It waits for messages then.', 'none'],
    ],
    ['compacting with messages', told('compacting', queued(1)).slice(1, 2), ['It answers the next message then.']],
    [
      'backoff',
      told('backoff', { nextWakeUp: '2026-11-20T14:03:22.000Z', ...reason('UPSTREAM_FAILED', 'Acme (HTTP 503): overloaded') }),
      ['The last attempt failed: Acme (HTTP 503): overloaded.', 'It retries at 14:03:22 UTC, in 12 s.', 'none'],
    ],
    ['backoff without any detail', told('backoff', { nextWakeUp: null }), ['The last attempt failed: the cause is not known.', 'It retries soon.', 'none']],
    [
      'a full disk',
      told('backoff', { error: 'x', nextWakeUp: 'soon', ...reason('STORAGE_FULL', 'The disk is full.', 'Free some space.') }),
      ['The last attempt failed: The disk is full.', 'It retries soon.', 'Free some space.'],
    ],
    [
      'budget',
      told('paused', { nextWakeUp: '2026-11-21T00:00:00.000Z', ...queued(3), ...reason('BUDGET_REACHED', 'budget.dailyUsd ($1.00) is reached.', 'Raise it.') }),
      [
        'budget.dailyUsd ($1.00) is reached.',
        'It looks again at 2026-11-21 00:00:00 UTC, in 9 h 56 min; 3 messages wait, and no model is called.',
        'Raise it.',
      ],
    ],
    [
      'kill switch',
      told('paused', reason('HALTED', 'The kill switch is set.', 'blockhouse unhalt')),
      ['The kill switch is set.', 'Nothing by itself; no message waits, and no model is called.', 'blockhouse unhalt'],
    ],
    ['paused without any detail', told('paused').filter((_, index) => index !== 1), ['It was told to wait.', 'blockhouse start a']],
    [
      'stopping',
      told('stopping'),
      [
        'Its monitor was told to stop and finishes the reply it is at.',
        'It is stopped within seconds; a reply that does not end by then is kept as interrupted.',
        'none',
      ],
    ],
    [
      'bad key',
      told('failed', { ...queued(1), ...reason('UPSTREAM_AUTH', 'Acme (HTTP 401): no', 'blockhouse auth set <provider>') }),
      ['Acme (HTTP 401): no.', 'Nothing until its configuration or auth.json changes or somebody starts it; 1 message waits.', 'blockhouse auth set acme'],
    ],
    ['failed without any detail', told('failed').filter((_, index) => index !== 1), ['Its monitor gave up; the log has the cause.', 'blockhouse start a']],
  ];
  for (const [title, found, wanted] of cases) t.same(found, wanted, title);
});

t.test('the fix of a failure names the block and its provider', async (t) => {
  const fix = (code: string, given: string | null, config?: object) => told('failed', reason(code, 'x', given), config)[2];
  t.equal(fix('ADAPTER_NOT_CONFIGURED', 'old'), 'blockhouse auth set acme');
  t.equal(fix('UPSTREAM_REJECTED', 'old'), 'blockhouse config set a adapter.model=<model>');
  t.match(fix('NOT_CONFIGURED', 'old'), /^blockhouse config set a adapter\.provider=/);
  t.match(fix('UPSTREAM_AUTH', 'old', {}), /^blockhouse config set a adapter\.provider=/, 'when the adapter is gone');
  t.equal(fix('CRASH_LOOP', 'blockhouse logs a'), 'blockhouse logs a');
  t.equal(fix('CRASH_LOOP', null), 'blockhouse start a');
});

t.test('a reply is described by its phase', async (t) => {
  const why = (phase: 'waiting-model' | 'streaming' | 'saving' | 'compacting', attempt = 1) =>
    told('working', { currentTask: { messageId: '1', startedAt: '', attempt, phase, outputChars: 7 } })[0];
  t.equal(why('waiting-model', 2), 'A message is being answered, attempt 2: the model has not begun yet.');
  t.equal(why('streaming'), 'A message is being answered: 7 characters have come.');
  t.equal(why('saving'), 'A message is being answered: the answer is being stored.');
  t.equal(why('compacting'), 'A message is being answered: older messages are being summarised.');
  t.equal(told('working', queued(2))[1], 'The answer is stored when it is complete; then 2 messages wait for their turn.');
});

t.test('a time is given as absolute and relative time', async (t) => {
  const cases: [string, string][] = [
    ['2026-11-20T14:03:10.000Z', 'at 14:03:10 UTC, which is now'],
    ['2026-11-20T14:03:09.000Z', 'at 14:03:09 UTC, which is now'],
    ['2026-11-20T14:03:10.001Z', 'at 14:03:10 UTC, in 1 s'],
    ['2026-11-20T14:04:10.000Z', 'at 14:04:10 UTC, in 1 min'],
    ['2026-11-20T14:07:40.000Z', 'at 14:07:40 UTC, in 4 min 30 s'],
    ['2026-11-20T15:03:11.000Z', 'at 15:03:11 UTC, in 1 h'],
    ['2026-12-01T00:00:00.000Z', 'at 2026-12-01 00:00:00 UTC, in 10 d 9 h'],
  ];
  for (const [nextWakeUp, wanted] of cases) t.equal(told('backoff', { nextWakeUp })[1], `It retries ${wanted}.`, nextWakeUp);
});

t.test('a failed message is named with its cause and the command that queues it again', async (t) => {
  const last = { id: 'm2', at: '2026-11-20T14:01:30.000Z', code: 'UPSTREAM_REJECTED', message: 'Acme (HTTP 400): too long' };
  const of = (failures: Failures, state: BlockState = 'idle') =>
    explain({ name: 'a', config: configOf({ adapter: ADAPTER }), pulse: pulseOf({ state }), failures, now: NOW });
  t.match(of(NONE), { failures: NONE, failed: null, fix: null });
  t.match(of({ count: 1, since: last.at, last }), {
    failures: { count: 1, last },
    why: 'Its monitor runs and no message waits.',
    failed:
      '1 message has failed. It is m2, and failed at 2026-11-20 14:01 UTC, with UPSTREAM_REJECTED: Acme (HTTP 400): too long. `blockhouse queue a --retry m2` queues it again.',
    fix: 'blockhouse queue a --retry m2',
  });
  const several = of({ count: 3, since: '2026-11-19T08:00:00.000Z', last }, 'stopped');
  t.match(several.failed, /^3 messages have failed since 2026-11-19 08:00 UTC\. The last one is m2, with UPSTREAM_REJECTED/);
  t.equal(several.fix, 'blockhouse start a', 'the state comes first');
  const odd = of({ count: 1, since: 'then', last: { ...last, at: 'then', id: 'x; rm' } });
  t.match(odd, { failed: /failed at then, .*--retry <id>/, fix: 'blockhouse queue a --retry <id>' });
});

t.test('an explanation says since when the state lasts, and what came before', async (t) => {
  const step = (n: number, from: BlockState, to: BlockState) => ({ at: `2026-11-20T14:00:${10 + n}.000Z`, from, to, cause: 'x', actor: 'user' as const });
  const transitions = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? step(n, 'idle', 'working') : step(n, 'working', 'idle')));
  const of = (pulse: Partial<BlockPulse>) => explain({ name: 'a', config: configOf(), pulse: pulseOf(pulse), failures: NONE, now: NOW });
  const idle = of({ state: 'idle', transitions });
  t.equal(idle.since, '2026-11-20T14:00:21.000Z');
  t.same(idle.lastTransitions, transitions.slice(2));
  t.equal(of({ state: 'working', transitions }).since, '2026-11-20T14:00:20.000Z');
  t.equal(of({ state: 'stopped', stoppedAt: 'then' }).since, 'then');
  t.equal(of({ state: 'failed', stoppedAt: 'then' }).since, null);
});

t.test('every explanation matches its schema', async (t) => {
  const check = compile(Explanation);
  for (const state of STATES)
    t.doesNotThrow(() => check(explain({ name: 'a', config: configOf(), pulse: pulseOf({ state }), failures: NONE, now: NOW })), state);
});
