// What a person types into or chooses from.
import type { ComponentChildren, InputHTMLAttributes, RefObject } from 'preact';
import { useId } from 'preact/hooks';
import { setQuery } from '../base/address.ts';
import { readConnections } from '../data/connections.ts';
import { useLoad } from '../data/load.ts';
import { Keys } from './widgets.tsx';

interface FieldProps {
  readonly label: string;
  readonly help?: string | undefined;
  /** What is known about its value at this moment. */
  readonly fact?: string | undefined;
  readonly wrong?: string | undefined;
  /** Draws the control with these attributes. */
  readonly children: (props: { readonly id: string; readonly 'aria-describedby': string | undefined; readonly 'aria-invalid': boolean }) => ComponentChildren;
}

/** A field with its label, help and error tied to it. The error stands in the place of the help, which says the same in other words. */
export function Field({ label, help, fact, wrong, children }: FieldProps) {
  const id = useId();
  const helps = help !== undefined && wrong === undefined;
  const about = [helps ? `${id}h` : '', fact === undefined ? '' : `${id}f`, wrong === undefined ? '' : `${id}w`].filter((name) => name !== '').join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': about === '' ? undefined : about, 'aria-invalid': wrong !== undefined })}
      {helps && (
        <p class="help" id={`${id}h`}>
          {help}
        </p>
      )}
      {fact !== undefined && (
        <p class="fact" id={`${id}f`}>
          {fact}
        </p>
      )}
      {wrong !== undefined && (
        <p class="wrong" id={`${id}w`}>
          {wrong}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string;
  set(value: string): void;
  /** Further attributes of the input. */
  readonly input?: InputHTMLAttributes<HTMLInputElement>;
}

/** A field of one line, for names and the like: the browser neither completes nor corrects it. */
export function TextField({ value, set, input, ...field }: TextFieldProps) {
  return (
    <Field {...field}>
      {(props) => (
        <input {...props} class="input" autocomplete="off" spellcheck={false} {...input} value={value} onInput={(event) => set(event.currentTarget.value)} />
      )}
    </Field>
  );
}

/** The providers and connections, for an input with this list. */
export function ConnectionList({ id }: { readonly id: string }) {
  const { data = [] } = useLoad(readConnections, []).state.value;
  return (
    <datalist id={id}>
      {data.map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

interface FilterProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly label: string;
  readonly hint: string;
  /** Left out, the text is set from outside. */
  readonly value?: string;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

/** The field that filters a list: its text is a part of the address. */
export function Filter({ field, label, hint, ...input }: FilterProps) {
  return (
    <label class="filter">
      <span class="sr">{label}</span>
      <input ref={field} class="input" type="search" placeholder={hint} {...input} onInput={(event) => setQuery({ find: event.currentTarget.value })} />
      <Keys keys="/" />
    </label>
  );
}

interface SegmentsProps<T extends string> {
  /** Left out, the group around it has the name. */
  readonly label?: string;
  readonly shape?: string;
  readonly options: readonly (readonly [id: T, shown: ComponentChildren])[];
  readonly value: string;
  choose(id: T): void;
}

/** Buttons beside each other, one of which is pressed. */
export function Segments<T extends string>({ label, shape = '', options, value, choose }: SegmentsProps<T>) {
  return (
    <div class={`seg ${shape}`.trim()} {...(label !== undefined && { role: 'group', 'aria-label': label })}>
      {options.map(([id, shown]) => (
        <button key={id} type="button" aria-pressed={id === value} onClick={() => choose(id)}>
          {shown}
        </button>
      ))}
    </div>
  );
}
