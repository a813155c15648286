// Two changes of one configuration, field by field.
import { configText, fieldLabel } from '../../../app/text.ts';
import { isSame, leavesOf, type Values, valueAt, withValue } from '../../../data/config.ts';
import { Button } from '../../../parts/bits.tsx';

interface ConflictProps {
  readonly base: Values;
  readonly mine: Values;
  readonly theirs: Values;
  /** Goes on from the present revision with these values. */
  settle(values: Values): void;
}

/** Shows what both have changed. Fields that only one has changed need no choice. */
export function Conflict({ base, mine, theirs, settle }: ConflictProps) {
  const isTheirs = (path: string): boolean => !isSame(valueAt(theirs, path), valueAt(base, path));
  const isMine = (path: string): boolean => !isSame(valueAt(mine, path), valueAt(base, path));
  const paths = leavesOf([base, mine, theirs]);
  const both = paths.filter((path) => isMine(path) && isTheirs(path) && !isSame(valueAt(mine, path), valueAt(theirs, path)));
  /** Theirs, with what only I have changed; of what both have changed, the winner's. */
  const merged = (wins: Values): Values =>
    paths.filter(isMine).reduce((values, path) => withValue(values, path, valueAt(both.includes(path) ? wins : mine, path)), theirs);
  return (
    <section class="conflict" role="alert">
      <p class="b">{configText.conflict}</p>
      <table class="rows plain-rows">
        <thead>
          <tr>
            <th scope="col">{configText.field}</th>
            <th scope="col">{configText.yours}</th>
            <th scope="col">{configText.theirs}</th>
          </tr>
        </thead>
        <tbody>
          {(both.length > 0 ? both : paths.filter(isTheirs)).map((path) => (
            <tr key={path}>
              <td class="b">{fieldLabel(path)}</td>
              <td class="num break">{shown(valueAt(mine, path))}</td>
              <td class="num break">{shown(valueAt(theirs, path))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="row wrap">
        <Button label={configText.keepMine} run={() => settle(merged(mine))} />
        {both.length > 0 && <Button label={configText.takeTheirs} run={() => settle(merged(theirs))} />}
      </div>
    </section>
  );
}

function shown(value: unknown): string {
  return value === undefined ? configText.notSet : JSON.stringify(value);
}
