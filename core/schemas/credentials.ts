// Answers and bodies of `/api/credentials`. No answer has a secret.
import type * as types from '../types.ts';
import { boolean, listOf, object, oneOf, orNull, string } from './fields.ts';

/** Where the key of an adapter is. */
export const CredentialSource = {
  ...orNull(oneOf(['auth.json', 'env', 'chain'])),
  description: 'Where the key is; `chain` for a chain of the provider; null for none',
} as const;

/** Where a provider's key comes from. */
export const Credential = object(
  {
    adapter: string,
    configured: { ...boolean, description: 'True if everything that a call needs is set' },
    source: CredentialSource,
    variable: { type: 'string', description: 'The environment variable that has the key' },
    hint: { ...orNull(string), description: 'The last four characters of a key of 20 or more' },
    baseURL: { ...orNull(string), description: 'The address, if it is not the default' },
  },
  ['variable'],
);
export type Credential = types.Credential;

/** GET `/api/credentials`. */
export const CredentialList = object({ credentials: listOf(Credential) });

/** The body of PUT `/api/credentials/:adapter`: fields of the adapter, such as apiKey or baseURL. */
export const SetCredential = {
  type: 'object',
  minProperties: 1,
  maxProperties: 10,
  additionalProperties: { type: 'string', minLength: 1, maxLength: 8192 },
} as const;
