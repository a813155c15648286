// The list of blocks: five figures, what needs a person, then every block.
import { useComputed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { newBlock } from '../../actions/new-block.tsx';
import { navigate, setQuery } from '../../base/address.ts';
import { count } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { changes, counts, type Group, isListed, rows } from '../../data/fleet.ts';
import { pathOf, route } from '../../data/route.ts';
import { Filter, Segments } from '../../parts/fields.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Button, Empty } from '../../parts/widgets.tsx';
import { firstRunText, fleetText, LABELS, WORDS } from '../../text/index.ts';
import { Figures } from './figures.tsx';
import { Hints } from './hints.tsx';
import { Needs } from './needs.tsx';
import { choosing, selected } from './selection.tsx';
import { FleetTable } from './table.tsx';
import { compare, fits, viewOf } from './view.ts';

const GROUPS: readonly { readonly id: Group | 'all'; readonly label: string; readonly mark?: string }[] = [
  { id: 'all', label: fleetText.all },
  { id: 'work', label: fleetText.work, mark: 'working' },
  { id: 'needs', label: fleetText.needs, mark: 'failed' },
  { id: 'idle', label: fleetText.idle, mark: 'idle' },
  { id: 'asleep', label: fleetText.asleep, mark: 'stopped' },
];

function choose(): void {
  choosing.value = !choosing.peek();
  if (!choosing.peek()) selected.value = new Set();
}

/** Who opens an empty workspace sees the first steps; who goes to the list afterwards sees the list. */
let isFirstLook = true;

/** What the address says of the list, and the names that it shows in their order. */
function useList() {
  const view = useComputed(() => viewOf(route.value.query));
  const names = useComputed(() => {
    changes.value;
    const shown = [...rows.value.values()].map((row) => row.peek()).filter((entry) => fits(entry, view.value));
    return shown.sort((one, other) => compare(one, other, view.value)).map(({ name }) => name);
  });
  useEffect(() => {
    if (!isListed.value) return;
    if (isFirstLook && rows.peek().size === 0) navigate(pathOf('start'), { replace: true });
    isFirstLook = false;
  }, [isListed.value]);
  return { view: view.value, names: names.value };
}

/** The page. */
export default function Fleet() {
  const { view, names } = useList();
  const field = useRef<HTMLInputElement>(null);
  useKeys([
    { keys: '/', does: fleetText.filter, run: () => field.current?.focus() },
    { keys: 'n', does: WORDS.newBlock, run: newBlock },
  ]);
  useEffect(() => {
    const { text } = viewOf(route.peek().query); // more may have been typed since this was drawn
    if (field.current !== null && field.current.value !== text) field.current.value = text;
  });
  return (
    <>
      <header class="top">
        <h1>{fleetText.title}</h1>
        <Segments
          label={LABELS.show}
          shape="groups"
          options={GROUPS.map((group) => [group.id, <GroupName key={group.id} {...group} />])}
          value={view.group}
          choose={(id) => setQuery({ show: id === 'all' ? undefined : id })}
        />
        <span class="grow" />
        <Filter field={field} label={fleetText.filter} hint={fleetText.filterHint} onKeyDown={(event) => event.key === 'Escape' && field.current?.blur()} />
        {rows.value.size > 0 && (
          <button type="button" class="btn quiet choose" aria-pressed={choosing.value} onClick={choose}>
            {fleetText.choose}
          </button>
        )}
        <Button label={WORDS.newBlock} icon="plus" kind="primary" run={newBlock} />
      </header>
      <div class="page">
        {isListed.value && rows.value.size > 0 && <Figures />}
        {view.group === 'all' && view.text === '' && <Needs />}
        <List names={names} view={view} />
      </div>
      {isListed.value && <Hints shown={names.length} all={rows.value.size} />}
    </>
  );
}

function GroupName({ id, label, mark }: (typeof GROUPS)[number]) {
  return (
    <>
      {mark !== undefined && <Mark state={mark} named={false} />}
      {label} <span class="num">{count(counts.value[id])}</span>
    </>
  );
}

function List({ names, view }: ReturnType<typeof useList>) {
  if (!isListed.value) return <Empty text={fleetText.reading} />;
  if (rows.value.size === 0)
    return (
      <Empty text={fleetText.none}>
        <Button label={WORDS.newBlock} icon="plus" kind="primary" run={newBlock} />
        <a class="link" href={pathOf('start')}>
          {firstRunText.title}
        </a>
      </Empty>
    );
  if (names.length > 0) return <FleetTable names={names} view={view} />;
  return (
    <Empty text={fleetText.noneFound}>
      <Button label={fleetText.showAll} run={() => setQuery({ show: undefined, find: undefined })} />
    </Empty>
  );
}
