// Comma-separated values as RFC 4180 has them. Pure: no I/O.

type Value = string | number | null | undefined;

/** Rows as lines, without the last line end. An unknown value is an empty field. */
export function toCsv(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => row.map(field).join(',')).join('\r\n');
}

/** A text that a spreadsheet would take for a formula is marked as text. */
function field(value: Value): string {
  if (value == null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
