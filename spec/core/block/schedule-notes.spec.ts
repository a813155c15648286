import t from 'tap';
import { scheduleFindings, scheduleNotes } from '../../../core/block/schedule-notes.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import type { BlockConfig } from '../../../core/types.ts';

const NOW = Date.parse('2026-11-20T10:00Z');
const config = (...schedule: object[]) => ({ name: 'ada', schedule, budget: { timezone: 'UTC' } }) as unknown as BlockConfig;
const BRIEF = { id: 'brief', cron: '0 8 * * *', message: 'x' };
const of = '0 8 * * * UTC';

t.test('a block without schedules reads nothing', async (t) => {
  const never = () => Promise.reject(new Error('it was read'));
  t.strictSame([await scheduleNotes(config(), never, NOW), await scheduleFindings(config(), never, NOW)], [[], []]);
});

t.test('a clock that was set back is said, and a fault of the disk is no damage', async (t) => {
  const ahead = async () => ({ brief: { last: '2027-01-01T00:00:00.000Z', of } });
  t.match(await scheduleNotes(config(BRIEF), ahead, NOW), [/^Its schedule brief: Its last run is in the future/]);
  t.match(await scheduleFindings(config(BRIEF), ahead, NOW), [{ severity: 'warning', fix: 'blockhouse schedule resume ada brief' }]);
  t.strictSame(await scheduleNotes(config(BRIEF), async () => ({}), NOW), []);
  const failing = () => Promise.reject(new BlockhouseError('STORAGE_FAILED', 'The disk.'));
  await t.rejects(scheduleNotes(config(BRIEF), failing, NOW), { code: 'STORAGE_FAILED' });
  const damaged = () => Promise.reject(new BlockhouseError('BLOCK_DAMAGED', 'schedule.json.'));
  t.match(await scheduleFindings(config(BRIEF), damaged, NOW), [{ severity: 'error', place: 'blocks/ada/schedule.json' }]);
});
