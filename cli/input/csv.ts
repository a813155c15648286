// Reads comma-separated values (RFC 4180), also with tabs or semicolons. Pure: no I/O.

/** The rows with their fields. Throws an Error for quotes that don't fit. */
export function parseCsv(text: string): string[][] {
  const body = text.replace(/^\uFEFF/, '');
  const separator = separatorOf(/^[^\r\n]*/.exec(body)?.[0] ?? '');
  const rows: string[][] = [];
  let row: string[] = [];
  let isOpen = false;
  for (let at = 0; at < body.length || isOpen; ) {
    const { value, end } = body[at] === '"' ? quoted(body, at + 1) : plain(body, at, separator);
    row.push(value);
    isOpen = body[end] === separator;
    if (!isOpen) {
      if (end < body.length && !/[\r\n]/.test(body[end] ?? '')) throw new Error('a field goes on after its closing quote');
      rows.push(row);
      row = [];
    }
    at = end + (body.startsWith('\r\n', end) ? 2 : 1);
  }
  return rows.filter((fields) => fields.length > 1 || fields[0] !== '');
}

/** Of the first line. */
function separatorOf(head: string): string {
  const counts = [',', '\t', ';'].map((one) => [one, head.split(one).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

interface Field {
  readonly value: string;
  /** Where the separator or the end of the line is. */
  readonly end: number;
}

function plain(text: string, from: number, separator: string): Field {
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return { value: text.slice(from, end), end };
}

function quoted(text: string, from: number): Field {
  let value = '';
  for (let at = from; ; ) {
    const end = text.indexOf('"', at);
    if (end === -1) throw new Error('a quote never ends');
    value += text.slice(at, end);
    if (text[end + 1] !== '"') return { value, end: end + 1 };
    value += '"';
    at = end + 2;
  }
}
