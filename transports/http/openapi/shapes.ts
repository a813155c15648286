// Short forms for the schemas of protocols that clients speak. What they leave out is allowed: providers add members every month. Pure: no I/O.

/** A JSON Schema. */
export type Shape = Readonly<Record<string, unknown>>;

export const STRING = { type: 'string' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;
export const NUMBER = { type: 'number' } as const;
export const BOOLEAN = { type: 'boolean' } as const;
export const OBJECT = { type: 'object', additionalProperties: true } as const;
export const ANY = {} as const;

/** This, or null. */
export const orNull = (shape: Shape) => ({ anyOf: [shape, { type: 'null' }] });
export const list = (items: Shape) => ({ type: 'array', items });
export const oneValue = (...values: readonly string[]) => (values.length === 1 ? { type: 'string', const: values[0] } : { type: 'string', enum: values });
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
/** Exactly one of these. */
export const one = (...shapes: readonly Shape[]) => ({ oneOf: shapes });

/** An object whose members are always there, but for the optional ones. */
export const shape = (always: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}) => ({
  type: 'object',
  additionalProperties: true,
  required: Object.keys(always),
  properties: { ...always, ...optional },
});

/** A frame of server-sent events: the JSON of its line `data:` and, where it has a name, that of its line `event:`. */
export const frame = (data: Shape, event?: string) => shape(event === undefined ? { data } : { event: oneValue(event), data });

/** The words about every stream whose schema is that of a frame. */
export const FRAMES =
  'One server-sent event: `event` is its line `event:` where it has one, and `data` the JSON in its line `data:`. The body is a sequence of them, with a blank line after each.';
