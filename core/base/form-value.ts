// One value of a form that a server of tools asks a person to fill in: whether it is what its field wants. Pure: no I/O.
import type { InputField } from '../types.ts';
import { urlOf } from './url.ts';

/** Of a text, where the form says no less. */
const MAX_VALUE = 4096;

/** As the end of a sentence that begins with the name of the field. */
export function valueFault({ type, options = [], min, max, format }: InputField, value: unknown): string | undefined {
  const isOption = (one: unknown): boolean => options.some((option) => option.value === one);
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'choice':
      return isOption(value) ? undefined : `must be one of ${options.map((option) => option.value).join(', ')}`;
    case 'choices':
      if (!Array.isArray(value) || !value.every(isOption) || new Set(value).size < value.length) return 'must be a list of its choices, each once';
      return boundsFault(value.length, { min, max }, 'choices');
    case 'string':
      if (typeof value !== 'string') return 'must be a text';
      return (
        boundsFault([...value].length, { min, max: Math.min(max ?? MAX_VALUE, MAX_VALUE) }, 'characters') ?? // first: the time to read an address grows with the square of its length
        (format !== undefined && !FORMATS[format](value) ? `must be ${FORMAT_WORDS[format]}` : undefined)
      );
    default:
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      if (type === 'integer' && !Number.isSafeInteger(value)) return 'must be a whole number';
      return boundsFault(value, { min, max }, '');
  }
}

function boundsFault(size: number, { min, max }: { readonly min: number | undefined; readonly max: number | undefined }, what: string): string | undefined {
  const unit = what === '' ? '' : ` ${what}`;
  if (min !== undefined && size < min) return what === '' ? `must be at least ${min}` : `must have at least ${min}${unit}`;
  if (max !== undefined && size > max) return what === '' ? `must be at most ${max}` : `must have at most ${max}${unit}`;
  return undefined;
}

const isTime = (value: string): boolean => !Number.isNaN(Date.parse(value));
/** How a text of each format is known. */
export const FORMATS: Readonly<Record<NonNullable<InputField['format']>, (value: string) => boolean>> = {
  email: (value) => /^[^\s@]+@[^\s@]+$/.test(value),
  uri: (value) => urlOf(value) !== undefined,
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && isTime(value) && new Date(value).toISOString().startsWith(value),
  'date-time': (value) => /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/.test(value) && isTime(value),
};
const FORMAT_WORDS: Readonly<Record<NonNullable<InputField['format']>, string>> = {
  email: 'an e-mail address',
  uri: 'an address such as https://example.com',
  date: 'a date such as 2026-11-28',
  'date-time': 'a time such as 2026-11-28T12:00:00Z',
};
