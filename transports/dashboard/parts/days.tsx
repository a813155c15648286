// Spending by day as bars, with a cap as a line.
import { usd } from '../app/format.ts';
import { capLineText, dayText } from '../app/text/costs.ts';

/** One day: `2026-11-23`, UTC. */
export interface Day {
  readonly day: string;
  readonly cost: number | null;
  readonly calls: number;
}

const WIDTH = 16;
const HEIGHT = 120;
const MOST_DAYS = 45;

/** The newest days, oldest first. Each bar has its numbers as a title; the table beside it has them as text. */
export function Days({ days, cap }: { readonly days: readonly Day[]; readonly cap?: number | null | undefined }) {
  const shown = [...days].sort((one, other) => (one.day < other.day ? -1 : 1)).slice(-MOST_DAYS);
  const most = Math.max(0.000001, ...shown.map(({ cost }) => cost ?? 0), cap ?? 0);
  const y = (cost: number): number => HEIGHT - (cost / most) * (HEIGHT - 8);
  return (
    <div class="days scroll">
      <svg
        width={Math.max(1, shown.length) * WIDTH}
        height={HEIGHT + 2}
        role="img"
        aria-label={shown.map(({ day, cost, calls }) => dayText(day, cost, calls)).join('; ')}
      >
        {shown.map(({ day, cost, calls }, index) => (
          <rect key={day} class="day-bar" x={index * WIDTH + 2} width={WIDTH - 4} y={y(cost ?? 0)} height={Math.max(1, HEIGHT - y(cost ?? 0))} rx="1">
            <title>{dayText(day, cost, calls)}</title>
          </rect>
        ))}
        {cap !== null && cap !== undefined && (
          <line class="cap-line" x1="0" x2={shown.length * WIDTH} y1={y(cap)} y2={y(cap)}>
            <title>{usd(cap)}</title>
          </line>
        )}
      </svg>
      {cap !== null && cap !== undefined && <p class="cap-key">{capLineText(cap)}</p>}
    </div>
  );
}
