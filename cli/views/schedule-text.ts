// The schedules and hooks of a block as text. Pure: no I/O.
import type { HookList, ScheduleList, ScheduleView } from '../../core/index.ts';
import { money, plural, relative, UNKNOWN } from '../terminal/format.ts';
import { type Column, table } from '../terminal/layout.ts';
import { oneLine, type Style } from '../terminal/output.ts';
import type { View } from './block-text.ts';

const INDENT = '  ';
const REASONS = {
  missed: 'missed',
  overlap: 'because the message before was not answered',
  halted: 'while all blocks were halted',
  cap: 'over a cap',
} as const;

/** The lines of `schedule ls`: a few for each schedule. */
export function scheduleLines({ schedules, held }: ScheduleList, { now, style }: Omit<View, 'width'>): string[] {
  const lines = schedules.flatMap((schedule, index) => [...(index === 0 ? [] : ['']), ...linesOf(schedule, now, style)]);
  return held === null || schedules.length === 0 ? lines : [style.warn(oneLine(held)), '', ...lines];
}

function linesOf(schedule: ScheduleView, now: number, style: Style): string[] {
  const { id, state, problem, message, next, timezone } = schedule;
  const paint = state === 'active' ? style.good : state === 'invalid' || schedule.pausedBecause === 'failures' ? style.bad : style.dim;
  const details = [
    oneLine(message),
    ...(problem === null ? [] : [style.warn(oneLine(problem))]),
    ...next.map((at, index) => `${index === 0 ? 'next ' : '     '} ${bothZones(at, timezone)}${index === 0 ? `, ${relative(at, now)}` : ''}`),
    `last  ${lastRun(schedule, now)}`,
    ...(skippedText(schedule) === '' ? [] : [`left out: ${skippedText(schedule)}`]),
    ...costLine(schedule),
  ];
  return [`${style.bold(oneLine(id))}  ${paint(state)}  ${oneLine(timingText(schedule))}`, ...details.map((line) => `${INDENT}${line}`)];
}

/** Such as `0 8 * * 1-5 Europe/Berlin`. */
export function timingText({ cron, every, at, until, timezone }: ScheduleView): string {
  const times = cron ?? (every === undefined ? `once at ${at ?? UNKNOWN}` : `every ${every}`);
  return `${times}${cron === undefined ? '' : ` ${timezone}`}${until === undefined ? '' : ` until ${until}`}`;
}

/** The time in the zone of the schedule, and in UTC. */
function bothZones(at: string, timezone: string): string {
  const utc = `${at.slice(0, 16).replace('T', ' ')} UTC`;
  return timezone === 'UTC' ? utc : `${inZone(at, timezone)} ${oneLine(timezone)} = ${utc}`;
}

/** A zone that this machine does not know stays UTC. */
function inZone(at: string, timeZone: string): string {
  try {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
    return format.format(new Date(at));
  } catch {
    return at.slice(0, 16).replace('T', ' ');
  }
}

function lastRun({ lastOutcomes, fired }: ScheduleView, now: number): string {
  const [last] = lastOutcomes;
  if (last === undefined) return fired === 0 ? 'never' : `${plural(fired, 'run')}, none of them in the chat any more`;
  const why = last.error === null ? '' : `: ${oneLine(last.error)}`;
  return `${relative(last.at, now)}, ${oneLine(last.status)}${why}${fired === 0 ? '' : ` (${plural(fired, 'run')})`}`;
}

function skippedText({ skipped }: ScheduleView): string {
  const parts = Object.entries(REASONS).map(([reason, words]) => {
    const runs = skipped[reason as keyof typeof REASONS];
    return runs === 0 ? '' : `${runs} ${words}`;
  });
  return parts.filter(Boolean).join(', ');
}

function costLine({ costsAbout }: ScheduleView): string[] {
  if (costsAbout === null) return [];
  const { perRunUsd, runsPerDay, perDayUsd } = costsAbout;
  return [`costs about ${money(perDayUsd)} a day (${money(perRunUsd)} a run, ${runsPerDay} runs a day)`];
}

const HOOKS: readonly Column[] = [
  { title: 'HOOK' },
  { title: 'SIGNED' },
  { title: 'PER HOUR', align: 'right', drop: 2 },
  { title: 'WINDOW', align: 'right', drop: 3 },
  { title: 'SECRET', drop: 1 },
  { title: 'PATH' },
];

/** The table of `hook ls`. */
export function hookTable(hooks: HookList['hooks'], view: Omit<View, 'now'>): string[] {
  const rows = hooks.map(({ id, style, perHour, window, hasSecret, path }) => [id, style, String(perHour), String(window), hasSecret ? 'set' : 'none', path]);
  return table(HOOKS, rows, view);
}
