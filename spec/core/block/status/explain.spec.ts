import t from 'tap';
import { explain } from '../../../../core/block/status/explain.ts';
import { statusOf } from '../../../../core/block/status/list-entry.ts';
import { Explanation, type Failures } from '../../../../core/schemas/block-api.ts';
import { type BlockPulse, type BlockState, STATES } from '../../../../core/schemas/block-pulse.ts';
import { compile } from '../../../../core/schemas/validate.ts';
import { configOf, pulseOf } from '../../../support/block-files.ts';

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
      ['No model is set.', 'Nothing until it is configured; no messages are waiting.', 'blockhouse config set a adapter.provider=<id> adapter.model=<model>'],
    ],
    [
      'no credentials',
      told('unconfigured', queued(1)),
      ['Its provider "acme" has no credentials or does not exist.', 'Nothing until it is configured; 1 message is waiting.', 'blockhouse auth set acme'],
    ],
    [
      'an address that no stored key may go to',
      told('unconfigured', reason('INVALID_REQUEST', 'config.adapter.baseURL is at http://127.0.0.1:1.', 'blockhouse config edit a')),
      ['config.adapter.baseURL is at http://127.0.0.1:1.', 'Nothing until it is configured; no messages are waiting.', 'blockhouse config edit a'],
    ],
    ['a provider that can be none', told('unconfigured', {}, { adapter: { provider: '; rm', model: 'm' } }).slice(2), ['blockhouse auth set <id>']],
    ['stopped', told('stopped', queued(2)), ['Its monitor is stopped.', 'Nothing until it is started; 2 messages are waiting.', 'blockhouse start a']],
    ['starting by itself', told('stopped', {}, { autoStart: true }).slice(1), ['The next message will start it.', 'blockhouse start a']],
    ['wanted', told('stopped', {}, { enabled: true }).slice(1, 2), ['It will start when the server next starts; no messages are waiting.']],
    ['starting', told('starting'), ['Its monitor is starting and checks the chat.', 'It will wait for messages.', 'none']],
    ['starting with messages', told('starting', queued(1)).slice(1, 2), ['It will answer the first waiting message.']],
    [
      'idle',
      told('idle', {}, { adapter: ADAPTER, enabled: true }),
      ['Its monitor is running and no messages are waiting.', 'It will answer the next message as soon as it arrives.', 'none'],
    ],
    [
      'idle and not wanted',
      told('idle').slice(1, 2),
      ['It will answer the next message as soon as it arrives. It will not start again with the server, because `enabled` is false.'],
    ],
    ['working', told('working'), ['A message is being answered.', 'The answer will be saved when it is complete.', 'none']],
    [
      'compacting',
      told('compacting'),
      ['Older messages are being summarised, because its memory window is full or somebody asked for it.', 'Then it will wait for messages.', 'none'],
    ],
    ['compacting with messages', told('compacting', queued(1)).slice(1, 2), ['Then it will answer the next message.']],
    [
      'backoff',
      told('backoff', { nextWakeUp: '2026-11-20T14:03:22.000Z', ...reason('UPSTREAM_FAILED', 'Acme (HTTP 503): overloaded') }),
      ['The last attempt failed: Acme (HTTP 503): overloaded.', 'It will retry at 14:03:22 UTC, in 12 s.', 'none'],
    ],
    ['backoff without any detail', told('backoff', { nextWakeUp: null }), ['The last attempt failed: the cause is unknown.', 'It will retry soon.', 'none']],
    [
      'a full disk',
      told('backoff', { error: 'x', nextWakeUp: 'soon', ...reason('STORAGE_FULL', 'The disk is full.', 'Free some space.') }),
      ['The last attempt failed: The disk is full.', 'It will retry soon.', 'Free some space.'],
    ],
    [
      'budget',
      told('paused', { nextWakeUp: '2026-11-21T00:00:00.000Z', ...queued(3), ...reason('BUDGET_REACHED', 'budget.dailyUsd ($1.00) is reached.', 'Raise it.') }),
      [
        'budget.dailyUsd ($1.00) is reached.',
        'It will check again at 2026-11-21 00:00:00 UTC, in 9 h 56 min; 3 messages are waiting, and no model is called.',
        'Raise it.',
      ],
    ],
    [
      'kill switch',
      told('paused', reason('HALTED', 'The kill switch is set.', 'blockhouse unhalt')),
      ['The kill switch is set.', 'Nothing until the cause is removed; no messages are waiting, and no model is called.', 'blockhouse unhalt'],
    ],
    ['paused without any detail', told('paused').filter((_, index) => index !== 1), ['Its monitor is paused.', 'blockhouse start a']],
    [
      'stopping',
      told('stopping'),
      [
        'Its monitor is stopping and finishes the current reply.',
        'It will stop within seconds; a reply that is not finished by then is kept as interrupted.',
        'none',
      ],
    ],
    [
      'bad key',
      told('failed', { ...queued(1), ...reason('UPSTREAM_AUTH', 'Acme (HTTP 401): no', 'blockhouse auth set <provider>') }),
      [
        'Acme (HTTP 401): no.',
        'Nothing until its configuration or auth.json changes, or somebody starts it; 1 message is waiting.',
        'blockhouse auth set acme',
      ],
    ],
    ['failed without any detail', told('failed').filter((_, index) => index !== 1), ['Its monitor gave up; the log shows why.', 'blockhouse start a']],
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
  t.equal(why('waiting-model', 2), 'A message is being answered, attempt 2: the model has not started to answer.');
  t.equal(why('streaming'), 'A message is being answered: 7 characters have arrived.');
  t.equal(why('saving'), 'A message is being answered: the answer is being saved.');
  t.equal(why('compacting'), 'A message is being answered: older messages are being summarised.');
  const tool = { messageId: '1', startedAt: '', attempt: 1, phase: 'calling-tool', outputChars: 0, step: 3, steps: 25, tool: 'github/create_issue' } as const;
  t.equal(told('working', { currentTask: tool })[0], 'It calls github/create_issue, step 3 of 25.');
  t.equal(told('working', { currentTask: { ...tool, toolSince: '2026-11-20T14:02:58.000Z' } })[0], 'It calls github/create_issue, step 3 of 25, since 12 s.');
  t.match(told('waiting-approval', reason('WAITING_APPROVAL', 'A message waits.', 'blockhouse approve a3f9'))[2], 'blockhouse approve a3f9');
  const waits = (fix: string) => told('waiting-approval', reason('WAITING_APPROVAL', 'A message waits.', fix))[1];
  t.match(waits('blockhouse approve a3f9'), /^The message goes on when somebody has decided\. `blockhouse deny a3f9` refuses it\./);
  t.match(waits('blockhouse approvals --id a3f9'), /^The message goes on when somebody has decided\.(?! `blockhouse deny)/);
  t.equal(told('working', queued(2))[1], 'The answer will be saved when it is complete; 2 messages are waiting behind it.');
});

t.test('a time is given as absolute and relative time', async (t) => {
  const cases: [string, string][] = [
    ['2026-11-20T14:03:10.000Z', 'at 14:03:10 UTC, now'],
    ['2026-11-20T14:03:09.000Z', 'at 14:03:09 UTC, now'],
    ['2026-11-20T14:03:10.001Z', 'at 14:03:10 UTC, in 1 s'],
    ['2026-11-20T14:04:10.000Z', 'at 14:04:10 UTC, in 1 min'],
    ['2026-11-20T14:07:40.000Z', 'at 14:07:40 UTC, in 4 min 30 s'],
    ['2026-11-20T15:03:11.000Z', 'at 15:03:11 UTC, in 1 h'],
    ['2026-12-01T00:00:00.000Z', 'at 2026-12-01 00:00:00 UTC, in 10 d 9 h'],
  ];
  for (const [nextWakeUp, wanted] of cases) t.equal(told('backoff', { nextWakeUp })[1], `It will retry ${wanted}.`, nextWakeUp);
});

t.test('a failed message is named with its cause and the command that queues it again', async (t) => {
  const last = { id: 'm2', at: '2026-11-20T14:01:30.000Z', code: 'UPSTREAM_REJECTED', message: 'Acme (HTTP 400): too long' };
  const of = (failures: Failures, state: BlockState = 'idle') =>
    explain({ name: 'a', config: configOf({ adapter: ADAPTER }), pulse: pulseOf({ state }), failures, now: NOW });
  t.match(of(NONE), { failures: NONE, failed: null, fix: null });
  t.match(of({ count: 1, since: last.at, last }), {
    failures: { count: 1, last },
    why: 'Its monitor is running and no messages are waiting.',
    failed: 'Message m2 failed at 2026-11-20 14:01 UTC (UPSTREAM_REJECTED): Acme (HTTP 400): too long. Retry it with `blockhouse queue a --retry m2`.',
    fix: 'blockhouse queue a --retry m2',
  });
  const several = of({ count: 3, since: '2026-11-19T08:00:00.000Z', last }, 'stopped');
  t.match(several.failed, /^3 messages have failed since 2026-11-19 08:00 UTC\. The last one is m2 \(UPSTREAM_REJECTED\)/);
  t.equal(several.fix, 'blockhouse start a', 'the state comes first');
  const odd = of({ count: 1, since: 'then', last: { ...last, at: 'then', id: 'x; rm' } });
  t.match(odd, { failed: /failed at then .*--retry <id>/, fix: 'blockhouse queue a --retry <id>' });
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
