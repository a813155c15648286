import t from 'tap';
import { SCHEDULE_EXAMPLES } from '../../../../transports/http/openapi/examples-schedules.ts';

t.test('the examples show one schedule in its states', async (t) => {
  t.match(SCHEDULE_EXAMPLES.Schedules.value, { schedules: [{ state: 'active', next: [/Z$/, /Z$/, /Z$/] }], held: null });
  t.match(SCHEDULE_EXAMPLES.PausedSchedule.value.schedule, { state: 'paused', next: [], pausedBecause: 'person' });
  t.match(SCHEDULE_EXAMPLES.ResumedSchedule.value.schedule, { state: 'active', pausedBecause: null });
});
