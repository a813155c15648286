// Which model: a provider or connection first, then one of its models, or any name that a person types.
//
// free-text: the lists are help. What stands in the field is what counts, also where no list knows it.
import { useId, useRef, useState } from 'preact/hooks';
import { type Connection, readConnections } from '../data/connections.ts';
import { useLoad } from '../data/load.ts';
import { type Option, optionsFor, readFacts, readModels } from '../data/models.ts';
import { modelCountText, modelFactsText, modelsText } from '../text/models.ts';

interface PickerProps {
  /** Left out where a label stands beside the field, which has then these attributes. */
  readonly label?: string;
  readonly props?: { readonly id: string; readonly 'aria-describedby': string | undefined; readonly 'aria-invalid': boolean };
  readonly value: string;
  /** Set where another field has the provider or connection: names of its models alone. */
  readonly of?: string | undefined;
  /** Providers and connections alone. */
  readonly isProvider?: boolean;
  /** Aliases, too. */
  readonly hasAliases?: boolean;
  set(value: string): void;
}

function usePicker({ value, of, isProvider = false, hasAliases = false, set }: PickerProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const [ofModels, ofConnections] = [useLoad(readModels, []).state.value, useLoad(readConnections, []).state.value];
  const { data: connections = [] } = ofConnections;
  const isRead = [ofModels, ofConnections].every(({ data, error }) => data !== undefined || error !== undefined);
  // One of both alone would put another name where the finger or the arrow already goes.
  const options = isRead ? optionsFor({ models: ofModels.data ?? [], connections, text: value, of, isProvider, hasAliases }) : [];
  const shown = isOpen && document.activeElement === field.current;
  const active = shown ? options[at] : undefined;
  const take = (index: number): void => {
    const option = options[index];
    if (option === undefined) return;
    set(option.value);
    setAt(-1);
    setOpen(option.leadsOn);
    field.current?.focus();
  };
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setOpen(true);
      const edge = step === 1 ? 0 : options.length - 1;
      setAt(at < 0 || !isOpen ? edge : (at + step + options.length) % Math.max(1, options.length));
      requestAnimationFrame(() => document.getElementById(`${id}l`)?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }));
    } else if (event.key === 'Enter' && active !== undefined) {
      event.preventDefault();
      take(at);
    } else if (event.key === 'Escape' && shown) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
      setAt(-1);
    }
  };
  return { id, field, connections, options, shown, at, active, setAt, setOpen, take, keys };
}

/** A field with a list: arrows move in it, Enter takes, Escape closes it. */
export function ModelPicker(picker: PickerProps) {
  const { label, props, value, of, isProvider = false, set } = picker;
  const { id, field, connections, options, shown, at, active, setAt, setOpen, take, keys } = usePicker(picker);
  return (
    <div class="picker grow">
      <input
        {...props}
        ref={field}
        class="input"
        role="combobox"
        aria-label={label}
        aria-expanded={shown}
        aria-controls={`${id}l`}
        aria-autocomplete="list"
        aria-activedescendant={active === undefined ? undefined : `${id}o${at}`}
        placeholder={of === undefined && !isProvider ? modelsText.placeholder : undefined}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onFocus={() => setOpen(false)}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={keys}
        onInput={(event) => {
          setOpen(true);
          setAt(-1);
          set(event.currentTarget.value.trim());
        }}
      />
      <List id={id} isShown={shown} options={options} at={at} take={take} />
      <Facts model={active === undefined || active.leadsOn ? value : active.value} of={of} isProvider={isProvider} connections={connections} />
    </div>
  );
}

interface ListProps {
  readonly id: string;
  readonly isShown: boolean;
  readonly options: readonly Option[];
  readonly at: number;
  take(index: number): void;
}

function List({ id, isShown, options, at, take }: ListProps) {
  return (
    <div id={`${id}l`} class="picker-list" role="listbox" aria-label={modelsText.options} hidden={!isShown || options.length === 0}>
      {isShown &&
        options.map((option, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={option.value}
            id={`${id}o${index}`}
            role="option"
            aria-selected={index === at}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(index)}
          >
            <span class="break">{option.value}</span>
            <span class="t2 sm">
              {(option.models ?? 0) > 0 && `${modelCountText(option.models ?? 0)} · `}
              {option.isAlias ? modelsText.alias : <span class={option.isReady ? '' : 'warn'}>{option.isReady ? modelsText.ready : modelsText.notReady}</span>}
            </span>
          </div>
        ))}
    </div>
  );
}

interface FactsProps extends Pick<PickerProps, 'of' | 'isProvider'> {
  readonly model: string;
  readonly connections: readonly Connection[];
}

/** What is known of the model that stands in the field, or is chosen in the list: price, context window, and what keeps it from being called. */
function Facts({ model, of, isProvider, connections }: FactsProps) {
  const name = of === undefined ? model : `${of}/${model}`;
  const provider = connections.find((each) => name.startsWith(`${each.name}/`));
  const isWhole = provider !== undefined && isProvider !== true && name.length > provider.name.length + 1;
  const { data } = useLoad(async () => (isWhole ? { name, ...(await readFacts(name)) } : undefined), [isWhole, name]).state.value;
  if (!isWhole) return null;
  return (
    <p class="fact sm t2" aria-live="off">
      {data?.name === name && modelFactsText(data.price, data.contextWindow)}
      {!provider.ready && <span class="warn break"> {provider.detail}</span>}
    </p>
  );
}
