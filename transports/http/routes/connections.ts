// The routes of connections: named upstreams besides the adapters.
import * as connections from '../handlers/connections.ts';
import { BODY, body, DISK, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const name = { name: 'Name of the entry in auth.json' };
const label = { label: 'Label of the key, as GET /api/connections shows it' };

/** The routes of connections by `METHOD /path`. */
export const CONNECTION_ROUTES = {
  'GET /api/connections': {
    id: 'listConnections',
    tag: 'Server',
    summary: 'List the connections',
    description: 'The adapters, and the named upstreams of auth.json: where each is, whether it could be called, and how busy it is. No answer has a key.',
    answers: { 200: json('ConnectionList', 'The connections.') },
    errors: ['ADAPTER_NOT_CONFIGURED'],
    handler: connections.list,
  },
  'PUT /api/connections/:name': {
    id: 'setConnection',
    tag: 'Server',
    summary: 'Change or add a connection',
    description:
      'Writes fields of an entry to auth.json; null removes one, and all others stay. A new address needs the stored keys and headers again, a variable of the server goes to the address of its preset alone, and keyCommand can only be written by hand.',
    params: name,
    query: { checked: { schema: { type: 'boolean' }, description: 'True to ask its server, and to put the entry back if it refuses' } },
    body: body('ConnectionEntry'),
    answers: { 200: json('Done', 'It is stored.') },
    errors: ['ADAPTER_NOT_CONFIGURED', ...BODY, ...DISK],
    handler: connections.set,
  },
  'DELETE /api/connections/:name': {
    id: 'removeConnection',
    tag: 'Server',
    summary: 'Remove a connection',
    description: 'Removes an entry of auth.json. Environment variables stay as they are.',
    params: name,
    answers: { 200: json('Done', 'It is removed.') },
    errors: ['CONNECTION_NOT_FOUND', 'ADAPTER_NOT_CONFIGURED', ...DISK],
    handler: connections.remove,
  },
  'POST /api/connections/:name/keys': {
    id: 'addConnectionKey',
    tag: 'Server',
    summary: 'Add a key to a connection',
    description: 'Adds a key beside the one or those that the entry has. A provider without an entry gets one with the key of its variable and this one.',
    params: name,
    query: { checked: { schema: { type: 'boolean' }, description: 'True to store an apiKey only if its server takes it' } },
    body: body('EntryKey'),
    answers: { 200: json('Done', 'The keys that the connection has now.') },
    errors: ['CONNECTION_NOT_FOUND', 'ADAPTER_NOT_CONFIGURED', ...BODY, ...DISK],
    handler: connections.addKey,
  },
  'PATCH /api/connections/:name/keys/:label': {
    id: 'changeConnectionKey',
    tag: 'Server',
    summary: 'Change a key of a connection',
    description:
      'Changes the label, the weight, the most calls at a time or the place of one of several keys; null removes a field. The key itself can only be removed.',
    params: { ...name, ...label },
    body: body('ChangeEntryKey'),
    answers: { 200: json('Done', 'The keys that the connection has now.') },
    errors: ['CONNECTION_NOT_FOUND', 'ADAPTER_NOT_CONFIGURED', ...BODY, ...DISK],
    handler: connections.changeKey,
  },
  'DELETE /api/connections/:name/keys/:label': {
    id: 'removeConnectionKey',
    tag: 'Server',
    summary: 'Remove a key of a connection',
    description: 'Removes one of several keys. Environment variables stay as they are.',
    params: { ...name, ...label },
    answers: { 200: json('Done', 'The keys that the connection has now.') },
    errors: ['INVALID_REQUEST', 'CONNECTION_NOT_FOUND', 'ADAPTER_NOT_CONFIGURED', ...DISK],
    handler: connections.removeKey,
  },
  'POST /api/connections/detect': {
    id: 'detectConnections',
    tag: 'Server',
    summary: 'Look for local servers',
    description: 'Asks the ports of known local servers on 127.0.0.1, for 300 ms each, and says which have answered. Adds nothing.',
    answers: { 200: json('DetectedList', 'The servers that have answered.') },
    handler: connections.detect,
  },
  'GET /api/presets': {
    id: 'listPresets',
    tag: 'Server',
    summary: 'List the presets',
    description: 'The services that a connection can be built on, with the variable of each, and whether this server has it.',
    answers: { 200: json('PresetList', 'The presets.') },
    errors: ['ADAPTER_NOT_CONFIGURED'],
    handler: connections.presets,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
