// The list of blocks: five figures, what needs a person, then every block.
import { useComputed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { newBlock } from '../../actions/new-block.tsx';
import { navigate, setQuery } from '../../base/address.ts';
import { count } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { changes, counts, isListed, rows } from '../../data/fleet.ts';
import { pathOf, route } from '../../data/route.ts';
import { Mark } from '../../parts/mark.tsx';
import { Button, Empty, Keys } from '../../parts/widgets.tsx';
import { firstRunText, fleetText, LABELS, WORDS } from '../../text/index.ts';
import { Figures } from './figures.tsx';
import { Hints } from './hints.tsx';
import { Needs } from './needs.tsx';
import { choosing, selected } from './selection.tsx';
import { FleetTable } from './table.tsx';
import { compare, fits, viewOf } from './view.ts';

const GROUPS = [
  { id: 'all', label: fleetText.all },
  { id: 'work', label: fleetText.work, mark: 'working' },
  { id: 'needs', label: fleetText.needs, mark: 'failed' },
  { id: 'idle', label: fleetText.idle, mark: 'idle' },
  { id: 'asleep', label: fleetText.asleep, mark: 'stopped' },
] as const;

function choose(): void {
  choosing.value = !choosing.peek();
  if (!choosing.peek()) selected.value = new Set();
}

/** Who opens an empty workspace sees the first steps; who goes to the list afterwards sees the list. */
let isFirstLook = true;

/** The page. */
export default function Fleet() {
  const view = useComputed(() => viewOf(route.value.query));
  const names = useComputed(() => {
    changes.value;
    const shown = [...rows.value.values()].map((row) => row.peek()).filter((entry) => fits(entry, view.value));
    return shown.sort((one, other) => compare(one, other, view.value)).map(({ name }) => name);
  });
  const field = useRef<HTMLInputElement>(null);
  useKeys([
    { keys: '/', does: fleetText.filter, run: () => field.current?.focus() },
    { keys: 'n', does: WORDS.newBlock, run: () => newBlock() },
  ]);
  useEffect(() => {
    if (field.current !== null && field.current.value !== view.value.text) field.current.value = view.value.text;
  });
  useEffect(() => {
    if (!isListed.value) return;
    if (isFirstLook && rows.peek().size === 0) navigate(pathOf('start'), { replace: true });
    isFirstLook = false;
  }, [isListed.value]);
  const { group, text } = view.value;
  return (
    <>
      <header class="top">
        <h1>{fleetText.title}</h1>
        <div class="seg groups" role="group" aria-label={LABELS.show}>
          {GROUPS.map((each) => (
            <button key={each.id} type="button" aria-pressed={group === each.id} onClick={() => setQuery({ show: each.id === 'all' ? undefined : each.id })}>
              {'mark' in each && <Mark state={each.mark} named={false} />}
              {each.label} <span class="num">{count(counts.value[each.id])}</span>
            </button>
          ))}
        </div>
        <span class="grow" />
        <label class="filter">
          <span class="sr">{fleetText.filter}</span>
          <input
            ref={field}
            class="input"
            type="search"
            placeholder={fleetText.filterHint}
            onInput={(event) => setQuery({ find: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key === 'Escape') event.currentTarget.blur();
            }}
          />
          <Keys keys="/" />
        </label>
        {rows.value.size > 0 && (
          <button type="button" class="btn quiet choose" aria-pressed={choosing.value} onClick={choose}>
            {fleetText.choose}
          </button>
        )}
        <Button label={WORDS.newBlock} icon="plus" kind="primary" run={() => newBlock()} />
      </header>
      <div class="page">
        {isListed.value && rows.value.size > 0 && <Figures />}
        {group === 'all' && text === '' && <Needs />}
        {!isListed.value ? (
          <Empty text={fleetText.reading} />
        ) : rows.value.size === 0 ? (
          <Empty text={fleetText.none}>
            <Button label={WORDS.newBlock} icon="plus" kind="primary" run={() => newBlock()} />
            <a class="link" href={pathOf('start')}>
              {firstRunText.title}
            </a>
          </Empty>
        ) : names.value.length === 0 ? (
          <Empty text={fleetText.noneFound}>
            <Button label={fleetText.showAll} run={() => setQuery({ show: undefined, find: undefined })} />
          </Empty>
        ) : (
          <FleetTable names={names.value} view={view.value} />
        )}
      </div>
      {isListed.value && <Hints shown={names.value.length} all={rows.value.size} />}
    </>
  );
}
