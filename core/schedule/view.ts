// What is shown of the schedules of a block. Pure: no I/O.
import type { BlockConfig } from '../schemas/block-config.ts';
import type { ChatEntry } from '../schemas/chat-entry.ts';
import type { Schedule } from '../schemas/block-config.ts';
import type { ScheduleView } from '../schemas/block-api.ts';
import type { ScheduleStates } from '../store/port.ts';
import { ScheduleFault, type Timing } from './occurrences.ts';
import { type FullState, nextRuns, runsPerDay, SCHEDULE_DEFAULTS, scheduleIn, stateNow, timingOf, timingText } from './plan.ts';

const SHOWN_RUNS = 3;
const SHOWN_OUTCOMES = 10;

/** What the views are made of. */
export interface ToShow {
  readonly config: Pick<BlockConfig, 'schedule' | 'budget'>;
  readonly states: ScheduleStates;
  readonly entries: readonly ChatEntry[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The schedules of a block as they stand. */
export function viewsOf({ config, states, entries, now }: ToShow): ScheduleView[] {
  const answers = new Map(entries.flatMap((entry) => (entry.replyTo === undefined ? [] : [[entry.replyTo, entry] as const])));
  return config.schedule.map((schedule) => {
    const zone = config.budget.timezone;
    const state = stateNow(states[schedule.id], timingText(schedule, zone), now);
    const lastOutcomes = outcomesOf(schedule.id, entries, answers);
    return {
      ...shown(schedule, zone),
      ...standing(schedule, zone, state, { now, lastOutcomes }),
      lastOutcomes,
      ...countsOf(state, states[schedule.id] !== undefined),
    };
  });
}

function shown(
  schedule: Schedule,
  zone: string,
): Omit<Schedule, 'enabled'> & Pick<Required<Schedule>, 'timezone' | 'window' | 'catchUp' | 'graceMinutes' | 'maxPerDay' | 'enabled'> {
  return { ...SCHEDULE_DEFAULTS, timezone: zone, ...schedule };
}

function countsOf(
  { last, fired, skipped, failures, pausedBecause }: FullState,
  isSeen: boolean,
): Pick<ScheduleView, 'last' | 'fired' | 'skipped' | 'failures' | 'pausedBecause'> {
  return { last: isSeen ? last : null, fired, skipped, failures, pausedBecause };
}

type Standing = Pick<ScheduleView, 'state' | 'problem' | 'next' | 'costsAbout'>;

function standing(
  schedule: Schedule,
  zone: string,
  state: FullState,
  { now, lastOutcomes }: { readonly now: number; readonly lastOutcomes: ScheduleView['lastOutcomes'] },
): Standing {
  const still = { problem: null, next: [], costsAbout: null };
  let timing: Timing;
  try {
    timing = timingOf(schedule, zone);
  } catch (error) {
    if (!(error instanceof ScheduleFault)) throw error;
    return { ...still, state: 'invalid', problem: `${error.field} ${error.message}.`.trim() };
  }
  if (schedule.enabled === false) return { ...still, state: 'off' };
  if (state.pausedBecause !== null) {
    const problem = state.pausedBecause === 'failures' ? `It has paused itself, because ${state.failures} runs in a row failed.` : 'Somebody has paused it.';
    return { ...still, state: 'paused', problem };
  }
  const next = nextRuns(timing, state, now, SHOWN_RUNS).map((at) => new Date(at).toISOString());
  if (next.length === 0) return { ...still, state: 'over' };
  const ahead =
    Date.parse(state.last) > now ? `Its last run is in the future (${state.last}): the clock was set back. Resume it, and it runs from now on.` : null;
  return { state: 'active', problem: ahead, next, costsAbout: costsAbout(lastOutcomes, () => runsPerDay(schedule, timing, state, now)) };
}

function outcomesOf(id: string, entries: readonly ChatEntry[], answers: ReadonlyMap<string, ChatEntry>): ScheduleView['lastOutcomes'] {
  const runs = entries.filter(({ role, clientId }) => role === 'user' && scheduleIn(clientId) === id).slice(-SHOWN_OUTCOMES);
  return runs.reverse().map((run) => ({
    messageId: run.id,
    at: run.timestamp,
    status: run.status,
    error: run.error?.message ?? null,
    costUsd: answers.get(run.id)?.costUsd ?? null,
  }));
}

/** The median, because one long answer says little of the next. The runs of a day are counted only where something was spent, since that takes long. */
function costsAbout(outcomes: ScheduleView['lastOutcomes'], countRuns: () => number): ScheduleView['costsAbout'] {
  const costs = outcomes.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd])).sort((a, b) => a - b);
  if (costs.length === 0) return null;
  const upper = costs[Math.floor(costs.length / 2)] ?? 0;
  const lower = costs[Math.floor((costs.length - 1) / 2)] ?? 0;
  const perRunUsd = (upper + lower) / 2;
  const perDay = countRuns();
  return { perRunUsd, runsPerDay: Math.round(perDay * 100) / 100, perDayUsd: perRunUsd * perDay };
}
