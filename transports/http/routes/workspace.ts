// The routes of the workspace: archive, export and import, costs, doctor, kill switch.
import * as archive from '../handlers/archive.ts';
import * as workspace from '../handlers/workspace.ts';
import { schemas } from '../../../core/index.ts';
import { BODY, body, DISK, json, NO_BLOCKS, READ, WRITE, wordsOf } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const { q, limit, block } = schemas.SearchQuery.properties;
const string = { type: 'string' };
const day = { type: 'string', format: 'date' };
const binary = { content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } } };
const archived = { name: 'The archive name, or the original name when only one archive has it' };
const ARCHIVE = ['NOT_FOUND', 'ARCHIVE_NOT_FOUND', 'AMBIGUOUS_ARCHIVE', NO_BLOCKS, ...DISK] as const;
const halt = { 200: json('HaltState', 'The switch.') };

/** The routes of the workspace by `METHOD /path`. */
export const WORKSPACE_ROUTES = {
  'GET /api/search': {
    id: 'search',
    tag: 'Chat',
    summary: 'Search in what was said',
    description:
      'Looks for words in the messages, answers and memories of all blocks, the archived ones too; the newest texts first. Case, accents and the width of letters make no difference; in a ' +
      'database, accents do, and of its blocks the 10,000 with the newest messages are looked at.',
    query: { q: wordsOf(q), limit: wordsOf(limit), block: wordsOf(block) },
    answers: { 200: json('SearchResult', 'What was found.') },
    errors: ['INVALID_REQUEST', 'QUEUE_FULL', ...READ, 'STORAGE_FULL'],
    handler: workspace.search,
  },
  'GET /api/archive': {
    id: 'listArchive',
    tag: 'Archive',
    summary: 'List archived blocks',
    description: 'All archived blocks, newest first.',
    answers: { 200: json('ArchiveList', 'The archive.') },
    errors: [NO_BLOCKS],
    handler: archive.list,
  },
  'POST /api/archive/:name/restore': {
    id: 'restoreBlock',
    tag: 'Archive',
    summary: 'Restore a block',
    description: 'Makes an archived block active again, stopped.',
    params: archived,
    body: body('RestoreArchive', false),
    answers: { 200: json('Restored', 'It is active under `name`.') },
    errors: [...BODY, 'NAME_TAKEN', ...ARCHIVE],
    handler: archive.restore,
  },
  'DELETE /api/archive/:name': {
    id: 'purgeArchive',
    tag: 'Archive',
    summary: 'Delete an archived block',
    description: 'Deletes an archived block for good.',
    params: archived,
    answers: { 200: json('Done', 'It is gone.') },
    errors: ARCHIVE,
    handler: archive.purge,
  },
  'POST /api/blocks/:name/rename': {
    id: 'renameBlock',
    tag: 'Blocks',
    summary: 'Rename a block',
    description: 'Gives a block another name. A monitor that runs is stopped and started again.',
    params: { name: 'Name of the block' },
    body: body('RenameBlock'),
    answers: { 200: json('Restored', 'It is active under `name`.') },
    errors: [...BODY, 'NAME_TAKEN', ...WRITE],
    handler: archive.rename,
  },
  'GET /api/blocks/:name/export': {
    id: 'exportBlock',
    tag: 'Blocks',
    summary: 'Export a block',
    description: 'The files of a block as a tar.gz. A block that is too large to export is a 400.',
    params: { name: 'Name of the block' },
    answers: { 200: { description: 'The archive.', ...binary } },
    errors: ['INVALID_REQUEST', ...READ],
    handler: archive.exportBlock,
  },
  'POST /api/import': {
    id: 'importBlock',
    tag: 'Blocks',
    summary: 'Import a block',
    description:
      'Makes a block, stopped, from an exported tar.gz of at most 64 MiB. The warnings say which connections of this machine it will use, and which are missing.',
    query: { name: { schema: string, description: 'Another name for the block' } },
    body: { required: true, ...binary },
    answers: { 200: json('BlockCreated', 'It is on disk, stopped.') },
    errors: [...BODY, 'NAME_TAKEN', NO_BLOCKS, ...DISK],
    handler: archive.importBlock,
  },
  'GET /api/costs': {
    id: 'getCosts',
    tag: 'Workspace',
    summary: 'Read costs',
    description: 'Money and tokens from the ledger, including those of blocks that were reset, archived or deleted.',
    query: {
      source: {
        schema: { type: 'string', enum: ['blocks', 'gateway'], default: 'blocks' },
        description: 'The calls of blocks, or those of the clients of the gateway',
      },
      by: {
        schema: { type: 'string', enum: schemas.CostsReport.properties.by.enum },
        description:
          'What each row sums up; credential is each key of each connection, and day-model each model on each UTC day. block, purpose and day-block are of the calls of blocks, and key and day-key of those of clients. The default is block, and key for the gateway',
      },
      block: { schema: string, description: 'Only this block' },
      from: { schema: day, description: 'Only this UTC day and later ones' },
      to: { schema: day, description: 'Only this UTC day and earlier ones' },
    },
    answers: { 200: json('CostsReport', 'The report.') },
    errors: ['INVALID_REQUEST', 'WORKSPACE_DAMAGED', NO_BLOCKS, 'STORAGE_FAILED'],
    handler: workspace.costs,
  },
  'POST /api/costs/reconcile': {
    id: 'reconcileBill',
    tag: 'Workspace',
    summary: "Compare with a provider's bill",
    description:
      "Compares an export of a provider's bill, CSV of at most 8 MiB in UTF-8 or UTF-16, with the calls of blocks and of clients, by UTC day and model. Stores nothing. A bill that can't be compared is a 400.",
    query: {
      connection: { schema: string, description: 'The provider or connection whose bill it is; the one that was called, if it is missing' },
      tolerance: { schema: { ...string, default: '0.5%' }, description: 'What may differ, in percent' },
      columns: { schema: string, description: 'Which column is which, where that is not known: date=…,model=…,usd=…,input=…,output=…' },
    },
    body: { required: true, content: { 'text/csv': { schema: string } } },
    answers: { 200: json('BillComparison', 'What agrees, and what does not.') },
    errors: [...BODY, 'WORKSPACE_DAMAGED', 'STORAGE_FAILED'],
    handler: workspace.reconcile,
  },
  'GET /api/doctor': {
    id: 'checkWorkspace',
    tag: 'Workspace',
    summary: 'Check the workspace',
    description: 'Checks every file and every message. Changes nothing.',
    answers: { 200: json('DoctorReport', 'What was found.') },
    handler: workspace.doctor,
  },
  'GET /api/halt': {
    id: 'getHalt',
    tag: 'Workspace',
    summary: 'Read the kill switch',
    description: 'Whether the kill switch is set, since when and why.',
    answers: halt,
    errors: [NO_BLOCKS],
    handler: workspace.halted,
  },
  'POST /api/halt': {
    id: 'setHalt',
    tag: 'Workspace',
    summary: 'Set the kill switch',
    description:
      'Sets the kill switch: calls of monitors that are under way end, and no monitor calls a model until it is released. A switch that is set already stays as it is.',
    body: body('SetHalt', false),
    answers: halt,
    errors: [...BODY, NO_BLOCKS, ...DISK],
    handler: workspace.halt,
  },
  'DELETE /api/halt': {
    id: 'releaseHalt',
    tag: 'Workspace',
    summary: 'Release the kill switch',
    description: 'Releases the kill switch, so that the monitors call models again.',
    answers: halt,
    errors: [NO_BLOCKS, ...DISK],
    handler: workspace.unhalt,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
