// Spending by day as bars, with a cap as a line.
import { usd } from '../app/format.ts';
import { capLineText, dayText, spanOfDaysText } from '../app/text/costs.ts';
import { serverNow } from '../data/clock.ts';
import { calendarOf } from '../data/month.ts';

/** One day: `2026-11-23`, UTC. */
export interface Day {
  readonly day: string;
  readonly cost: number | null;
  readonly calls: number;
}

const WIDTH = 16;
const HEIGHT = 120;

/** The newest days up to today, oldest first; a day without an entry is a gap. Each bar has its numbers as a title; the table beside it has them as text. */
export function Days({ days, cap }: { readonly days: readonly Day[]; readonly cap?: number | null | undefined }) {
  const known = new Map(days.map((each) => [each.day, each]));
  const dates = calendarOf([...known.keys()], new Date(serverNow()).toISOString().slice(0, 10));
  const shown = dates.flatMap((date) => known.get(date) ?? []);
  const highest = Math.max(0, ...shown.map(({ cost }) => cost ?? 0));
  const most = Math.max(0.000001, highest, cap ?? 0);
  const y = (cost: number): number => HEIGHT - (cost / most) * (HEIGHT - 8);
  const width = dates.length * WIDTH;
  return (
    <div class="days">
      <svg
        viewBox={`0 0 ${width} ${HEIGHT + 2}`}
        width={width}
        height={HEIGHT + 2}
        preserveAspectRatio="none"
        role="img"
        aria-label={shown.map(({ day, cost, calls }) => dayText(day, cost, calls)).join('; ')}
      >
        <line class="day-base" x1="0" x2={width} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
        {shown.map(({ day, cost, calls }) => (
          <rect
            key={day}
            class="day-bar"
            x={dates.indexOf(day) * WIDTH + 2}
            width={WIDTH - 4}
            y={y(cost ?? 0)}
            height={Math.max(1, HEIGHT - y(cost ?? 0))}
            rx="1"
          >
            <title>{dayText(day, cost, calls)}</title>
          </rect>
        ))}
        {cap !== null && cap !== undefined && (
          <line class="cap-line" x1="0" x2={width} y1={y(cap)} y2={y(cap)}>
            <title>{usd(cap)}</title>
          </line>
        )}
      </svg>
      <p class="sm t2">{spanOfDaysText(dates[0] ?? '', dates.at(-1) ?? '', highest)}</p>
      {cap !== null && cap !== undefined && <p class="cap-key">{capLineText(cap)}</p>}
    </div>
  );
}
