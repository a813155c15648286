// The bodies and answers of `/api` for the messages of a block. Pure: no I/O.
import type * as types from '../types.ts';
import { ChatEntry } from './chat-entry.ts';
import { closedObject, count, listOf, object, orNull, string } from './fields.ts';

/** The longest message that can be queued. */
export const MAX_MESSAGE_CHARACTERS = 262_144;
const yes = { type: 'boolean', const: true } as const;

/** The body that queues a message. */
export const PostMessage = closedObject(
  {
    message: { type: 'string', minLength: 1, maxLength: MAX_MESSAGE_CHARACTERS },
    clientId: { type: 'string', minLength: 1, maxLength: 128, description: 'Your own id: the same one again gives the same entry, and no second message' },
  },
  ['clientId'],
);
export type PostMessage = types.PostMessage;

/** A message is queued and on disk. */
export const ChatReceipt = object({
  queued: yes,
  block: string,
  id: { type: 'string', description: 'Of the message; its answer carries it as replyTo' },
  position: { ...count, description: 'Messages before this one, those at work included; 0 also when it has been answered already' },
  running: { type: 'boolean', description: 'Whether the monitor runs, and so an answer will come' },
  note: string,
});
export type ChatReceipt = types.ChatReceipt;

/** A page of a conversation, archived entries included. */
export const HistoryPage = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 500, description: 'So many entries at most; 100 by default, and fewer where they come to more than 8 MiB' },
    before: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of an entry: the page ends right before it' },
    since: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of an entry: the page begins right after it' },
  },
} as const;
export type HistoryPage = types.HistoryPage;
/** Entries of a conversation, oldest first. */
export const ChatHistory = object({ messages: listOf(ChatEntry) });

/** One entry and its answer, active or archived. */
export const MessageFound = object({ entry: ChatEntry, answer: { ...orNull(ChatEntry), description: 'The newest answer to it; null where there is none' } });
export type MessageFound = types.MessageFound;
/** The longest wait for an answer. Proxies close a silent connection sooner, but a streamed wait is never silent for long. */
export const MAX_WAIT_SECONDS = 600;
/** A wait in a query. */
export const AnswerWait = {
  type: 'object',
  properties: {
    wait: { type: 'integer', minimum: 0, maximum: MAX_WAIT_SECONDS, description: 'Seconds to wait for the outcome of the message' },
  },
} as const;

/** A message that somebody has waited for. */
export const AwaitedMessage = object({
  ...MessageFound.properties,
  running: { type: 'boolean', description: 'Whether the monitor runs' },
  note: { ...orNull(string), description: 'Why the message has no outcome yet; null when it has one' },
});
export type AwaitedMessage = types.AwaitedMessage;

/** The receipt of a message, with its outcome when somebody has waited for it. */
export const ChatAnswer = object({ ...ChatReceipt.properties, ...MessageFound.properties }, ['entry', 'answer']);
export type ChatAnswer = types.ChatAnswer;
/** A message was cancelled or queued again. */
export const MessageChanged = object({ success: yes, message: string, entry: ChatEntry });
