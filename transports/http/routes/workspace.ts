// The routes of the workspace: archive, export and import, costs, doctor, kill switch.
import * as archive from '../handlers/archive.ts';
import * as workspace from '../handlers/workspace.ts';
import { BODY, body, DISK, json, READ, WRITE } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../route.ts';

const string = { type: 'string' };
const binary = { content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } } };
const archived = { name: 'The archive name, or the original name when only one archive has it' };
const ARCHIVE = ['NOT_FOUND', 'ARCHIVE_NOT_FOUND', 'AMBIGUOUS_ARCHIVE', ...DISK] as const;
const halt = { 200: json('HaltState', 'The switch.') };

/** The routes of the workspace by `METHOD /path`. */
export const WORKSPACE_ROUTES = {
  'GET /api/archive': {
    id: 'listArchive',
    summary: 'Archived blocks, newest first',
    answers: { 200: json('ArchiveList', 'The archive.') },
    handler: archive.list,
  },
  'POST /api/archive/:name/restore': {
    id: 'restoreBlock',
    summary: 'Make an archived block active again, stopped',
    params: archived,
    body: body('RestoreArchive', false),
    answers: { 200: json('Restored', 'It is active under `name`.') },
    errors: [...BODY, 'NAME_TAKEN', ...ARCHIVE],
    handler: archive.restore,
  },
  'DELETE /api/archive/:name': {
    id: 'purgeArchive',
    summary: 'Delete an archived block for good',
    params: archived,
    answers: { 200: json('Done', 'It is gone.') },
    errors: ARCHIVE,
    handler: archive.purge,
  },
  'POST /api/blocks/:name/rename': {
    id: 'renameBlock',
    summary: 'Give a block another name; a monitor that runs is stopped and started again',
    params: { name: 'Name of the block' },
    body: body('RenameBlock'),
    answers: { 200: json('Restored', 'It is active under `name`.') },
    errors: [...BODY, 'NAME_TAKEN', ...WRITE],
    handler: archive.rename,
  },
  'GET /api/blocks/:name/export': {
    id: 'exportBlock',
    summary: 'The files of a block as a tar.gz; 400 when the block is too large to export',
    params: { name: 'Name of the block' },
    answers: { 200: { description: 'The archive.', ...binary } },
    errors: ['INVALID_REQUEST', ...READ],
    handler: archive.exportBlock,
  },
  'POST /api/import': {
    id: 'importBlock',
    summary: 'Make a block from an exported tar.gz of at most 64 MiB; the block is stopped',
    query: { name: { schema: string, description: 'Another name for the block' } },
    body: { required: true, ...binary },
    answers: { 200: json('BlockCreated', 'It is on disk, stopped.') },
    errors: [...BODY, 'NAME_TAKEN', 'QUEUE_FULL', ...DISK],
    handler: archive.importBlock,
  },
  'GET /api/costs': {
    id: 'getCosts',
    summary: 'Money and tokens from the ledger, including blocks that were reset, archived or deleted',
    query: {
      source: {
        schema: { type: 'string', enum: ['blocks', 'gateway'], default: 'blocks' },
        description: 'The calls of blocks, or those of the clients of the gateway',
      },
      by: {
        schema: { type: 'string', enum: ['block', 'key', 'model', 'day'] },
        description: 'What each row sums up. The default is block, and key for the gateway',
      },
      block: { schema: string, description: 'Only this block' },
    },
    answers: { 200: json('CostsReport', 'The report.') },
    errors: ['INVALID_REQUEST', 'BLOCK_NOT_FOUND', 'WORKSPACE_DAMAGED', 'STORAGE_FAILED'],
    handler: workspace.costs,
  },
  'GET /api/doctor': {
    id: 'checkWorkspace',
    summary: 'Check every file and message; changes nothing',
    answers: { 200: json('DoctorReport', 'What was found.') },
    handler: workspace.doctor,
  },
  'GET /api/halt': {
    id: 'getHalt',
    summary: 'Whether the kill switch is set',
    answers: halt,
    handler: workspace.halted,
  },
  'POST /api/halt': {
    id: 'setHalt',
    summary: 'Set the kill switch: no monitor calls a model until it is released',
    body: body('SetHalt', false),
    answers: halt,
    errors: [...BODY, ...DISK],
    handler: workspace.halt,
  },
  'DELETE /api/halt': {
    id: 'releaseHalt',
    summary: 'Release the kill switch',
    answers: halt,
    errors: DISK,
    handler: workspace.unhalt,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
