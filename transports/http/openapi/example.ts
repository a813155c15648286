// One example of the published contract. Pure: types only.
import type { SchemaName } from './schemas.ts';

/** An example of the bodies with one schema. */
export interface Example {
  readonly of: SchemaName;
  readonly summary: string;
  readonly value: unknown;
  /** The operations and the status that it belongs to; without them, to all. */
  readonly operations?: readonly string[];
  readonly status?: number;
}
