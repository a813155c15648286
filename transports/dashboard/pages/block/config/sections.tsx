// The sections of the form, and the list of them beside it where there is room.
import type { ConfigField } from '../../../data/config.ts';
import { configText, SECTIONS } from '../../../text/index.ts';

/** Some fields under a title. */
export interface Section {
  readonly title: string;
  readonly list: readonly ConfigField[];
}

/** The fields in their sections; fields without a section come last. */
export function sectionsOf(fields: readonly ConfigField[]): readonly Section[] {
  const startOf = ({ path }: ConfigField): string => path.split('.')[0] ?? '';
  const known = SECTIONS.map(({ title, starts }) => ({ title, list: starts.flatMap((start) => fields.filter((field) => startOf(field) === start)) }));
  const left = fields.filter((field) => !SECTIONS.some(({ starts }) => starts.includes(startOf(field))));
  return [...known, ...(left.length > 0 ? [{ title: configText.other, list: left }] : [])].filter(({ list }) => list.length > 0);
}

/** Leads to each section, and marks those with changes. */
export function Sections({ list, changed }: { readonly list: readonly Section[]; readonly changed: readonly string[] }) {
  return (
    <nav class="config-sections" aria-label={configText.sections}>
      {list.map(({ title, list: fields }) => (
        <button key={title} type="button" onClick={() => goTo(title)}>
          {title}
          {fields.some(({ path }) => changed.includes(path)) && (
            <i>
              <span class="sr">{configText.isChanged}</span>
            </i>
          )}
        </button>
      ))}
    </nav>
  );
}

function goTo(title: string): void {
  const section = document.querySelector(`[data-section="${CSS.escape(title)}"]`);
  section?.scrollIntoView({ block: 'start' });
  section?.querySelector<HTMLElement>('input, select, textarea')?.focus({ preventScroll: true });
}
