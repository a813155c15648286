// One field of the configuration.
import { useEffect, useState } from 'preact/hooks';
import { type ConfigField, parsed, typed, type Values, valueAt } from '../../../data/config.ts';
import { Field } from '../../../parts/fields.tsx';
import { ModelPicker } from '../../../parts/model-picker.tsx';
import { Fallbacks } from './fallbacks.tsx';
import { fieldHelp, fieldLabel } from '../../../text/index.ts';

/** The fields whose values others know: what stands there already is offered. */
const PROVIDER = 'adapter.provider';
const MODEL = 'adapter.model';
const FALLBACKS = 'fallbacks';

interface InputProps {
  readonly field: ConfigField;
  readonly values: Values;
  readonly isChanged: boolean;
  readonly fact: string | undefined;
  readonly wrong: string | undefined;
  set(field: ConfigField, value: unknown, fault: string | undefined): void;
}

/** A control by the kind of the field; what is typed and wrong stays as it is, with the fault beside it. */
export function ConfigInput({ field, values, isChanged, fact, wrong, set }: InputProps) {
  const value = valueAt(values, field.path);
  const [text, setText] = useState(typed(field, value));
  useEffect(() => {
    const result = parsed(field, text);
    if (typeof result === 'string' || typed(field, result.value) !== typed(field, value)) setText(typed(field, value));
  }, [value]);
  const type = (next: string): void => {
    setText(next);
    const result = parsed(field, next);
    if (typeof result === 'string') set(field, undefined, result);
    else set(field, result.value, undefined);
  };
  if (field.path === FALLBACKS)
    return (
      <div class={isChanged ? 'changed' : ''} data-path={field.path}>
        <Fallbacks label={fieldLabel(field.path)} value={value} wrong={wrong} set={(next, fault) => set(field, next, fault)} />
      </div>
    );
  if (field.kind === 'flag')
    return (
      <label class={`check${isChanged ? ' changed' : ''}`} data-path={field.path}>
        <input type="checkbox" checked={value === true} onChange={(event) => set(field, event.currentTarget.checked, undefined)} />
        {fieldLabel(field.path)}
      </label>
    );
  return (
    <div class={isChanged ? 'changed' : ''} data-path={field.path}>
      <Field label={fieldLabel(field.path)} help={fieldHelp(field.path) ?? field.description} fact={fact} wrong={wrong}>
        {(props) => <Control field={field} text={text} type={type} provider={String(valueAt(values, PROVIDER) ?? '')} props={props} />}
      </Field>
    </div>
  );
}

interface ControlProps {
  readonly field: ConfigField;
  readonly text: string;
  type(text: string): void;
  /** The provider or connection of the block. */
  readonly provider: string;
  readonly props: { readonly id: string; readonly 'aria-describedby': string | undefined; readonly 'aria-invalid': boolean };
}

function Control({ field: { path, kind, choices }, text, type, provider, props }: ControlProps) {
  if (kind === 'choice')
    return (
      <select {...props} class="input" value={text} onChange={(event) => type(event.currentTarget.value)}>
        <option value="" />
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  const typed = { ...props, value: text, onInput: (event: { readonly currentTarget: { readonly value: string } }) => type(event.currentTarget.value) };
  if (kind === 'long' || kind === 'list' || kind === 'rules' || kind === 'json')
    return (
      <textarea {...typed} class={`input${kind === 'json' || kind === 'rules' ? ' mono' : ''}`} rows={kind === 'long' ? 6 : 3} spellcheck={kind === 'long'} />
    );
  if (path === PROVIDER) return <ModelPicker props={props} value={text} isProvider set={type} />;
  if (path === MODEL) return <ModelPicker props={props} value={text} of={provider} set={type} />;
  return <input {...typed} class="input" inputMode={kind === 'number' ? 'decimal' : 'text'} autocomplete="off" />;
}
