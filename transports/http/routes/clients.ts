// The routes for the clients of the gateway: their keys, and the names of models.
import * as keys from '../handlers/keys.ts';
import * as models from '../handlers/models.ts';
import { BODY, body, DISK, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../route.ts';

const modelName = { name: 'A model name as clients send it, URL-encoded' };
const WRITE = [...BODY, 'WORKSPACE_DAMAGED', ...DISK] as const;

/** The routes for clients by `METHOD /path`. */
export const CLIENT_ROUTES = {
  'GET /api/keys': {
    id: 'listKeys',
    summary: 'The keys of applications, their limits and what they have spent today',
    answers: { 200: json('KeyList', 'The keys, without the keys themselves.') },
    errors: ['WORKSPACE_DAMAGED', 'STORAGE_FAILED'],
    handler: keys.list,
  },
  'POST /api/keys': {
    id: 'createKey',
    summary: 'Make a key for one application; it is shown only in this answer',
    description: 'The key is accepted on /v1 only, as a bearer token or in x-api-key.',
    body: body('CreateKey'),
    answers: { 200: json('KeyCreated', 'The key.') },
    errors: ['NAME_TAKEN', ...WRITE],
    handler: keys.create,
  },
  'DELETE /api/keys/:name': {
    id: 'revokeKey',
    summary: 'Revoke a key; it is refused at once',
    params: { name: 'Name of the key' },
    answers: { 200: json('Done', 'It is revoked.') },
    errors: ['KEY_NOT_FOUND', 'WORKSPACE_DAMAGED', ...DISK],
    handler: keys.revoke,
  },
  'GET /api/models': {
    id: 'listModelNames',
    summary: 'Aliases, the default provider, and each model of each adapter that could be called now',
    answers: { 200: json('ModelNames', 'The names.') },
    errors: ['WORKSPACE_DAMAGED'],
    handler: models.list,
  },
  'PUT /api/models': {
    id: 'setDefaultProvider',
    summary: 'Set the provider of names that nothing else resolves',
    body: body('SetDefaultProvider'),
    answers: { 200: json('Done', 'It is set.') },
    errors: WRITE,
    handler: models.setDefault,
  },
  'GET /api/models/:name': {
    id: 'resolveModel',
    summary: 'What a model name means: which models of which providers are asked',
    params: modelName,
    answers: { 200: json('ModelResolved', 'The models.') },
    errors: ['MODEL_NOT_FOUND', 'WORKSPACE_DAMAGED'],
    handler: models.resolve,
  },
  'PUT /api/models/:name': {
    id: 'setAlias',
    summary: 'Let a name, or with a * at its end all names that begin so, stand for a model',
    params: modelName,
    body: body('SetAlias'),
    answers: { 200: json('Done', 'It is set.') },
    errors: WRITE,
    handler: models.setAlias,
  },
  'DELETE /api/models/:name': {
    id: 'removeAlias',
    summary: 'Remove an alias',
    params: modelName,
    answers: { 200: json('Done', 'It is removed.') },
    errors: ['MODEL_NOT_FOUND', 'WORKSPACE_DAMAGED', ...DISK],
    handler: models.removeAlias,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
