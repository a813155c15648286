// The paths of `/api/blocks`: blocks, their configuration and their monitor. Pure: no I/O.
import { BODY, body, DISK, errors, inPath, json, optional, type Paths, READ, WRITE } from './parts.ts';

const name = inPath('name', 'Name of the block');
const etag = { etag: { description: 'The revision of the configuration, in quotes: for `If-Match`', schema: { type: 'string' } } };
const ifMatch = optional('header', 'If-Match', { type: 'string' }, 'The revision that the change is meant for, like `"3"`; `*` or nothing for any');
const hard = optional('query', 'hard', { type: 'string', enum: ['true', 'false'] }, 'true wipes the logs, too');

export const BLOCK_PATHS: Paths = {
  '/api/blocks': {
    get: {
      operationId: 'listBlocks',
      summary: 'All blocks, sorted by name; a damaged one with `configError`',
      responses: { 200: json('BlockList', 'The blocks.'), ...errors('SHUTTING_DOWN') },
    },
    post: {
      operationId: 'createBlock',
      summary: 'Make a block',
      requestBody: body('CreateBlock'),
      responses: { 200: json('BlockCreated', 'It is on disk, stopped.'), ...errors(...BODY, 'NAME_TAKEN', ...DISK) },
    },
  },
  '/api/blocks/{name}': {
    get: {
      operationId: 'getBlock',
      summary: 'Configuration, memory, costs and pulse of a block',
      parameters: [name],
      responses: { 200: json('BlockDetails', 'The block.'), ...errors(...READ) },
    },
    delete: {
      operationId: 'archiveBlock',
      summary: 'Stop the monitor and move the block to the archive',
      parameters: [name],
      responses: { 200: json('Archived', 'It can be restored under `archiveName`.'), ...errors(...WRITE) },
    },
  },
  '/api/blocks/{name}/why': {
    get: {
      operationId: 'explainBlock',
      summary: 'Why a block is in its state, what happens next, and what a person can do',
      parameters: [name],
      responses: { 200: json('Explanation', 'The explanation.'), ...errors(...READ) },
    },
  },
  '/api/blocks/{name}/start': {
    post: {
      operationId: 'startBlock',
      summary: 'Start the monitor; idempotent',
      parameters: [name],
      responses: { 200: json('MonitorChanged', 'It runs.'), ...errors('INVALID_REQUEST', ...WRITE) },
    },
  },
  '/api/blocks/{name}/stop': {
    post: {
      operationId: 'stopBlock',
      summary: 'Stop the monitor; idempotent. A reply may end within 10 s, then its text so far is kept',
      parameters: [name],
      responses: { 200: json('MonitorChanged', 'It is stopped.'), ...errors(...WRITE) },
    },
  },
  '/api/blocks/{name}/restart': {
    post: {
      operationId: 'restartBlock',
      summary: 'Stop the monitor and start it again',
      parameters: [name],
      responses: { 200: json('MonitorChanged', 'It runs.'), ...errors('INVALID_REQUEST', ...WRITE) },
    },
  },
  '/api/blocks/{name}/reset': {
    post: {
      operationId: 'resetBlock',
      summary: 'Clear memory, costs and pulse; configuration and chat history stay',
      parameters: [name, hard],
      responses: { 200: json('WasReset', '`cleared` lists what was cleared.'), ...errors('INVALID_REQUEST', ...WRITE) },
    },
  },
  '/api/blocks/{name}/config': {
    get: {
      operationId: 'getConfig',
      summary: 'Configuration of a block, every default filled in',
      parameters: [name],
      responses: { 200: json('ConfigAnswer', 'The configuration.', etag), ...errors(...READ) },
    },
    put: {
      operationId: 'updateConfig',
      summary: 'Change fields of the configuration; those left out stay',
      description: 'A shallow merge: a field that is given replaces the old one whole. `name` stays, and keys of providers belong in auth.json.',
      parameters: [name, ifMatch],
      requestBody: body('BlockConfigPatch'),
      responses: { 200: json('ConfigChanged', 'The whole configuration.', etag), ...errors(...BODY, 'REVISION_MISMATCH', ...WRITE) },
    },
  },
  '/api/blocks/{name}/logs': {
    get: {
      operationId: 'listLogs',
      summary: 'The 20 newest log files, the last 64 KiB of each',
      parameters: [name],
      responses: { 200: json('LogList', 'Newest first.'), ...errors(...READ) },
    },
  },
};
