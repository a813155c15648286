import t from 'tap';
import { assertSchedules } from '../../../core/schedule/check.ts';
import { viewsOf } from '../../../core/schedule/view.ts';
import type { BlockConfig, ChatEntry, Schedule } from '../../../core/types.ts';

const NOW = Date.parse('2026-11-20T10:00Z');
const BRIEF: Schedule = { id: 'brief', cron: '0 8 * * *', message: 'Write.' };
const config = (...schedule: Schedule[]) => ({ schedule, budget: { timezone: 'Europe/Berlin' } }) as unknown as BlockConfig;
const view = (schedule: Schedule, states = {}, entries: unknown[] = []) =>
  viewsOf({ config: config(schedule), states, entries: entries as ChatEntry[], now: NOW })[0];

t.test('a schedule is shown with what it has without a word, and with its next three runs', async (t) => {
  t.match(view(BRIEF), {
    id: 'brief',
    timezone: 'Europe/Berlin',
    window: 3,
    catchUp: 'one',
    graceMinutes: 60,
    maxPerDay: 48,
    enabled: true,
    state: 'active',
    problem: null,
    next: ['2026-11-21T07:00:00.000Z', '2026-11-22T07:00:00.000Z', '2026-11-23T07:00:00.000Z'],
    last: null,
    fired: 0,
    lastOutcomes: [],
    costsAbout: null,
  });
});

t.test('it says why it does not run', async (t) => {
  t.match(view({ ...BRIEF, enabled: false }), { state: 'off', next: [] });
  t.match(view({ ...BRIEF, cron: '0 0 30 2 *' }), { state: 'invalid', next: [], problem: /^cron never comes/ });
  t.match(view({ id: 'brief', message: 'x' }), { state: 'invalid', problem: /^must have one of/ });
  t.match(view({ id: 'brief', at: '2026-11-01T00:00:00Z', message: 'x' }), { state: 'over', next: [] });
  const of = '0 8 * * * Europe/Berlin';
  t.match(view(BRIEF, { brief: { last: '2026-11-20T07:00:00.000Z', of, pausedBecause: 'person' } }), { state: 'paused', problem: 'Somebody has paused it.' });
  t.match(view(BRIEF, { brief: { last: '2026-11-20T07:00:00.000Z', of, pausedBecause: 'failures', failures: 5 } }), {
    state: 'paused',
    problem: /5 runs in a row failed/,
  });
  t.match(view(BRIEF, { brief: { last: '2027-11-20T07:00:00.000Z', of } }), {
    state: 'active',
    problem: /clock was set back/,
    next: ['2027-11-21T07:00:00.000Z'],
  });
});

t.test('the last ten outcomes are shown, and their median is what a run costs', async (t) => {
  const run = (n: number, costUsd: number | null) => [
    { id: `m${n}`, role: 'user', clientId: `schedule:brief:${n}`, timestamp: `t${n}`, status: 'done', error: null },
    { id: `a${n}`, role: 'assistant', replyTo: `m${n}`, costUsd },
  ];
  const failed = { id: 'f', role: 'user', clientId: 'schedule:brief:f', timestamp: 'tf', status: 'failed', error: { message: 'No key.' } };
  const other = { id: 'o', role: 'user', clientId: 'schedule:other:1', status: 'done' };
  const entries = [...run(0, 100), ...[0.01, 0.02, 0.03, 0.04, 9, 0.05, 0.06, 0.07, null].flatMap((cost, n) => run(n + 1, cost)), failed, other];
  const shown = view(BRIEF, {}, entries);
  t.equal(shown?.lastOutcomes.length, 10, 'the oldest is left out');
  t.match(shown?.lastOutcomes[0], { messageId: 'f', status: 'failed', error: 'No key.', costUsd: null });
  t.match(shown?.lastOutcomes[1], { messageId: 'm9', at: 't9', costUsd: null });
  t.equal(shown?.costsAbout?.perRunUsd.toFixed(4), '0.0450', 'the middle of eight');
  t.match(shown?.costsAbout, { runsPerDay: 1, perDayUsd: shown?.costsAbout?.perRunUsd });
});

t.test('a configuration says which schedule is wrong, and where', async (t) => {
  const refused = (after: readonly Schedule[], message: RegExp, before: readonly Schedule[] = []): void => {
    t.throws(() => assertSchedules(config(...before), config(...after), 'config.', NOW), { code: 'INVALID_REQUEST', message });
  };
  refused([BRIEF, BRIEF], /^config\.schedule\[1\]\.id is there twice: brief\.$/);
  refused([BRIEF, { ...BRIEF, id: 'b', cron: '0 0 30 2 *' }], /^config\.schedule\[1\]\.cron never comes/);
  refused([{ id: 'b', message: 'x' }], /^config\.schedule\[0\] must have one of cron, every and at\.$/);
  refused([{ ...BRIEF, message: '  ' }], /^config\.schedule\[0\]\.message must not be blank\.$/);
  refused([{ ...BRIEF, timezone: 'Mars' }], /^config\.schedule\[0\]\.timezone must be an IANA/);
  const past: Schedule = { id: 'b', at: '2026-11-01T00:00:00Z', message: 'x' };
  refused([past], /^config\.schedule\[0\]\.at must lie in the future\.$/);
  refused([{ ...BRIEF, until: '2026-11-19' }], /^config\.schedule\[0\]\.until lies before the next run\.$/);
  t.doesNotThrow(() => assertSchedules(config(past), config({ ...past, message: 'y' }, BRIEF), '', NOW), 'one that has had its run stays');
});
