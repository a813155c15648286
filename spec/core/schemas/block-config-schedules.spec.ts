import t from 'tap';
import { Schedule } from '../../../core/schemas/block-config.ts';
import { ScheduleFile } from '../../../core/schemas/block-api.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('a schedule needs an id and a message, and its fields have limits', async (t) => {
  const one = { id: 'brief', message: 'x' };
  t.equal(refusedField(Schedule, one), undefined);
  const wrong: Record<string, unknown> = {
    id: 'Brief',
    message: '',
    cron: '',
    every: 5,
    timezone: 'x'.repeat(65),
    window: 501,
    catchUp: 'some',
    graceMinutes: 0,
    maxPerDay: 1441,
    until: '2026-1-1',
    enabled: 'yes',
  };
  for (const [field, value] of Object.entries(wrong)) t.equal(refusedField(Schedule, { ...one, [field]: value }), field);
  for (const window of [0, 500, 'all']) t.equal(refusedField(Schedule, { ...one, window }), undefined);
});

t.test('of what is remembered, only the last run must be there', async (t) => {
  t.equal(refusedField(ScheduleFile, { brief: { last: '2026-11-20T08:00:00.000Z' } }), undefined);
  t.match(refusedField(ScheduleFile, { brief: {} }), 'last');
  t.match(refusedField(ScheduleFile, { brief: { last: 'x', pausedBecause: 'mood' } }), 'pausedBecause');
});
