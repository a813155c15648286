// One block of the list.
import { count, usd } from '../../base/format.ts';
import type { Row } from '../../data/fleet.ts';
import { blockPath } from '../../data/route.ts';
import { Icon } from '../../parts/icon.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Ago, Bar, Spark, toneOf } from '../../parts/widgets.tsx';
import { fleetText } from '../../text/index.ts';
import { choosing } from './selection.tsx';

interface RowProps {
  readonly row: Row;
  /** Its place in the grid, counted from 1 with the heading. */
  readonly index: number;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  toggle(name: string, isRange: boolean): void;
  focus(): void;
}

/** Redrawn when its own block changes. */
export function FleetRow({ row, index, isCurrent, isSelected, toggle, focus }: RowProps) {
  const { name, state, config, queue, lastMessageAt, costs, budget, activity = [], failures } = row.value;
  const cap = budget?.dailyUsd ?? null;
  const model = config.adapter?.model;
  const isUnspent = costs.today === undefined || costs.today === null;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys X and Shift with the arrows select, too
    <div
      class={`tb tr${isCurrent ? ' cur' : ''}${isSelected ? ' sel' : ''}`}
      role="row"
      tabIndex={-1}
      data-name={name}
      aria-rowindex={index}
      aria-selected={isSelected}
      onClick={(event) => {
        if (!event.shiftKey && !event.metaKey && !event.ctrlKey && !choosing.peek()) return;
        event.preventDefault();
        toggle(name, event.shiftKey);
      }}
    >
      <span role="gridcell" class="c-name clip">
        {choosing.value && <span class={`choice${isSelected ? ' on' : ''}`}>{isSelected && <Icon name="check" small />}</span>}
        <Mark state={state} />
        <a class="b" href={blockPath(name)} onFocus={focus}>
          {name}
        </a>
        <span class="t2 clip">{config.description}</span>
      </span>
      <span role="gridcell" class={`c-model clip ${model === undefined ? 't3' : 't2'}`}>
        {model ?? fleetText.noModel}
      </span>
      <span role="gridcell" class="c-act">
        <Spark values={activity} tone={failures.count > 0 ? 'bad' : ''} />
        <span class="sr">{count(activity.reduce((sum, answers) => sum + answers, 0))}</span>
      </span>
      <span role="gridcell" class={`num end${queue === 0 ? ' t3' : ''}`}>
        {count(queue)}
      </span>
      <span role="gridcell" class="num end t2 c-last">
        <Ago at={lastMessageAt} />
      </span>
      <span role="gridcell" class="c-today num">
        <span class={`end${isUnspent ? ' t3' : ''}`}>{isUnspent ? '–' : usd(costs.today ?? 0)}</span>
        {cap !== null && <Bar part={costs.today ?? 0} whole={cap} tone={toneOf(budget?.state)} />}
        {cap !== null && <span class="t3">{usd(cap)}</span>}
      </span>
    </div>
  );
}
