// Which model has which price and from where, with the models first whose calls no sum counts.
import { useState } from 'preact/hooks';
import type { CostsReport } from '../../../../core/types.ts';
import { tell } from '../../base/toast.ts';
import { get } from '../../data/http.ts';
import { useLoad } from '../../data/load.ts';
import { KINDS, type PricedRow, priceOf, priceRows, readPrices, removePrice, setPrice, type TypedPrice, typedPrice } from '../../data/prices.ts';
import { FormDialog, showDialog } from '../../parts/dialog.tsx';
import { Field, Segments, TextField } from '../../parts/fields.tsx';
import { ModelPicker } from '../../parts/model-picker.tsx';
import { Table } from '../../parts/table.tsx';
import { Button, Problem } from '../../parts/widgets.tsx';
import { priceFromText, priceRemovedText, priceSetText, pricesText, rateText, uncountedCallsText, wrongPriceText } from '../../text/index.ts';

/** `byModel` is the path of the report that says which calls are not counted. */
export function Prices({ byModel }: { readonly byModel: string }) {
  const { state, reload } = useLoad(async () => priceRows(...(await Promise.all([readPrices(), get<CostsReport>(byModel)]))), [byModel]);
  const { data, error } = state.value;
  return (
    <section id="prices" class="stack">
      <h2>{pricesText.title}</h2>
      <p class="t2">{pricesText.lead}</p>
      {error !== undefined && <Problem error={error} />}
      {data?.length === 0 && <p class="t2">{pricesText.none}</p>}
      {data !== undefined && data.length > 0 && <Rows rows={data} reload={reload} />}
      <div class="row">
        <Button label={pricesText.add} icon="plus" run={() => askPrice(typedPrice('', undefined), reload)} />
      </div>
    </section>
  );
}

function Rows({ rows, reload }: { readonly rows: readonly PricedRow[]; reload(): Promise<void> }) {
  const heads = [
    pricesText.model,
    [pricesText.input, 'end'],
    [pricesText.output, 'end'],
    [pricesText.cacheRead, 'end wide'],
    [pricesText.from, 'wide'],
    [pricesText.uncounted, 'end'],
    [<span class="sr">{pricesText.commands}</span>, 'end'],
  ] as const;
  return (
    <Table shape="plain-rows prices" heads={heads}>
      {rows.map((row) => (
        <Row key={row.model} row={row} reload={reload} />
      ))}
    </Table>
  );
}

function Row({ row, reload }: { readonly row: PricedRow; reload(): Promise<void> }) {
  const { model, price, uncounted } = row;
  const isOwn = price?.from === 'own';
  const remove = async (): Promise<void> => {
    await removePrice(model);
    tell(priceRemovedText(model));
    await reload();
  };
  return (
    <tr>
      <td class="break">{model}</td>
      <td class="num end">{rateText(price?.price?.input)}</td>
      <td class="num end">{rateText(price?.price?.output)}</td>
      <td class="num end wide">{rateText(price?.price?.cacheRead)}</td>
      <td class="t2 wide">{priceFromText(row)}</td>
      <td class="num end warn">{uncountedCallsText(uncounted)}</td>
      <td class="end">
        <span class="row end">
          {isOwn && <Button label={pricesText.remove} small kind="quiet" run={remove} />}
          <Button label={isOwn ? pricesText.change : pricesText.set} small run={() => askPrice(typedPrice(model, price), reload)} />
        </span>
      </td>
    </tr>
  );
}

function askPrice(typed: TypedPrice, reload: () => Promise<void>): void {
  showDialog((close) => <PriceForm begin={typed} close={close} reload={reload} />);
}

function PriceForm({ begin, close, reload }: { readonly begin: TypedPrice; readonly close: () => void; reload(): Promise<void> }) {
  const [typed, setTyped] = useState(begin);
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set());
  const act = async (): Promise<void> => {
    const price = priceOf(typed);
    if (price instanceof Set) return setWrong(price);
    await setPrice(typed.model, price as Exclude<typeof price, ReadonlySet<string>>);
    tell(priceSetText(typed.model));
    close();
    await reload();
  };
  const field = (name: Exclude<keyof TypedPrice, 'kind' | 'model'>, label: string, help?: string) => (
    <TextField
      label={label}
      help={help}
      wrong={wrongPriceText(name, wrong)}
      value={typed[name]}
      set={(text) => setTyped({ ...typed, [name]: text.trim() })}
      input={name === 'like' ? {} : { inputMode: 'decimal' }}
    />
  );
  return (
    <FormDialog title={pricesText.title} text={pricesText.lead} does={pricesText.save} close={close} act={act}>
      <Field label={pricesText.model} help={pricesText.modelHelp} wrong={wrongPriceText('model', wrong)}>
        {(props) => <ModelPicker props={props} value={typed.model} set={(model) => setTyped({ ...typed, model })} />}
      </Field>
      <Segments
        label={pricesText.kind}
        options={KINDS.map((kind) => [kind, pricesText.kinds[kind]])}
        value={typed.kind}
        choose={(kind) => setTyped({ ...typed, kind })}
      />
      {typed.kind === 'like' && field('like', pricesText.like, pricesText.likeHelp)}
      {typed.kind === 'rates' && (
        <div class="terms">
          {field('input', pricesText.input)}
          {field('output', pricesText.output)}
          {field('cacheRead', pricesText.cacheReadLong, pricesText.cacheHelp)}
          {field('cacheWrite', pricesText.cacheWriteLong, pricesText.cacheHelp)}
        </div>
      )}
    </FormDialog>
  );
}
