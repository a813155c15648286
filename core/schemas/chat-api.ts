// The bodies and answers of `/api` for the messages of a block. Pure: no I/O.
import type * as types from '../types.ts';
import { APPROVAL_STATES, ChatEntry, InputAnswer, SCOPES, ShownApproval } from './chat-entry.ts';
import { closedObject, count, listOf, object, oneOf, orNull, string } from './fields.ts';

/** The longest message that can be queued. */
export const MAX_MESSAGE_CHARACTERS = 262_144;
const yes = { type: 'boolean', const: true } as const;

/** The body that queues a message. */
export const PostMessage = closedObject(
  {
    message: { type: 'string', minLength: 1, maxLength: MAX_MESSAGE_CHARACTERS },
    clientId: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description: 'Your own id for the message. Sending the same id again does not create a second message',
    },
  },
  ['clientId'],
);
export type PostMessage = types.PostMessage;

/** The body that asks the last message of a conversation again. */
export const AskAgain = closedObject(
  {
    message: { type: 'string', minLength: 1, maxLength: MAX_MESSAGE_CHARACTERS, description: 'The message as it should have been; left out: as it is' },
    provider: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: "The provider or connection of `model`; left out: the one before its first `/`, or else the block's",
    },
    model: { type: 'string', minLength: 1, maxLength: 512, description: "The model to ask this time, and no fallback; left out: the block's" },
    clientId: PostMessage.properties.clientId,
  },
  ['message', 'provider', 'model', 'clientId'],
);
export type AskAgain = types.AskAgain;

/** A message is queued and on disk. */
export const ChatReceipt = object({
  queued: yes,
  block: string,
  id: { type: 'string', description: 'Id of the message; its answer has it in replyTo' },
  position: { ...count, description: 'Number of messages before this one, including those being answered; also 0 if it has already been answered' },
  running: { type: 'boolean', description: 'True if the monitor is running and will answer' },
  note: string,
});
export type ChatReceipt = types.ChatReceipt;

/** A page of a conversation, including archived entries. */
export const HistoryPage = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 500,
      description: 'Most entries to return; 100 by default, and fewer if they are larger than 8 MiB together',
    },
    before: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of an entry; the page ends right before it' },
    since: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of an entry; the page starts right after it' },
  },
} as const;
export type HistoryPage = types.HistoryPage;

/** Which characters of a whole result are wanted, counted in UTF-16 units. */
export const ResultPage = {
  type: 'object',
  additionalProperties: false,
  properties: {
    offset: { ...count, description: 'The first character of the text; 0 by default. Behind the end, the text is empty' },
    limit: { type: 'integer', minimum: 1, maximum: 100_000, description: 'Most characters to return; 8,000 by default if there is an `offset`' },
  },
} as const;
export type ResultPage = types.ResultPage;
/** Entries of a conversation, oldest first. */
export const ChatHistory = object({
  messages: listOf(ChatEntry),
  seq: { ...count, description: 'Number of the last step of a reply, as in the `stream` frames of the WebSocket, that the messages are at least as new as' },
});

/** One entry and its answer, active or archived. */
export const MessageFound = object({
  entry: ChatEntry,
  answer: { ...orNull(ChatEntry), description: 'The newest answer to the entry; null if there is none' },
});
export type MessageFound = types.MessageFound;
/** All versions of a message, the oldest first. */
export const MessageVersions = object({ versions: listOf(MessageFound) });
export type MessageVersions = types.MessageVersions;
/** The longest wait for an answer, in seconds. */
export const MAX_WAIT_SECONDS = 600;
/** The query of a request that waits for an answer. */
export const AnswerWait = {
  type: 'object',
  properties: {
    wait: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_WAIT_SECONDS,
      description: 'The longest wait for the answer, in seconds; without it, the request does not wait',
    },
    steps: {
      type: 'boolean',
      description:
        'With `wait` and a stream: true for the events `run` and `approval` besides, which show the calls of tools and those that wait for people. Such a stream goes on while a call waits. Default false',
    },
  },
} as const;

/** The result of waiting for an answer. */
export const AwaitedMessage = object({
  ...MessageFound.properties,
  running: { type: 'boolean', description: 'Whether the monitor is running' },
  note: { ...orNull(string), description: 'Why the message is not finished yet; null if it is' },
});
export type AwaitedMessage = types.AwaitedMessage;

/** The receipt of a message. After a wait it also has the finished message and its answer. */
export const ChatAnswer = object({ ...ChatReceipt.properties, ...MessageFound.properties }, ['entry', 'answer']);
export type ChatAnswer = types.ChatAnswer;
/** A message was cancelled or retried. */
export const MessageChanged = object({ success: yes, message: string, entry: ChatEntry });

/** A decision about a call that waits. */
export const Decide = closedObject(
  {
    decision: { ...oneOf(['approve', 'deny', 'ran', 'not-ran', 'tell']), description: '`ran`, `not-ran` and `tell` are for a call whose outcome is not known' },
    digest: { type: 'string', maxLength: 128, description: 'That of the approval, as it was shown' },
    scope: {
      ...oneOf(SCOPES),
      description: 'With `approve`: `always` and `same-arguments` also write a rule into the configuration of the block; `once` if it is left out',
    },
    note: { type: 'string', maxLength: 4096, description: 'For the model' },
    input: {
      type: 'object',
      maxProperties: 5,
      additionalProperties: InputAnswer,
      description: 'With `approve`, for the kind input: an answer for each form, by its name. `deny` declines all',
    },
  },
  ['scope', 'note', 'input'],
);
export type Decide = types.Decide;

/** Which approvals are listed. */
export const ApprovalQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    state: { ...oneOf(APPROVAL_STATES), description: 'Those in this state; pending if it is left out. Of the others, those since the server has started' },
    block: { type: 'string', maxLength: 256, description: 'Those of this block' },
    cursor: { type: 'string', maxLength: 1024, description: 'That of the page before' },
    limit: { type: 'integer', minimum: 1, maximum: 200, description: 'Most approvals of a page; 100 if it is left out' },
  },
} as const;
export type ApprovalQuery = types.ApprovalQuery;

/** A page of approvals: pending ones with the next deadline first, others with the newest decision first. */
export const ApprovalList = object({ approvals: listOf(ShownApproval), cursor: { ...orNull(string), description: 'For the next page; null at the end' } });
export type ApprovalList = types.ApprovalList;
/** One approval. */
export const ApprovalFound = object({ approval: ShownApproval });
