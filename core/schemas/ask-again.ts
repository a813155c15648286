// The body and the answer of `/api` for messages that are asked again. Pure: no I/O.
import type * as types from '../types.ts';
import { MAX_MESSAGE_CHARACTERS, MessageFound, PostMessage } from './chat-api.ts';
import { closedObject, listOf, object } from './fields.ts';

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

/** All versions of a message, the oldest first. */
export const MessageVersions = object({ versions: listOf(MessageFound) });
export type MessageVersions = types.MessageVersions;
