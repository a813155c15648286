// What only blocks with schedules need, as one module that is loaded with the first of them.
export { assertSchedules } from './check.ts';
export { stateNow, timingText, windowOf } from './plan.ts';
export { Scheduler } from './scheduler.ts';
export { viewsOf } from './view.ts';
