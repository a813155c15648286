// The parts that the schemas of several resources share. Pure: no I/O.

export const string = { type: 'string' } as const;
export const boolean = { type: 'boolean' } as const;
export const number = { type: 'number' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const time = { type: 'string', description: 'ISO 8601, UTC, with milliseconds' } as const;
/** `| null`: unknown or unset. */
export const orNull = <const S extends object>(schema: S) => ({ anyOf: [schema, { type: 'null' }] }) as const;
/** An amount in USD, or a cap. */
export const money = orNull({ type: 'number', minimum: 0 });
export const oneOf = <const V extends readonly string[]>(values: V) => ({ type: 'string', enum: values }) as const;
export const listOf = <const S extends object>(items: S) => ({ type: 'array', items }) as const;

/** A field that has this value where it is missing; its description says so. */
export function preset<const S extends { readonly description: string }>(
  value: string | number | boolean,
  schema: S,
): Omit<S, 'description'> & { readonly default: unknown; readonly description: string } {
  return { ...schema, default: value, description: `${schema.description}; default ${value}` };
}

/** The default of a schema: its own, or an object of those of its fields; undefined if there is none. */
export function defaultOf({ default: own, properties = {} }: { readonly default?: unknown; readonly properties?: Readonly<Record<string, object>> }): unknown {
  if (own !== undefined) return own;
  const inner = Object.entries(properties).flatMap(([name, schema]) => {
    const value = defaultOf(schema);
    return value === undefined ? [] : [[name, value] as const];
  });
  return inner.length === 0 ? undefined : Object.fromEntries(inner);
}

/** An object that may have unknown fields. Its own fields are required, except for those in `optional`. */
export function object<const P extends object, const O extends keyof P = never>(properties: P, optional: readonly O[] = []) {
  return { type: 'object', required: namesWithout(properties, optional), properties } as const;
}

/** The same, but an unknown field is an error. */
export function closedObject<const P extends object, const O extends keyof P = never>(properties: P, optional: readonly O[] = []) {
  return { type: 'object', additionalProperties: false, required: namesWithout(properties, optional), properties } as const;
}

function namesWithout<P extends object, O extends keyof P>(properties: P, optional: readonly O[]) {
  return Object.keys(properties).filter((name) => !optional.includes(name as O));
}
