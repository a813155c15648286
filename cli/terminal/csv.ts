// Comma-separated values (RFC 4180). Pure: no I/O.
//
// no-escapes: clients choose the names of models, and a terminal may show the rows, so a field has nothing that a terminal obeys.
import { oneLine } from './output.ts';

type Value = string | number | null | undefined;

/** Rows as lines with CRLF between them. Null and undefined are empty fields. */
export function toCsv(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => row.map(field).join(',')).join('\r\n');
}

/** A text that a spreadsheet would evaluate as a formula gets an apostrophe in front. */
function field(value: Value): string {
  if (value == null) return '';
  if (typeof value === 'number') return String(value);
  const shown = oneLine(value); // no-escapes
  const text = /^[=+\-@]/.test(shown) ? `'${shown}` : shown;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
