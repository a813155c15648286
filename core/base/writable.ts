// A type for values that are still being made. Pure: types only.

/** The same fields without `readonly`, for the code that fills them in. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };
