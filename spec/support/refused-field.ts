// The verdict of a schema on a value.
import { compile } from '../../core/schemas/validate.ts';

/** The path of the field that a schema refuses; undefined if it takes the value. */
export function refusedField(schema: object, value: unknown): string | undefined {
  const check: (value: unknown) => void = compile(schema);
  try {
    check(value);
    return undefined;
  } catch (error) {
    return (error as { details: { path: string }[] }).details[0]?.path;
  }
}
