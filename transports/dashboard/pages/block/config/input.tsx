// One field of the configuration.
import { useEffect, useState } from 'preact/hooks';
import { type ConfigField, parsed, typed, type Values, valueAt } from '../../../data/config.ts';
import { Field } from '../../../parts/widgets.tsx';
import { fieldLabel } from '../../../text/index.ts';

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
  if (field.kind === 'flag')
    return (
      <label class={`check${isChanged ? ' changed' : ''}`} data-path={field.path}>
        <input type="checkbox" checked={value === true} onChange={(event) => set(field, event.currentTarget.checked, undefined)} />
        {fieldLabel(field.path)}
      </label>
    );
  const isWide = field.kind === 'long' || field.kind === 'list' || field.kind === 'json';
  return (
    <div class={isChanged ? 'changed' : ''} data-path={field.path}>
      <Field label={fieldLabel(field.path)} help={field.description} fact={fact} wrong={wrong}>
        {(props) =>
          field.kind === 'choice' ? (
            <select {...props} class="input" value={text} onChange={(event) => type(event.currentTarget.value)}>
              <option value="" />
              {field.choices.map((choice) => (
                <option key={choice} value={choice}>
                  {choice}
                </option>
              ))}
            </select>
          ) : isWide ? (
            <textarea
              {...props}
              class={`input${field.kind === 'json' ? ' mono' : ''}`}
              rows={field.kind === 'long' ? 6 : 3}
              spellcheck={field.kind === 'long'}
              value={text}
              onInput={(event) => type(event.currentTarget.value)}
            />
          ) : (
            <input
              {...props}
              class="input"
              inputMode={field.kind === 'number' ? 'decimal' : 'text'}
              autocomplete="off"
              value={text}
              onInput={(event) => type(event.currentTarget.value)}
            />
          )
        }
      </Field>
    </div>
  );
}
