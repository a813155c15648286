// The paths of a block's chat and memory. Pure: no I/O.
import { CHANNELS, HistoryPage } from '../../../core/index.ts';
import { BODY, body, errors, inPath, json, optional, type Paths, READ, UPSTREAM, WRITE } from './parts.ts';

const name = inPath('name', 'Name of the block');
const messageId = inPath('id', 'Id of the message');
const factId = inPath('id', 'Id of the fact');
const channel = optional('header', 'x-blockhouse-channel', { type: 'string', enum: CHANNELS, default: 'web' }, 'Where the message comes from');

const { limit, before, since } = HistoryPage.properties;
const page = Object.entries({ limit, before, since }).map(([field, { description, ...schema }]) => optional('query', field, schema, description));

export const CHAT_PATHS: Paths = {
  '/api/blocks/{name}/chat': {
    get: {
      operationId: 'listMessages',
      summary: 'The active chat history, or a page of the whole conversation; oldest first',
      description:
        'Without a query, the active entries: what waits, and the newest 500 others as far as they come to 4 MiB (the last exchange stays active when ' +
        'it is longer). With `limit`, `before` or `since`, entries of the whole conversation, also those that have moved to the archive of the chat. ' +
        'An empty page is its end.',
      parameters: [name, ...page],
      responses: { 200: json('ChatHistory', 'The messages.'), ...errors('INVALID_REQUEST', 'MESSAGE_NOT_FOUND', ...READ) },
    },
    post: {
      operationId: 'postMessage',
      summary: 'Queue a message; it is on disk before the answer',
      parameters: [name, channel],
      requestBody: body('PostMessage'),
      responses: { 200: json('ChatReceipt', 'The message waits for its answer.'), ...errors(...BODY, 'QUEUE_FULL', ...WRITE) },
    },
  },
  '/api/blocks/{name}/chat/{id}': {
    get: {
      operationId: 'getMessage',
      summary: 'A message with its answer, active or archived',
      parameters: [name, messageId],
      responses: { 200: json('MessageFound', 'The message, or the answer, and the newest answer to it.'), ...errors('MESSAGE_NOT_FOUND', ...READ) },
    },
  },
  '/api/blocks/{name}/chat/{id}/cancel': {
    post: {
      operationId: 'cancelMessage',
      summary: 'Take a message out of the queue, end its reply and keep the text so far, or give up on one that failed',
      parameters: [name, messageId],
      responses: { 200: json('MessageChanged', 'The message as it is now.'), ...errors('MESSAGE_NOT_FOUND', ...WRITE) },
    },
  },
  '/api/blocks/{name}/chat/{id}/retry': {
    post: {
      operationId: 'retryMessage',
      summary: 'Queue a failed, cancelled or expired message again',
      parameters: [name, messageId],
      responses: { 200: json('MessageChanged', 'The message as it is now.'), ...errors('MESSAGE_NOT_FOUND', 'QUEUE_FULL', ...WRITE) },
    },
  },
  '/api/blocks/{name}/memory/facts': {
    post: {
      operationId: 'addFact',
      summary: 'Give the block a fact to remember',
      parameters: [name],
      requestBody: body('AddFact'),
      responses: { 200: json('FactAdded', 'The fact.'), ...errors(...BODY, ...WRITE) },
    },
  },
  '/api/blocks/{name}/memory/facts/{id}': {
    delete: {
      operationId: 'removeFact',
      summary: 'Make the block forget a fact',
      parameters: [name, factId],
      responses: { 200: json('Done', 'It is gone.'), ...errors('MESSAGE_NOT_FOUND', ...WRITE) },
    },
  },
  '/api/blocks/{name}/memory/compact': {
    post: {
      operationId: 'compactMemory',
      summary: 'Let the model summarise what lies before the newest messages; nothing is deleted',
      parameters: [name],
      responses: { 200: json('MemoryAnswer', 'The memory as it is now.'), ...errors('INVALID_REQUEST', 'QUEUE_FULL', ...UPSTREAM, ...WRITE) },
    },
  },
  '/api/blocks/{name}/memory/undo': {
    post: {
      operationId: 'undoCompaction',
      summary: 'Bring back summary and window from before the last compaction',
      parameters: [name],
      responses: { 200: json('MemoryAnswer', 'The memory as it is now.'), ...errors(...WRITE) },
    },
  },
};
