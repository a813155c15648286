// Models in an order: the first is asked first, and the next when it fails.
import type { ComponentChildren } from 'preact';
import { modelsText } from '../text/models.ts';
import { ModelPicker } from './model-picker.tsx';
import { Button } from './widgets.tsx';

interface ModelRowsProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly most: number;
  readonly empty: T;
  nameOf(row: T): string;
  named(row: T, name: string): T;
  /** Draws what a row has besides its model. */
  beside?(row: T, index: number, set: (row: T) => void): ComponentChildren;
  set(rows: readonly T[]): void;
}

/** A row for each, which can be moved and removed, and a button that adds one. */
export function ModelRows<T>({ label, rows, most, empty, nameOf, named, beside, set }: ModelRowsProps<T>) {
  const put = (index: number, row: T): void => set(rows.map((each, place) => (place === index ? row : each)));
  const raise = (index: number): void => set(rows.map((each, place) => ({ [index]: rows[index - 1], [index - 1]: rows[index] })[place] ?? each));
  return (
    <fieldset class="model-rows">
      <legend>{label}</legend>
      {rows.map((row, index) => (
        <div key={index} class="row">
          <ModelPicker label={modelsText.nth(index)} value={nameOf(row)} set={(name) => put(index, named(row, name))} />
          {beside?.(row, index, (next) => put(index, next))}
          {index > 0 && <Button label={modelsText.raise(index)} icon="send" iconOnly small kind="quiet" run={() => raise(index)} />}
          <Button label={modelsText.removeNth(index)} icon="close" iconOnly small kind="quiet" run={() => set(rows.filter((_row, place) => place !== index))} />
        </div>
      ))}
      {rows.length < most && (
        <div>
          <Button label={rows.length === 0 ? modelsText.add : modelsText.addNext} icon="plus" small run={() => set([...rows, empty])} />
        </div>
      )}
    </fieldset>
  );
}
