// Two changes of one configuration, field by field.
import { useSignal } from '@preact/signals';
import { ownOf } from '../../../base/own.ts';
import { isSame, leavesOf, merged, type Side, type Values, valueAt } from '../../../data/config.ts';
import { Table } from '../../../parts/table.tsx';
import { Button } from '../../../parts/widgets.tsx';
import { configText, fieldLabel, sideText } from '../../../text/index.ts';

interface ConflictProps {
  readonly base: Values;
  readonly mine: Values;
  readonly theirs: Values;
  /** Goes on from the present revision with these values. */
  settle(values: Values): void;
}

const SIDES: readonly Side[] = ['mine', 'theirs'];

/** Shows each field that either has changed, and takes it from the side that is chosen: at first mine, where I changed it. */
export function Conflict({ base, mine, theirs, settle }: ConflictProps) {
  const choices = useSignal<Readonly<Record<string, Side>>>({});
  const isMine = (path: string): boolean => !isSame(valueAt(mine, path), valueAt(base, path));
  const paths = leavesOf([base, mine, theirs]).filter((path) => !isSame(valueAt(mine, path), valueAt(theirs, path)));
  const sideOf = (path: string): Side => ownOf(choices.value, path) ?? (isMine(path) ? 'mine' : 'theirs');
  const take = (side: Side): void => {
    choices.value = Object.fromEntries(paths.map((path) => [path, side]));
  };
  const values: Readonly<Record<Side, Values>> = { mine, theirs };
  return (
    <section class="conflict" role="alert">
      <p class="b">{configText.conflict}</p>
      <p class="t2 sm">{configText.conflictLead}</p>
      <Table shape="plain-rows" heads={[configText.field, configText.before, configText.yours, configText.theirs]}>
        {paths.map((path) => (
          <tr key={path}>
            <th scope="row" class="b">
              {fieldLabel(path)}
            </th>
            <td class="num break t3" data-head={configText.before}>
              {shown(valueAt(base, path))}
            </td>
            {SIDES.map((side) => (
              <td key={side} class="num break" data-head={side === 'mine' ? configText.yours : configText.theirs}>
                <label class="check">
                  <input
                    type="radio"
                    name={`side of ${path}`}
                    aria-label={sideText(path, side, shown(valueAt(values[side], path)))}
                    checked={sideOf(path) === side}
                    onChange={() => {
                      choices.value = { ...choices.peek(), [path]: side };
                    }}
                  />
                  {shown(valueAt(values[side], path))}
                </label>
              </td>
            ))}
          </tr>
        ))}
      </Table>
      <div class="row wrap">
        <Button label={configText.goOn} kind="primary" run={() => settle(merged(mine, theirs, paths, sideOf))} />
        <Button label={configText.keepMine} kind="quiet" run={() => take('mine')} />
        <Button label={configText.takeTheirs} kind="quiet" run={() => take('theirs')} />
      </div>
    </section>
  );
}

function shown(value: unknown): string {
  return value === undefined ? configText.notSet : JSON.stringify(value);
}
