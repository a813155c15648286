// The five figures above the list.
import { count, usd } from '../../base/format.ts';
import { changes, counts, rows } from '../../data/fleet.ts';
import { Spark } from '../../parts/widgets.tsx';
import { capsText, fleetText } from '../../text/index.ts';

/** Sums over all blocks. */
export function Figures() {
  changes.value;
  let spent: number | null = null;
  let isWhole = true;
  let caps = 0;
  let waiting = 0;
  let failing = 0;
  const activity: number[] = Array.from({ length: 24 }, () => 0);
  for (const row of rows.value.values()) {
    const { costs, budget, queue, failures, state, activity: hours } = row.peek();
    if (typeof costs.today === 'number')
      spent = (spent ?? 0) + costs.today; // what is not known is no zero
    else if (hours?.some((answers) => answers > 0) === true) isWhole = false;
    caps += budget?.dailyUsd ?? 0;
    waiting += queue;
    failing += failures.count > 0 || state === 'failed' ? 1 : 0;
    for (const [hour, answers] of (hours ?? []).entries()) activity[hour] = (activity[hour] ?? 0) + answers;
  }
  const { all, work } = counts.value;
  return (
    <dl class="stats">
      <Figure label={fleetText.spent} note={caps > 0 ? capsText(caps) : ''} value={usd(spent)} more={spent === null || isWhole ? '' : fleetText.notWhole} />
      <Figure label={fleetText.answered} value={count(activity.reduce((sum, answers) => sum + answers, 0))}>
        <Spark values={activity} />
      </Figure>
      <Figure label={fleetText.waitingNow} value={count(waiting)} />
      <Figure label={fleetText.atWork} value={count(work)} more={`of ${count(all)}`} />
      <Figure label={fleetText.failing} value={count(failing)} />
    </dl>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
  readonly more?: string;
  readonly children?: preact.ComponentChildren;
}

function Figure({ label, value, note = '', more = '', children }: FigureProps) {
  return (
    <div class="stat">
      <dt>
        {label}
        {note !== '' && <span class="clip">{note}</span>}
      </dt>
      <dd>
        {value}
        {more !== '' && <small>{more}</small>}
        {children}
      </dd>
    </div>
  );
}
