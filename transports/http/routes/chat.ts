// The routes of a block's chat and memory.
import { schemas } from '../../../core/index.ts';
import * as chat from '../handlers/chat.ts';
import * as memory from '../handlers/memory.ts';
import { BODY, body, either, json, READ, tagged, UPSTREAM, WRITE, wordsOf } from '../openapi/parts.ts';
import { ref } from '../openapi/schemas.ts';
import type { ResponseWords, RouteEntry, RouteKey } from '../wire/route.ts';

const name = { name: 'Name of the block' };
const message = { ...name, id: 'Id of the message' };
const fact = { ...name, id: 'Id of the fact' };
const { limit, before, since } = schemas.HistoryPage.properties;
const { offset, limit: characters } = schemas.ResultPage.properties;
const { wait, steps } = schemas.AnswerWait.properties;
const WAITS = { wait: wordsOf(wait), steps: wordsOf(steps) };
const WAIT =
  'With `wait`, the status is 200 if the message is finished in time: `answer` is the reply, and `entry.status` and `entry.error` say what ' +
  'happened to a message without one. It is 202 when the time is up, and at once if the block does not answer; `note` says why. With ' +
  '`Accept: text/event-stream` as well, the reply is streamed. A second `start` means that the text so far is void. Only a complete answer ends with `done`.';
const CHANNEL = {
  'x-blockhouse-channel': { schema: { type: 'string', enum: schemas.CHANNELS, default: 'web' }, description: 'Where the message comes from' },
} as const;
const QUEUED = {
  200: orEvents(json('ChatAnswer', 'The message waits for its answer. With `wait`, it is finished.')),
  202: json('ChatReceipt', 'With `wait`: the message is not finished yet.'),
};
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
    ...tagged('ChatHistory', 'The messages.'),
    errors: ['INVALID_REQUEST', 'MESSAGE_NOT_FOUND', ...READ],
    handler: chat.history,
  },
  'GET /api/blocks/:name/chat/:id': {
    id: 'getMessage',
    tag: 'Chat',
    summary: 'Read a message',
    description: `A message and its answer, active or archived. ${WAIT}`,
    params: message,
    query: WAITS,
    answers: {
      200: orEvents(
        either(
          json('MessageFound', 'The message or answer with this id, and the newest answer to it.'),
          json('AwaitedMessage', 'With `wait`, it is finished.'),
        ),
      ),
      202: json('AwaitedMessage', 'With `wait`: the message is not finished yet.'),
    },
    errors: ['INVALID_REQUEST', 'MESSAGE_NOT_FOUND', ...READ],
    handler: chat.find,
  },
  'POST /api/blocks/:name/chat': {
    id: 'postMessage',
    tag: 'Chat',
    summary: 'Send a message',
    description: `Queues a message for a block. It is on disk before the answer is sent. The same \`clientId\` again adds no second message. ${WAIT}`,
    params: name,
    query: WAITS,
    headers: CHANNEL,
    body: body('PostMessage'),
    answers: QUEUED,
    errors: [...BODY, ...WRITE],
    handler: chat.post,
  },
  'POST /api/blocks/:name/chat/:id/again': {
    id: 'askAgain',
    tag: 'Chat',
    summary: 'Ask the last message again',
    description:
      'Queues the last message of the conversation again, with another text or for another model where the body says so. The earlier version and its answer stay in the ' +
      `conversation; once the new one is answered, models see it alone. The id may be that of the answer. ${WAIT}`,
    params: message,
    query: WAITS,
    headers: CHANNEL,
    body: body('AskAgain'),
    answers: QUEUED,
    errors: [...BODY, 'ADAPTER_NOT_CONFIGURED', 'MESSAGE_NOT_FOUND', ...WRITE],
    handler: chat.again,
  },
  'GET /api/blocks/:name/chat/:id/versions': {
    id: 'listVersions',
    tag: 'Chat',
    summary: 'Read all versions of a message',
    description: 'All versions of a message that was asked again, each with its answer, the oldest first.',
    params: message,
    answers: { 200: json('MessageVersions', 'The versions. A message that was never asked again is the only one.') },
    errors: ['MESSAGE_NOT_FOUND', ...READ],
    handler: chat.versions,
  },
  'GET /api/blocks/:name/tools': {
    id: 'listBlockTools',
    tag: 'Tools',
    summary: "List a block's tools",
    description:
      'The tools of the servers that the block names, each with the rule that holds for its calls, its marks, and how often it was called today. Starts nothing.',
    params: name,
    answers: { 200: json('BlockToolList', 'Servers and tools. Both are empty for a block without tools.') },
    errors: READ,
    handler: chat.tools,
  },
  'GET /api/blocks/:name/runs/:id': {
    id: 'getRun',
    tag: 'Chat',
    summary: 'Read the journal of a run',
    description: "All records of a message's run with tools, in the order in which they were written. Nothing but them says what a call is known to have done.",
    params: message,
    answers: { 200: json('RunJournal', 'The records. Kinds that you do not know say nothing to you.') },
    errors: ['RUN_NOT_FOUND', ...READ],
    handler: chat.run,
  },
  'GET /api/blocks/:name/runs/:id/results/:ref': {
    id: 'getRunResult',
    tag: 'Chat',
    summary: 'Read a whole result',
    description:
      'The result of a call that was too long for the model, as its tool gave it. `ref` is that of its record. At most 64 MiB of a block are kept, the newest. With `offset` or `limit`, some characters of its text, in one part, and how many the text has.',
    params: { ...message, ref: 'The place of the call in its run, such as 3.1' },
    query: { offset: wordsOf(offset), limit: wordsOf(characters) },
    answers: { 200: json('RunResult', 'The result.') },
    errors: ['INVALID_REQUEST', 'RUN_NOT_FOUND', ...READ],
    handler: chat.runResult,
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
  'PUT /api/blocks/:name/memory/facts/:id': {
    id: 'changeFact',
    tag: 'Memory',
    summary: 'Change a fact',
    description: 'Changes the text of a fact, or whether it is pinned: only pinned facts are in the prompt. What is left out stays.',
    params: fact,
    body: body('ChangeFact'),
    answers: { 200: json('FactAdded', 'The whole fact.') },
    errors: [...BODY, 'MESSAGE_NOT_FOUND', ...WRITE],
    handler: memory.changeFact,
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

/** A response that can also be a stream. */
function orEvents(answer: ResponseWords): ResponseWords {
  return { ...answer, content: { ...answer.content, 'text/event-stream': { schema: ref('ReplyEvent') } } };
}
