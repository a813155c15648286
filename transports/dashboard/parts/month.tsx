// The sum of the month as a line that grows towards its cap.
import { usd } from '../base/format.ts';
import { daysInMonth, monthSums } from '../data/month.ts';
import { capLineText, monthSumText } from '../text/costs.ts';
import type { Day } from './days.tsx';

const WIDTH = 16;
const HEIGHT = 120;

/** The whole month from side to side, so that the slope shows whether the cap holds to its end. */
export function Month({ days, cap, today }: { readonly days: readonly Day[]; readonly cap: number; readonly today: string }) {
  const sums = monthSums(days, today);
  const last = sums.at(-1) ?? 0;
  const most = Math.max(0.000001, last, cap);
  const y = (cost: number): number => HEIGHT - (cost / most) * (HEIGHT - 8);
  const width = daysInMonth(today) * WIDTH;
  return (
    <div class="days">
      <svg viewBox={`0 0 ${width} ${HEIGHT + 2}`} width={width} height={HEIGHT + 2} preserveAspectRatio="none" role="img" aria-label={monthSumText(last, cap)}>
        <polyline class="month-sum" points={`0,${HEIGHT} ${sums.map((sum, index) => `${(index + 1) * WIDTH},${y(sum)}`).join(' ')}`} />
        <line class="cap-line" x1="0" x2={width} y1={y(cap)} y2={y(cap)}>
          <title>{usd(cap)}</title>
        </line>
      </svg>
      <p class="cap-key">{capLineText(cap)}</p>
    </div>
  );
}
