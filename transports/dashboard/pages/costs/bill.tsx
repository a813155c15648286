// Compares a provider's bill, a file, with the calls of blocks and of clients.
import { useState } from 'preact/hooks';
import type { BillComparison } from '../../../../core/types.ts';
import { type BillRow, billRows, compareBill, MAX_ROWS } from '../../data/bill.ts';
import { ConnectionList, TextField } from '../../parts/fields.tsx';
import { Table } from '../../parts/table.tsx';
import { Problem } from '../../parts/widgets.tsx';
import { amountText, billText, comparedText, moreRowsText, uncountedCallsText } from '../../text/index.ts';

/** What came of the file that was chosen last. */
interface Outcome {
  readonly comparison?: BillComparison;
  readonly error?: unknown;
}

export function Bill() {
  const [choices, setChoices] = useState({ connection: '', columns: '' });
  const [outcome, setOutcome] = useState<Outcome>({});
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    setOutcome({});
    setOutcome(
      await compareBill(file, choices).then(
        (comparison) => ({ comparison }),
        (error: unknown) => ({ error }),
      ),
    );
  };
  const field = (name: 'connection' | 'columns', label: string, help: string, list?: string) => (
    <TextField label={label} help={help} value={choices[name]} set={(text) => setChoices({ ...choices, [name]: text.trim() })} input={list ? { list } : {}} />
  );
  const { comparison, error } = outcome;
  return (
    <section class="stack">
      <h2>{billText.title}</h2>
      <p class="t2">{billText.lead}</p>
      {field('connection', billText.connection, billText.connectionHelp, 'billed')}
      <ConnectionList id="billed" />
      {field('columns', billText.columns, billText.columnsHelp)}
      <div class="row">
        <label class="btn">
          {billText.choose}
          <input
            class="sr"
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(event) => {
              void take(event.currentTarget.files?.[0]);
              event.currentTarget.value = '';
            }}
          />
        </label>
      </div>
      {error !== undefined && <Problem error={error} />}
      {comparison !== undefined && <Differences comparison={comparison} />}
    </section>
  );
}

function Differences({ comparison }: { readonly comparison: BillComparison }) {
  const rows = billRows(comparison);
  return (
    <>
      <p role="status">{comparedText(comparison)}</p>
      {rows.length > 0 && (
        <Table
          shape="plain-rows"
          heads={[billText.day, billText.model, billText.amount, [billText.ours, 'end'], [billText.theirs, 'end'], [billText.uncounted, 'end wide']]}
        >
          {rows.slice(0, MAX_ROWS).map((row) => (
            <Row key={`${row.day} ${row.model} ${row.amount}`} row={row} />
          ))}
        </Table>
      )}
      {rows.length > MAX_ROWS && <p class="t2">{moreRowsText(rows.length - MAX_ROWS)}</p>}
    </>
  );
}

function Row({ row: { day, model, amount, ours, theirs, uncounted } }: { readonly row: BillRow }) {
  return (
    <tr>
      <td class="num">{day}</td>
      <td class="break">{model}</td>
      <td>{billText.amounts[amount]}</td>
      <td class="num end">{amountText(amount, ours)}</td>
      <td class="num end">{amountText(amount, theirs)}</td>
      <td class="num end warn wide">{uncountedCallsText(uncounted)}</td>
    </tr>
  );
}
