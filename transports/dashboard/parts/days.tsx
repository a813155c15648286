// Spending by day as bars, with a cap as a line.
import type { CostBucket } from '../../../core/types.ts';
import { serverNow } from '../base/clock.ts';
import { dateName, usd } from '../base/format.ts';
import { calendarOf } from '../data/month.ts';
import { capLineText, dayText } from '../text/costs.ts';

/** One day: `2026-11-23`, UTC. */
export interface Day {
  readonly day: string;
  readonly cost: number | null;
  readonly calls: number;
  /** Calls that `cost` does not have, because their price is not known. */
  readonly uncounted: number;
}

/** The sums of a day. */
export function dayOf(day: string, { costUsd, calls, unpricedCalls }: Pick<CostBucket, 'costUsd' | 'calls' | 'unpricedCalls'>): Day {
  return { day, cost: costUsd, calls, uncounted: unpricedCalls };
}

interface DaysProps {
  readonly days: readonly Day[];
  readonly cap?: number | null | undefined;
}

/** Both sides of the drawing, which is stretched to its place. */
const SIZE = 600;
const HEADROOM = 16 / 15;
/** A day with calls is seen, however little they cost. */
const MIN_BAR = 8;

/** The newest days up to today, oldest first; a day without an entry is a gap. Each bar has its numbers as a title; the table beside it has them as text. */
export function Days({ days, cap = null }: DaysProps) {
  const known = new Map(days.map((each) => [each.day, each]));
  const dates = calendarOf([...known.keys()], new Date(serverNow()).toISOString().slice(0, 10));
  const shown = dates.flatMap((date) => known.get(date) ?? []);
  const most = Math.max(0, ...shown.map(({ cost }) => cost ?? 0), cap ?? 0);
  const width = SIZE / dates.length;
  const top = (most === 0 ? 1 : most) * HEADROOM;
  const y = (cost: number): number => SIZE - (cost / top) * SIZE;
  const barTop = ({ cost }: Day): number => Math.min(SIZE - MIN_BAR, y(cost ?? 0));
  return (
    <figure class="over-time days">
      <div class="area">
        <svg viewBox={`0 0 ${SIZE} ${SIZE}`} preserveAspectRatio="none" role="img" aria-label={shown.map(dayText).join('; ')}>
          {[0.5, 1].map((part) => (
            <line key={part} class="grid" x1="0" x2={SIZE} y1={y(most * part)} y2={y(most * part)} />
          ))}
          {shown.map((each) => (
            <g key={each.day}>
              <rect class="day-bar" x={(dates.indexOf(each.day) + 0.1) * width} width={width * 0.8} y={barTop(each)} height={SIZE - barTop(each)} />
              <rect class="hit" x={dates.indexOf(each.day) * width} width={width} y="0" height={SIZE}>
                <title>{dayText(each)}</title>
              </rect>
            </g>
          ))}
          {cap !== null && <line class="limit" x1="0" x2={SIZE} y1={y(cap)} y2={y(cap)} />}
        </svg>
        <div class="y num" aria-hidden="true">
          <span>{most === 0 ? '' : usd(most)}</span>
          <span>{most === 0 ? '' : usd(most / 2)}</span>
          <span>{usd(0)}</span>
        </div>
        <div class="x num" aria-hidden="true">
          {[0, Math.floor(dates.length / 2), dates.length - 1].map((index) => (
            <span key={index}>{dateName(dates[index] ?? '')}</span>
          ))}
        </div>
      </div>
      {cap !== null && <p class="cap-key">{capLineText(cap)}</p>}
    </figure>
  );
}
