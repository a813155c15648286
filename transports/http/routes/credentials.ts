// The routes of the providers' keys.
import * as credentials from '../handlers/credentials.ts';
import { BODY, body, DISK, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const adapter = { adapter: 'Provider id' };

/** The routes of credentials by `METHOD /path`. */
export const CREDENTIAL_ROUTES = {
  'GET /api/credentials': {
    id: 'listCredentials',
    tag: 'Server',
    summary: 'Where each key is',
    description: 'Says for each provider whether it is configured and where its key comes from. No answer has a key.',
    answers: { 200: json('CredentialList', 'One for each provider.') },
    errors: ['ADAPTER_NOT_CONFIGURED'],
    handler: credentials.list,
  },
  'PUT /api/credentials/:adapter': {
    id: 'setCredential',
    tag: 'Server',
    summary: 'Store a key',
    description:
      "Checks a key with its provider, then writes it to auth.json; with `?unchecked=true` without the check. What comes from the environment can not be replaced here. An address at another origin than the stored one, or at another path of a host that is not the provider's own, needs the stored key again in the same request.",
    params: adapter,
    query: { unchecked: { schema: { type: 'boolean' }, description: 'True to store it without a check' } },
    body: body('SetCredential'),
    answers: { 200: json('Done', 'It is stored.') },
    errors: ['ADAPTER_NOT_FOUND', 'ADAPTER_NOT_CONFIGURED', 'WRONG_STATE', ...BODY, ...DISK],
    handler: credentials.set,
  },
  'DELETE /api/credentials/:adapter': {
    id: 'removeCredential',
    tag: 'Server',
    summary: 'Remove a stored key',
    description: 'Removes everything that auth.json has for a provider. Environment variables stay as they are.',
    params: adapter,
    answers: { 200: json('Done', 'It is removed.') },
    errors: ['ADAPTER_NOT_FOUND', 'ADAPTER_NOT_CONFIGURED', 'WRONG_STATE', ...DISK],
    handler: credentials.remove,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
