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

/** A field that has `value` where it is missing; its description says so. */
export function withDefault<const V, const S extends { readonly description: string }>(value: V, schema: S) {
  const description: string = `${schema.description}; default ${value}`;
  return { ...schema, default: value, description } as const;
}

/** The same fields without defaults of their own; those within them stay. */
export function withoutDefaults<const P extends Readonly<Record<string, object>>>(properties: P): P {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, Object.fromEntries(Object.entries(field).filter(([keyword]) => keyword !== 'default'))]),
  ) as P;
}

/** The defaults of fields, also of those within them. A field without any is left out. */
export function defaultsOf(properties: Readonly<Record<string, object>>): Record<string, unknown> {
  const defaults: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    if ('default' in field) defaults[name] = field.default;
    else if ('properties' in field) {
      const within = defaultsOf(field.properties as Record<string, object>);
      if (Object.keys(within).length > 0) defaults[name] = within;
    }
  }
  return defaults;
}
