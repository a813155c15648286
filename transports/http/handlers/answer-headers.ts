// The headers of an answer in a client's protocol: the model that gave it, and what was ignored of its request. Pure: no I/O.
import type { ModelTarget } from '../../../core/index.ts';

const UNFIT = /[^\x20-\x7e]/;

/** Field names only: a value may be a secret, and a header has no room for prose. */
export function headersOf(
  { adapter, model }: ModelTarget,
  warnings: readonly { readonly field: string }[],
  ofDialect?: Readonly<Record<string, string>>,
  passed: readonly string[] = [],
): Record<string, string> {
  const headers: Record<string, string> = { 'x-blockhouse-model': headerText(`${adapter}/${model}`) };
  if (ofDialect !== undefined) Object.assign(headers, ofDialect);
  if (warnings.length > 0) headers['x-blockhouse-warnings'] = headerText([...new Set(warnings.map(({ field }) => field))].join('; ')).slice(0, 2048);
  if (passed.length > 0) headers['x-blockhouse-fallback'] = headerText(passed.join('; ')).slice(0, 2048);
  return headers;
}

function headerText(text: string): string {
  return UNFIT.test(text) ? text.replace(/[^\x20-\x7e]/g, '?') : text;
}
