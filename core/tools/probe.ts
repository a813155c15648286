// Asks a reading tool whether a call ran whose outcome is not known. Pure: no I/O.
//
// read-only: a probe is a tool of the same server with the mark `readOnly`, as it was approved, and no rule denies it. Otherwise nothing is asked.
import { isObject, tryParseJson } from '../base/json.ts';
import { estimateTokens } from '../base/tokens.ts';
import { marksOf } from './marks.ts';
import { fitsPattern } from './patterns.ts';
import type { Catalogue, JsonRecord, ToolDefinition, ToolOutcome } from './port.ts';
import { resultText } from './results.ts';
import type { ToolSettings } from './settings.ts';

/** A result whose text is longer is not read as JSON. */
const MAX_TOKENS = 1_000_000;

/** A probe that can be asked. */
export interface Probe {
  readonly definition: ToolDefinition;
  readonly arguments: JsonRecord;
  /** JSON pointer. */
  readonly found: string;
}

/** The probe of a tool for the arguments that were sent; undefined where there is none, or where it may not be asked (read-only). */
export function probeFor(
  { tools, settings }: Catalogue,
  { deny }: Pick<ToolSettings, 'deny'>,
  definition: ToolDefinition,
  sent: JsonRecord,
): Probe | undefined {
  const own = settings[definition.server] ?? {};
  const probe = own.probe !== undefined && Object.hasOwn(own.probe, definition.tool) ? own.probe[definition.tool] : undefined;
  const asked = tools.find(({ server, tool }) => server === definition.server && tool === probe?.tool);
  if (probe === undefined || asked === undefined || !marksOf(asked, own).readOnly) return undefined;
  if (deny.some((pattern) => fitsPattern(pattern, `${asked.server}/${asked.tool}`))) return undefined;
  const args = Object.entries(probe.with).map(([name, pointer]) => [name, valueAt(sent, pointer)] as const);
  if (args.some(([, value]) => value === undefined)) return undefined;
  return { definition: asked, arguments: Object.fromEntries(args), found: probe.found };
}

/** Whether a probe has found the call. Undefined for a result that does not say it: an error, or nothing that can be read as JSON. */
export function hasFound({ found }: Pick<Probe, 'found'>, { isError, parts, structuredContent }: ToolOutcome): boolean | undefined {
  const text = resultText(parts);
  const value = structuredContent ?? (estimateTokens(text) > MAX_TOKENS ? undefined : tryParseJson(text));
  if (isError || value === undefined) return undefined;
  const at = valueAt(value, found);
  if (at === undefined || at === null || at === '') return false;
  return Array.isArray(at) ? at.length > 0 : !isObject(at) || Object.keys(at).length > 0;
}

/** RFC 6901. Undefined where nothing stands. */
export function valueAt(value: unknown, pointer: string): unknown {
  if (pointer === '') return value;
  if (!pointer.startsWith('/')) return undefined;
  let at = value;
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(name) ? at[Number(name)] : undefined;
    else at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}
