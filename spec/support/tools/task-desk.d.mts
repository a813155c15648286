/** The names of its tools. */
export const NAMES: readonly string[];

/** A form with one field. */
export const WHO: object;

/** A desk with these files. */
export function taskDesk(files: { readonly file: string; readonly note?: string; readonly book?: string }): {
  /** Undefined for a method that it does not have. */
  answer(method: string, params: object): { readonly result?: object; readonly error?: object } | undefined;
};
