// The routes of `/api/blocks`: blocks, their configuration and their monitor.
import { MAX_LOG_PART_BYTES } from '../../../core/index.ts';
import * as blocks from '../handlers/blocks.ts';
import { BODY, body, DISK, either, json, NO_BLOCKS, READ, tagged, WRITE } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const name = { name: 'Name of the block' };
const etag = { etag: { description: 'The revision of the configuration, in quotes: for `If-Match`', schema: { type: 'string' } } };

/** The routes of blocks by `METHOD /path`. */
export const BLOCK_ROUTES = {
  'GET /api/blocks': {
    id: 'listBlocks',
    tag: 'Blocks',
    summary: 'List blocks',
    description:
      'All blocks, sorted by name. With a parameter, those that fit, a page at a time: `Link` has the address of the next page. Of more than 10,000 blocks, a request without a parameter gets the first 1,000. A damaged block is listed with `configError`.',
    query: {
      limit: { schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 }, description: 'The most blocks of a page' },
      cursor: { schema: { type: 'string' }, description: 'Where the page begins: from `Link` of the page before' },
      sort: {
        schema: { type: 'string', enum: ['name', 'lastMessageAt', 'costUsd', 'state'], default: 'name' },
        description: 'Times and costs are sorted downwards',
      },
      state: { schema: { type: 'string' }, description: 'A state, or several with commas between them' },
      tag: { schema: { type: 'string' }, description: 'A tag of the block' },
      q: { schema: { type: 'string' }, description: 'A part of the name or of the description, in any case' },
    },
    ...tagged('BlockList', 'The blocks.', { link: { description: '`<address>; rel="next"`: the next page, if there is one', schema: { type: 'string' } } }),
    errors: ['INVALID_REQUEST', NO_BLOCKS],
    handler: blocks.list,
  },
  'POST /api/blocks': {
    id: 'createBlock',
    tag: 'Blocks',
    summary: 'Create a block',
    description: 'Creates a block, stopped. A given configuration is applied at once.',
    body: body('CreateBlock'),
    answers: { 200: json('BlockCreated', 'It is on disk, stopped.') },
    errors: [...BODY, 'NAME_TAKEN', NO_BLOCKS, ...DISK],
    handler: blocks.create,
  },
  'GET /api/blocks/:name': {
    id: 'getBlock',
    tag: 'Blocks',
    summary: 'Read a block',
    description: 'The configuration, memory, costs and pulse of a block.',
    params: name,
    ...tagged('BlockDetails', 'The block.'),
    errors: READ,
    handler: blocks.details,
  },
  'DELETE /api/blocks/:name': {
    id: 'archiveBlock',
    tag: 'Blocks',
    summary: 'Archive a block',
    description: 'Stops the monitor and moves the block to the archive, from which it can be restored.',
    params: name,
    answers: { 200: json('Archived', 'It can be restored under `archiveName`.') },
    errors: WRITE,
    handler: blocks.archive,
  },
  'GET /api/blocks/:name/why': {
    id: 'explainBlock',
    tag: 'Blocks',
    summary: 'Explain a block',
    description: 'Why a block is in its state, what happens next by itself, and what a person can do. Explains damaged blocks, too.',
    params: name,
    answers: { 200: json('Explanation', 'The explanation, also of a damaged block.') },
    errors: READ.filter((code) => code !== 'BLOCK_DAMAGED'),
    handler: blocks.why,
  },
  'POST /api/blocks/:name/start': {
    id: 'startBlock',
    tag: 'Blocks',
    summary: 'Start a block',
    description: 'Starts the monitor, which answers the messages that wait. Does nothing if it runs.',
    params: name,
    answers: { 200: json('MonitorChanged', 'It runs.') },
    errors: ['INVALID_REQUEST', ...WRITE],
    handler: blocks.start,
  },
  'POST /api/blocks/:name/stop': {
    id: 'stopBlock',
    tag: 'Blocks',
    summary: 'Stop a block',
    description:
      'Stops the monitor. A reply that is being written has 10 s to finish; after that it ends, and its text so far is kept. Does nothing if the monitor is stopped.',
    params: name,
    answers: { 200: json('MonitorChanged', 'It is stopped.') },
    errors: WRITE,
    handler: blocks.stop,
  },
  'POST /api/blocks/:name/restart': {
    id: 'restartBlock',
    tag: 'Blocks',
    summary: 'Restart a block',
    description: 'Stops the monitor and starts it again.',
    params: name,
    answers: { 200: json('MonitorChanged', 'It runs.') },
    errors: ['INVALID_REQUEST', ...WRITE],
    handler: blocks.restart,
  },
  'POST /api/blocks/:name/reset': {
    id: 'resetBlock',
    tag: 'Blocks',
    summary: 'Reset a block',
    description: 'Clears memory, costs and pulse. The configuration and the chat history stay.',
    params: name,
    query: { hard: { schema: { type: 'string', enum: ['true', 'false'] }, description: 'true deletes the logs, too' } },
    answers: { 200: json('WasReset', '`cleared` lists what was cleared.') },
    errors: ['INVALID_REQUEST', ...WRITE],
    handler: blocks.reset,
  },
  'GET /api/blocks/:name/config': {
    id: 'getConfig',
    tag: 'Blocks',
    summary: 'Read a configuration',
    description: 'The configuration of a block with every default filled in.',
    params: name,
    answers: { 200: json('ConfigAnswer', 'The configuration.', etag) },
    errors: READ,
    handler: blocks.config,
  },
  'PUT /api/blocks/:name/config': {
    id: 'updateConfig',
    tag: 'Blocks',
    summary: 'Change a configuration',
    description:
      "A shallow merge: each given field replaces the old one as a whole, and the others stay. `name` can't change, and keys of providers belong in auth.json.",
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
    tag: 'Blocks',
    summary: 'Read the logs',
    description:
      'The 20 newest log files of a block, and the last 64 KiB of each. With `file`, a part of that file: the last whole lines before a place in it, so that older ones are read by giving `from` of the answer as `before`.',
    params: name,
    query: {
      file: { schema: { type: 'string' }, description: 'Name of a log file' },
      before: { schema: { type: 'integer', minimum: 0 }, description: 'The place in the file, in bytes; by default its end' },
      max: { schema: { type: 'integer', minimum: 1, maximum: MAX_LOG_PART_BYTES, default: 65_536 }, description: 'The most bytes' },
    },
    answers: { 200: either(json('LogList', 'Newest first.'), json('LogPart', 'With `file`: the part.')) },
    errors: ['INVALID_REQUEST', ...READ],
    handler: blocks.logs,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
