// The models that a block tries in their order when the first one fails: rows, each of which is chosen like the first.
import { useEffect, useState } from 'preact/hooks';
import { isObject, isSame } from '../../../data/config.ts';
import { ModelRows } from '../../../parts/model-rows.tsx';
import { modelsText } from '../../../text/index.ts';

const MOST = 8;

/** A row as it is typed, with what else its entry has. */
interface Row {
  readonly name: string;
  readonly others: Readonly<Record<string, unknown>>;
}

interface FallbacksProps {
  readonly label: string;
  readonly value: unknown;
  readonly wrong: string | undefined;
  set(value: unknown, fault: string | undefined): void;
}

/** A row that is no model yet is a fault, so that it is neither saved nor lost. */
export function Fallbacks({ label, value, wrong, set }: FallbacksProps) {
  const [rows, setRows] = useState(rowsOf(value));
  useEffect(() => {
    if (!isWhole(rows) || !isSame(entriesOf(rows), value ?? [])) setRows(rowsOf(value));
  }, [value]);
  const type = (next: readonly Row[]): void => {
    setRows(next);
    if (isWhole(next)) set(entriesOf(next), undefined);
    else set(undefined, modelsText.rowWrong);
  };
  return (
    <>
      <ModelRows
        label={label}
        rows={rows}
        most={MOST}
        empty={{ name: '', others: {} }}
        nameOf={({ name }) => name}
        named={(row, name) => ({ ...row, name })}
        set={type}
      />
      {wrong !== undefined && <p class="bad sm">{wrong}</p>}
    </>
  );
}

function rowsOf(value: unknown): readonly Row[] {
  if (!Array.isArray(value)) return [];
  return value.map((entry: unknown) => {
    const { provider = '', model = '', ...others } = isObject(entry) ? entry : {};
    return { name: `${String(provider)}/${String(model)}`, others };
  });
}

function entriesOf(rows: readonly Row[]): unknown {
  return rows.map(({ name, others }) => {
    const at = name.indexOf('/');
    return { provider: name.slice(0, at), model: name.slice(at + 1), ...others };
  });
}

function isWhole(rows: readonly Row[]): boolean {
  return rows.every(({ name }) => /^[^/\s]+\/\S+$/.test(name));
}
