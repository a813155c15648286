// The routes of `/api/blocks`: blocks, their configuration and their monitor.
import * as blocks from '../handlers/blocks.ts';
import { BODY, body, DISK, json, READ, WRITE } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../route.ts';

const name = { name: 'Name of the block' };
const etag = { etag: { description: 'The revision of the configuration, in quotes: for `If-Match`', schema: { type: 'string' } } };

/** The routes of blocks by `METHOD /path`. */
export const BLOCK_ROUTES = {
  'GET /api/blocks': {
    id: 'listBlocks',
    summary: 'All blocks, sorted by name; a damaged one with `configError`',
    answers: { 200: json('BlockList', 'The blocks.') },
    handler: blocks.list,
  },
  'POST /api/blocks': {
    id: 'createBlock',
    summary: 'Make a block',
    body: body('CreateBlock'),
    answers: { 200: json('BlockCreated', 'It is on disk, stopped.') },
    errors: [...BODY, 'NAME_TAKEN', ...DISK],
    handler: blocks.create,
  },
  'GET /api/blocks/:name': {
    id: 'getBlock',
    summary: 'Configuration, memory, costs and pulse of a block',
    params: name,
    answers: { 200: json('BlockDetails', 'The block.') },
    errors: READ,
    handler: blocks.details,
  },
  'DELETE /api/blocks/:name': {
    id: 'archiveBlock',
    summary: 'Stop the monitor and move the block to the archive',
    params: name,
    answers: { 200: json('Archived', 'It can be restored under `archiveName`.') },
    errors: WRITE,
    handler: blocks.archive,
  },
  'GET /api/blocks/:name/why': {
    id: 'explainBlock',
    summary: 'Why a block is in its state, what happens next, and what a person can do',
    params: name,
    answers: { 200: json('Explanation', 'The explanation, also of a damaged block.') },
    errors: READ.filter((code) => code !== 'BLOCK_DAMAGED'),
    handler: blocks.why,
  },
  'POST /api/blocks/:name/start': {
    id: 'startBlock',
    summary: 'Start the monitor; idempotent',
    params: name,
    answers: { 200: json('MonitorChanged', 'It runs.') },
    errors: ['INVALID_REQUEST', ...WRITE],
    handler: blocks.start,
  },
  'POST /api/blocks/:name/stop': {
    id: 'stopBlock',
    summary: 'Stop the monitor; idempotent. A reply has 10 s to finish; after that it ends and its text so far is kept',
    params: name,
    answers: { 200: json('MonitorChanged', 'It is stopped.') },
    errors: WRITE,
    handler: blocks.stop,
  },
  'POST /api/blocks/:name/restart': {
    id: 'restartBlock',
    summary: 'Stop the monitor and start it again',
    params: name,
    answers: { 200: json('MonitorChanged', 'It runs.') },
    errors: ['INVALID_REQUEST', ...WRITE],
    handler: blocks.restart,
  },
  'POST /api/blocks/:name/reset': {
    id: 'resetBlock',
    summary: 'Clear memory, costs and pulse; configuration and chat history stay',
    params: name,
    query: { hard: { schema: { type: 'string', enum: ['true', 'false'] }, description: 'true deletes the logs, too' } },
    answers: { 200: json('WasReset', '`cleared` lists what was cleared.') },
    errors: ['INVALID_REQUEST', ...WRITE],
    handler: blocks.reset,
  },
  'GET /api/blocks/:name/config': {
    id: 'getConfig',
    summary: 'Configuration of a block, every default filled in',
    params: name,
    answers: { 200: json('ConfigAnswer', 'The configuration.', etag) },
    errors: READ,
    handler: blocks.config,
  },
  'PUT /api/blocks/:name/config': {
    id: 'updateConfig',
    summary: 'Change fields of the configuration; those left out stay',
    description: 'A shallow merge: a field that is given replaces the old one whole. `name` stays, and keys of providers belong in auth.json.',
    params: name,
    headers: {
      'If-Match': { schema: { type: 'string' }, description: 'The revision that the change is meant for, such as `"3"`; `*` or no header for any' },
    },
    body: body('BlockConfigPatch'),
    answers: { 200: json('ConfigChanged', 'The whole configuration.', etag) },
    errors: [...BODY, 'REVISION_MISMATCH', ...WRITE],
    handler: blocks.updateConfig,
  },
  'GET /api/blocks/:name/logs': {
    id: 'listLogs',
    summary: 'The 20 newest log files, the last 64 KiB of each',
    params: name,
    answers: { 200: json('LogList', 'Newest first.') },
    errors: READ,
    handler: blocks.logs,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
