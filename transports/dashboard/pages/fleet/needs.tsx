// The blocks that need a person: why, and the button of the first cure.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { canCure, cure } from '../../actions/cure.ts';
import { readWhy } from '../../data/blocks.ts';
import type { Cure } from '../../data/cures.ts';
import { changes, lacksModel, needsPerson, rows } from '../../data/fleet.ts';
import { blockPath } from '../../data/route.ts';
import { Mark } from '../../parts/mark.tsx';
import { Button } from '../../parts/widgets.tsx';
import { fleetText, WORDS, whyText } from '../../text/index.ts';

/** More than these are found by the filter. */
const MAX_SHOWN = 5;

const cures = signal<ReadonlyMap<string, { readonly state: string; readonly why: string; readonly first: Cure | undefined }>>(new Map());

/** Nothing when no block needs anybody. */
export function Needs() {
  changes.value;
  const list = [...rows.value.values()].map((row) => row.peek()).filter(needsPerson);
  const shown = list.slice(0, MAX_SHOWN);
  const wanted = shown.map(({ name, state, why }) => `${name} ${state} ${why ?? ''}`).join('\n');
  useEffect(() => {
    for (const { name, state } of shown) void load(name, state);
  }, [wanted]);
  if (list.length === 0) return null;
  return (
    <section class="need" aria-label={fleetText.needs}>
      <h2>{fleetText.needs}</h2>
      <ul>
        {shown.map((entry) => {
          const { name, state } = entry;
          const known = cures.value.get(name);
          const told = lacksModel(entry) ? undefined : known?.why; // which says nothing of the messages
          const [fact = '', ...rest] = (told ?? whyText(entry)).split(/(?<=[.!?]) /);
          const first = known?.first;
          return (
            <li key={name}>
              <Mark state={state} />
              <a class="clip b" href={blockPath(name)}>
                {name}
              </a>
              <span class="why">
                <b>{fact}</b> {rest.join(' ')}
              </span>
              <span class="row">
                {first !== undefined && canCure(first) && <Button label={first.label} small run={() => cure(first, name)} />}
                <a class="btn quiet small" href={blockPath(name, 'history')}>
                  {WORDS.why}
                </a>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

async function load(name: string, state: string): Promise<void> {
  try {
    const { why, actions } = await readWhy(name);
    cures.value = new Map(cures.peek()).set(name, { state, why, first: actions?.[0] });
  } catch {
    // the list's own sentence stays; the block's page tells what is wrong
  }
}
