// The routes of a block's chat and memory.
import { CHANNELS, HistoryPage } from '../../../core/index.ts';
import * as chat from '../handlers/chat.ts';
import * as memory from '../handlers/memory.ts';
import { BODY, body, json, READ, UPSTREAM, WRITE } from '../openapi/parts.ts';
import type { Parameter, RouteEntry, RouteKey } from '../route.ts';

const name = { name: 'Name of the block' };
const message = { ...name, id: 'Id of the message' };
const fact = { ...name, id: 'Id of the fact' };
const { limit, before, since } = HistoryPage.properties;
const changed = { 200: json('MessageChanged', 'The message as it is now.') };
const remembered = { 200: json('MemoryAnswer', 'The memory as it is now.') };

/** The routes of chat and memory by `METHOD /path`. */
export const CHAT_ROUTES = {
  'GET /api/blocks/:name/chat': {
    id: 'listMessages',
    tag: 'Chat',
    summary: 'Read a conversation',
    description:
      'Entries of the conversation, oldest first. Without a query, the active entries: all that wait, and the newest 500 others up to 4 MiB ' +
      'in total (the newest 20 up to 12 MiB, the last exchange up to 24 MiB). With `limit`, `before` or `since`, a page of the whole ' +
      'conversation, including entries in the archive of the chat. An empty page is the end of the conversation.',
    params: name,
    query: { limit: wordsOf(limit), before: wordsOf(before), since: wordsOf(since) },
    answers: { 200: json('ChatHistory', 'The messages.') },
    errors: ['INVALID_REQUEST', 'MESSAGE_NOT_FOUND', ...READ],
    handler: chat.history,
  },
  'GET /api/blocks/:name/chat/:id': {
    id: 'getMessage',
    tag: 'Chat',
    summary: 'Read a message',
    description: 'A message and its answer, active or archived.',
    params: message,
    answers: { 200: json('MessageFound', 'The message or answer with this id, and the newest answer to it.') },
    errors: ['MESSAGE_NOT_FOUND', ...READ],
    handler: chat.find,
  },
  'POST /api/blocks/:name/chat': {
    id: 'postMessage',
    tag: 'Chat',
    summary: 'Send a message',
    description: 'Queues a message for a block. It is on disk before the answer is sent. The same `clientId` again adds no second message.',
    params: name,
    headers: { 'x-blockhouse-channel': { schema: { type: 'string', enum: CHANNELS, default: 'web' }, description: 'Where the message comes from' } },
    body: body('PostMessage'),
    answers: { 200: json('ChatReceipt', 'The message waits for its answer.') },
    errors: [...BODY, 'QUEUE_FULL', ...WRITE],
    handler: chat.post,
  },
  'POST /api/blocks/:name/chat/:id/cancel': {
    id: 'cancelMessage',
    tag: 'Chat',
    summary: 'Cancel a message',
    description: 'Cancels a message that waits, is being answered or has failed. The text of its reply so far is kept.',
    params: message,
    answers: changed,
    errors: ['MESSAGE_NOT_FOUND', ...WRITE],
    handler: chat.cancel,
  },
  'POST /api/blocks/:name/chat/:id/retry': {
    id: 'retryMessage',
    tag: 'Chat',
    summary: 'Queue a message again',
    description: 'Queues a failed, cancelled or expired message again.',
    params: message,
    answers: changed,
    errors: ['MESSAGE_NOT_FOUND', 'QUEUE_FULL', ...WRITE],
    handler: chat.retry,
  },
  'POST /api/blocks/:name/memory/facts': {
    id: 'addFact',
    tag: 'Memory',
    summary: 'Add a fact',
    description: 'Gives the block a fact to remember.',
    params: name,
    body: body('AddFact'),
    answers: { 200: json('FactAdded', 'The fact.') },
    errors: [...BODY, ...WRITE],
    handler: memory.addFact,
  },
  'DELETE /api/blocks/:name/memory/facts/:id': {
    id: 'removeFact',
    tag: 'Memory',
    summary: 'Remove a fact',
    description: 'Makes the block forget a fact.',
    params: fact,
    answers: { 200: json('Done', 'It is gone.') },
    errors: ['MESSAGE_NOT_FOUND', ...WRITE],
    handler: memory.removeFact,
  },
  'POST /api/blocks/:name/memory/compact': {
    id: 'compactMemory',
    tag: 'Memory',
    summary: 'Compact the memory',
    description: 'Lets the model summarise all but the newest messages. Nothing is deleted.',
    params: name,
    answers: remembered,
    errors: ['INVALID_REQUEST', 'QUEUE_FULL', ...UPSTREAM, ...WRITE],
    handler: memory.compact,
  },
  'POST /api/blocks/:name/memory/undo': {
    id: 'undoCompaction',
    tag: 'Memory',
    summary: 'Undo a compaction',
    description: 'Restores the summary and the window from before the last compaction.',
    params: name,
    answers: remembered,
    errors: WRITE,
    handler: memory.undo,
  },
} as const satisfies Record<RouteKey, RouteEntry>;

/** A field of a query as a parameter of the contract. */
function wordsOf({ description, ...schema }: { readonly description: string }): Parameter {
  return { schema, description };
}
