// The paths of the workspace: archive, blocks as files, costs, the look at all files, the kill switch. Pure: no I/O.
import { BODY, body, DISK, errors, inPath, json, optional, type Paths, READ } from './parts.ts';

const string = { type: 'string' };
const binary = { content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } } };
const archive = inPath('name', 'The archive name, or the original name when only one archive has it');
const ARCHIVE = ['NOT_FOUND', 'ARCHIVE_NOT_FOUND', 'AMBIGUOUS_ARCHIVE', ...DISK] as const;

export const WORKSPACE_PATHS: Paths = {
  '/api/archive': {
    get: {
      operationId: 'listArchive',
      summary: 'Archived blocks, newest first',
      responses: { 200: json('ArchiveList', 'The archive.'), ...errors('SHUTTING_DOWN') },
    },
  },
  '/api/archive/{name}/restore': {
    post: {
      operationId: 'restoreBlock',
      summary: 'Make an archived block active again, stopped',
      parameters: [archive],
      requestBody: body('RestoreArchive', false),
      responses: { 200: json('Restored', 'It is active under `name`.'), ...errors(...BODY, 'NAME_TAKEN', ...ARCHIVE) },
    },
  },
  '/api/archive/{name}': {
    delete: {
      operationId: 'purgeArchive',
      summary: 'Delete an archived block for good',
      parameters: [archive],
      responses: { 200: json('Done', 'It is gone.'), ...errors(...ARCHIVE) },
    },
  },
  '/api/blocks/{name}/export': {
    get: {
      operationId: 'exportBlock',
      summary: 'The files of a block as a tar.gz; a 400 when it is too large for one',
      parameters: [inPath('name', 'Name of the block')],
      responses: { 200: { description: 'The archive.', ...binary }, ...errors('INVALID_REQUEST', ...READ) },
    },
  },
  '/api/import': {
    post: {
      operationId: 'importBlock',
      summary: 'Make a block out of such a tar.gz, stopped; 64 MiB at most',
      parameters: [optional('query', 'name', string, 'Another name for the block')],
      requestBody: { required: true, ...binary },
      responses: { 200: json('BlockCreated', 'It is on disk, stopped.'), ...errors(...BODY, 'NAME_TAKEN', ...DISK) },
    },
  },
  '/api/costs': {
    get: {
      operationId: 'getCosts',
      summary: 'Money and tokens from the ledger: resets and archives included',
      parameters: [
        optional('query', 'by', { type: 'string', enum: ['block', 'model', 'day'], default: 'block' }, 'What a row stands for'),
        optional('query', 'block', string, 'Only this block'),
      ],
      responses: {
        200: json('CostsReport', 'The report.'),
        ...errors('INVALID_REQUEST', 'BLOCK_NOT_FOUND', 'WORKSPACE_DAMAGED', 'STORAGE_FAILED', 'SHUTTING_DOWN'),
      },
    },
  },
  '/api/doctor': {
    get: {
      operationId: 'checkWorkspace',
      summary: 'Look at every file and message; changes nothing',
      responses: { 200: json('DoctorReport', 'What was found.'), ...errors('SHUTTING_DOWN') },
    },
  },
  '/api/halt': {
    get: {
      operationId: 'getHalt',
      summary: 'Whether the kill switch is set',
      responses: { 200: json('HaltState', 'The switch.'), ...errors('SHUTTING_DOWN') },
    },
    post: {
      operationId: 'setHalt',
      summary: 'Set the kill switch: no monitor calls a model until it is released',
      requestBody: body('SetHalt', false),
      responses: { 200: json('HaltState', 'The switch.'), ...errors(...BODY, ...DISK) },
    },
    delete: {
      operationId: 'releaseHalt',
      summary: 'Release the kill switch',
      responses: { 200: json('HaltState', 'The switch.'), ...errors(...DISK) },
    },
  },
};
