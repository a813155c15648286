// Two changes of one configuration, field by field.
import { configText } from '../../../app/text.ts';
import { isSame, type Values } from '../../../data/config.ts';
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
  const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].filter((name) => !isSame(mine[name], theirs[name]));
  const merged = (wins: Values): Values => ({
    ...theirs,
    ...Object.fromEntries(
      names.filter((name) => !isSame(mine[name], base[name])).map((name) => [name, isSame(theirs[name], base[name]) ? mine[name] : wins[name]]),
    ),
  });
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
          {names.map((name) => (
            <tr key={name}>
              <td class="b">{name}</td>
              <td class="num break">{shown(mine[name])}</td>
              <td class="num break">{shown(theirs[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="row wrap">
        <Button label={configText.keepMine} run={() => settle(merged(mine))} />
        <Button label={configText.takeTheirs} run={() => settle(merged(theirs))} />
      </div>
    </section>
  );
}

function shown(value: unknown): string {
  return value === undefined ? configText.notSet : JSON.stringify(value);
}
