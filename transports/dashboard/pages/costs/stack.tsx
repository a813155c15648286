// Spending by day as bars, in layers.
import { dateName, usd } from '../../base/format.ts';
import type { Stack } from '../../data/spending.ts';
import { costsText, emptyStackText, stackedDayText } from '../../text/index.ts';

/** Both sides of the drawing, which is stretched to its place. */
const SIZE = 600;
const HEADROOM = 16 / 15;
const TONES = ['c1', 'c2', 'c3', 'c4', 'c5'];

/** The plot, or the sentence that says why there is none. */
export function StackedDays({ stack }: { readonly stack: Stack }) {
  const { days, layers, most } = stack;
  if (layers.length === 0) return <p class="t2">{emptyStackText(stack.calls, stack.uncounted)}</p>;
  const width = SIZE / days.length;
  const height = (cost: number): number => (cost / (most * HEADROOM)) * SIZE;
  const sentences = days.map((day, index) => stackedDayText(day, layers, index));
  return (
    <figure class="over-time days">
      <p class="legend row wrap sm">
        {layers.map(({ name }, tone) => (
          <span key={name}>
            <i class={TONES[tone]} /> {name ?? costsText.others}
          </span>
        ))}
      </p>
      <div class="area">
        <svg viewBox={`0 0 ${SIZE} ${SIZE}`} preserveAspectRatio="none" role="img" aria-label={sentences.filter(Boolean).join('; ')}>
          {[0.5, 1].map((part) => (
            <line key={part} class="grid" x1="0" x2={SIZE} y1={SIZE - height(most * part)} y2={SIZE - height(most * part)} />
          ))}
          {days.map((day, index) => {
            let below = 0;
            return (
              <g key={day}>
                {layers.map(({ name, costs }, tone) => {
                  const cost = costs[index] ?? 0;
                  below += cost;
                  const box = { x: (index + 0.1) * width, width: width * 0.8, y: SIZE - height(below), height: height(cost) };
                  return cost > 0 && <rect key={name} class={`layer ${TONES[tone]}`} {...box} />;
                })}
                <rect class="hit" x={index * width} width={width} y="0" height={SIZE}>
                  <title>{sentences[index] || dateName(day)}</title>
                </rect>
              </g>
            );
          })}
        </svg>
        <div class="y num" aria-hidden="true">
          <span>{usd(most)}</span>
          <span>{usd(most / 2)}</span>
          <span>{usd(0)}</span>
        </div>
        <div class="x num" aria-hidden="true">
          {[...new Set([0, Math.floor(days.length / 2), days.length - 1])].map((index) => (
            <span key={index}>{dateName(days[index] ?? '')}</span>
          ))}
        </div>
      </div>
    </figure>
  );
}
