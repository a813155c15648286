// The routes for the clients of the gateway: their keys, and the names of models.
import * as keys from '../handlers/keys.ts';
import * as models from '../handlers/models.ts';
import { BODY, body, DISK, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const modelName = { name: 'A model name as clients send it, URL-encoded' };
const groupName = { name: 'Name of the group' };
const etag = { etag: { description: 'The `rev` of the key, in quotes: for `If-Match`', schema: { type: 'string' } } };
const WRITE = [...BODY, 'WORKSPACE_DAMAGED', ...DISK] as const;

/** The routes for clients by `METHOD /path`. */
export const CLIENT_ROUTES = {
  'GET /api/keys': {
    id: 'listKeys',
    tag: 'Clients',
    summary: 'List the keys',
    description:
      'The keys of applications, their limits and what each has spent today, this week (from Monday) and this month (UTC). The keys themselves are never shown again.',
    answers: { 200: json('KeyList', 'The keys, without the keys themselves.') },
    errors: ['WORKSPACE_DAMAGED', 'STORAGE_FAILED'],
    handler: keys.list,
  },
  'POST /api/keys': {
    id: 'createKey',
    tag: 'Clients',
    summary: 'Make a key for one application',
    description: 'Makes a key for one application. It is accepted on /v1 and /ollama only, as a bearer token or in x-api-key, and shown only in this answer.',
    body: body('CreateKey'),
    answers: { 200: json('KeyCreated', 'The key.') },
    errors: ['NAME_TAKEN', ...WRITE],
    handler: keys.create,
  },
  'PATCH /api/keys/:name': {
    id: 'changeKey',
    tag: 'Clients',
    summary: 'Change the limits of a key',
    description: 'Changes the limits that the body names, for calls from now on; null lifts a limit. The key itself stays as it is.',
    params: { name: 'Name of the key' },
    headers: {
      'If-Match': { schema: { type: 'string' }, description: 'The `rev` of the key that the change is meant for, in quotes; `*` or no header for any' },
    },
    body: body('ChangeKey'),
    answers: { 200: json('KeyChanged', 'The limits that hold now.', etag) },
    errors: ['KEY_NOT_FOUND', 'REVISION_MISMATCH', ...WRITE],
    handler: keys.change,
  },
  'DELETE /api/keys/:name': {
    id: 'revokeKey',
    tag: 'Clients',
    summary: 'Revoke a key',
    description: 'Revokes a key. It is refused at once.',
    params: { name: 'Name of the key' },
    answers: { 200: json('Done', 'It is revoked.') },
    errors: ['KEY_NOT_FOUND', 'WORKSPACE_DAMAGED', ...DISK],
    handler: keys.revoke,
  },
  'POST /api/keys/:name/debug': {
    id: 'debugKey',
    tag: 'Clients',
    summary: 'Keep bodies of calls of a key',
    description:
      'Keeps what the calls of a key send and get, masked and bounded, until the time ends, for `GET /api/gateway/requests/{id}`. Again, it sets another end. For the token of the workspace alone.',
    params: { name: 'Name of the key' },
    body: body('DebugKey', false),
    answers: { 200: json('KeyDebugged', 'Until when they are kept.') },
    errors: ['KEY_NOT_FOUND', 'KEY_FORBIDDEN', ...WRITE],
    handler: keys.debug,
  },
  'DELETE /api/keys/:name/debug': {
    id: 'endDebugKey',
    tag: 'Clients',
    summary: 'Keep no bodies of calls',
    description: 'Deletes the bodies that were kept, and keeps no further ones. Does nothing for a key that is not debugged.',
    params: { name: 'Name of the key' },
    answers: { 200: json('Done', 'They are deleted.') },
    errors: ['KEY_NOT_FOUND', 'WORKSPACE_DAMAGED', ...DISK],
    handler: keys.endDebug,
  },
  'GET /api/key-groups': {
    id: 'listKeyGroups',
    tag: 'Clients',
    summary: 'List the groups of keys',
    description: 'The groups of keys, their limits, the keys in each, and what was spent in it today, this week and this month (UTC).',
    answers: { 200: json('KeyGroupList', 'The groups.') },
    errors: ['WORKSPACE_DAMAGED', 'STORAGE_FAILED'],
    handler: keys.groups,
  },
  'PUT /api/key-groups/:name': {
    id: 'setKeyGroup',
    tag: 'Clients',
    summary: 'Set the limits of a group',
    description:
      'Makes the group if there is none, and changes the limits that the body names; null lifts a limit. They hold for all keys of the group together, besides the limits of each key.',
    params: groupName,
    body: body('SetKeyGroup'),
    answers: { 200: json('KeyGroupSet', 'The limits that hold now.') },
    errors: WRITE,
    handler: keys.setGroup,
  },
  'DELETE /api/key-groups/:name': {
    id: 'removeKeyGroup',
    tag: 'Clients',
    summary: 'Remove a group of keys',
    description: 'Removes a group that no key is in. What was spent in it counts again for a group of the same name.',
    params: groupName,
    answers: { 200: json('Done', 'It is removed.') },
    errors: ['KEY_NOT_FOUND', 'WRONG_STATE', 'WORKSPACE_DAMAGED', ...DISK],
    handler: keys.removeGroup,
  },
  'GET /api/models': {
    id: 'listModelNames',
    tag: 'Clients',
    summary: 'List the names of models',
    description: 'Aliases, the default provider, and each model of each provider that could be called now.',
    answers: { 200: json('ModelNames', 'The names.') },
    errors: ['WORKSPACE_DAMAGED'],
    handler: models.list,
  },
  'PUT /api/models': {
    id: 'setDefaultProvider',
    tag: 'Clients',
    summary: 'Set the default provider',
    description: 'Sets the provider of names that nothing else resolves.',
    body: body('SetDefaultProvider'),
    answers: { 200: json('Done', 'It is set.') },
    errors: WRITE,
    handler: models.setDefault,
  },
  'GET /api/models/:name': {
    id: 'resolveModel',
    tag: 'Clients',
    summary: 'Resolve a model name',
    description: 'Which models of which providers a name means. The one that is asked first comes first.',
    params: modelName,
    answers: { 200: json('ModelResolved', 'The models.') },
    errors: ['INVALID_REQUEST', 'MODEL_NOT_FOUND', 'WORKSPACE_DAMAGED'],
    handler: models.resolve,
  },
  'PUT /api/models/:name': {
    id: 'setAlias',
    tag: 'Clients',
    summary: 'Set an alias',
    description:
      'Lets a name stand for a model. With a * at its end it stands for all names that begin so. With several targets, the next is asked when the one before it fails.',
    params: modelName,
    body: body('SetAlias'),
    answers: { 200: json('Done', 'It is set.') },
    errors: WRITE,
    handler: models.setAlias,
  },
  'DELETE /api/models/:name': {
    id: 'removeAlias',
    tag: 'Clients',
    summary: 'Remove an alias',
    description: 'Removes an alias.',
    params: modelName,
    answers: { 200: json('Done', 'It is removed.') },
    errors: ['MODEL_NOT_FOUND', 'WORKSPACE_DAMAGED', ...DISK],
    handler: models.removeAlias,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
