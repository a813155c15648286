// What a tool is known to do. A mark holds only where the server's annotation and the user's settings say the same. Pure: no I/O.
import { isObject } from '../base/json.ts';
import type { ToolMarks } from '../types.ts';
import { fitsPattern } from './patterns.ts';
import type { JsonRecord, ServerSettings, ToolDefinition } from './port.ts';

/** The marks of a tool. */
export function marksOf({ tool, annotations = {} }: ToolDefinition, { marks = {} }: ServerSettings): ToolMarks {
  const says = (patterns: readonly string[] | undefined): boolean => (patterns ?? []).some((pattern) => fitsPattern(pattern, tool));
  return {
    readOnly: annotations.readOnlyHint === true && says(marks.readOnly),
    idempotent: annotations.idempotentHint === true && says(marks.idempotent),
    closedWorld: annotations.openWorldHint === false && says(marks.closedWorld),
  };
}

/** The argument that gets the id of the call. */
export interface KeyArgument {
  readonly argument: string;
  readonly repeatable: boolean;
}

/** Undefined for a tool without one. */
export function keyArgumentOf({ tool }: Pick<ToolDefinition, 'tool'>, { keyArguments = {} }: ServerSettings): KeyArgument | undefined {
  const given = Object.hasOwn(keyArguments, tool) ? keyArguments[tool] : undefined;
  return typeof given === 'string' ? { argument: given, repeatable: true } : given;
}

/** What one call costs, in USD; an entry of its own name goes before patterns. Undefined where it costs nothing. */
export function usdOf({ tool }: Pick<ToolDefinition, 'tool'>, { usdPerCall = {} }: ServerSettings): number | undefined {
  const own = Object.hasOwn(usdPerCall, tool) ? usdPerCall[tool] : undefined;
  const usd = own ?? Object.entries(usdPerCall).find(([pattern]) => fitsPattern(pattern, tool))?.[1];
  return usd === undefined || !(usd > 0) ? undefined : usd;
}

/** True for a tool whose call may be sent again without a second effect. */
export function isRepeatable({ readOnly, idempotent }: ToolMarks, key: KeyArgument | undefined): boolean {
  return readOnly || idempotent || key?.repeatable === true;
}

/** The schema without the argument that the model does not see. */
export function withoutArgument(schema: JsonRecord, argument: string): JsonRecord {
  const { properties, required, ...others } = schema;
  const without: Record<string, unknown> = { ...others };
  if (isObject(properties)) without['properties'] = Object.fromEntries(Object.entries(properties).filter(([name]) => name !== argument));
  if (Array.isArray(required)) without['required'] = required.filter((name) => name !== argument);
  return without;
}
