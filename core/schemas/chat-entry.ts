// chat.json: its entries are messages and answers. Pure: no I/O.
import type * as types from '../types.ts';
import { STOP_REASONS, Usage } from './chat.ts';
import { boolean, count, listOf, money, number, object, oneOf, orNull, string, time } from './fields.ts';

/** The statuses of a message. The last four are outcomes. */
export const USER_STATUSES = ['queued', 'processing', 'done', 'failed', 'cancelled', 'expired'] as const;
/** The statuses of an answer. interrupted: only the text until a stop was kept. */
export const ANSWER_STATUSES = ['done', 'interrupted', 'failed'] as const;
/** What a client may say of where its message comes from. */
export const CHANNELS = ['web', 'cli', 'api'] as const;
export type Channel = types.Channel;
/** Where a message came from: a client, a schedule of the block, or another program at one of its hooks. */
export const ORIGINS = [...CHANNELS, 'schedule', 'hook'] as const;

/** Why a message failed or waits for another attempt. */
export const EntryError = object({ code: string, message: string, retryable: boolean });
export type EntryError = types.EntryError;

/** A model that one message asks. */
export const AskedModel = object({ provider: string, model: string });
export type AskedModel = types.AskedModel;

/** How a message came: one step of its way. */
export const ChainLink = object(
  {
    via: oneOf(['api', 'key', 'hook']),
    key: { type: 'string', description: 'The name of the key with which it was sent' },
    hook: { type: 'string', description: 'The id of the hook that took it' },
  },
  ['key', 'hook'],
);

/** An entry of chat.json. */
export const ChatEntry = {
  type: 'object',
  required: ['id', 'role', 'content', 'timestamp', 'processed', 'status', 'channel'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of the entry; ids sort by time of arrival' },
    role: oneOf(['user', 'assistant']),
    content: string,
    timestamp: time,
    processed: { type: 'boolean', description: 'False while a user message is waiting or being answered' },
    status: oneOf([...USER_STATUSES, 'interrupted']),
    channel: oneOf(ORIGINS),
    replyTo: { type: 'string', description: 'On an answer: id of the message that it answers' },
    replaces: {
      type: 'string',
      description: 'On a message that was asked again: id of the message whose place it takes. Once it is answered, models see it and no longer the other one',
    },
    asks: { ...AskedModel, description: "On a message: the model that is asked in place of the block's" },
    chain: { ...listOf(ChainLink), description: 'On a message from a hook, or from a program that asks the block as a model: how it came, and with which key' },
    window: { ...count, description: 'On a message: how many earlier exchanges the model sees with it; left out: all that fit' },
    clientId: { type: 'string', description: "The sender's own id. Sending the same id again does not create a second message" },
    attempts: count,
    nextAttemptAt: time,
    error: orNull(EntryError),
    provider: string,
    model: string,
    usage: orNull(Usage),
    costUsd: money,
    latencyMs: orNull(number),
    ttftMs: orNull(number),
    stopReason: oneOf(STOP_REASONS),
    startedAt: orNull(time),
    finishedAt: orNull(time),
  },
} as const;
export type ChatEntry = types.ChatEntry;
