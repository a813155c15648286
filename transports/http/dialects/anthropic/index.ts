// The dialect of Anthropic's Messages. Pure: no I/O.
import type { Dialect } from '../shared/dialect.ts';
import { anthropicFault, requestIds } from './errors.ts';
import { type MessagesEcho, readRequest } from './request.ts';
import { MESSAGES_FIELDS } from './request-fields.ts';
import { toMessage } from './response.ts';
import { brokenMessage, MessageEvents } from './stream.ts';

/** `POST /v1/messages`. */
export const ANTHROPIC: Dialect<MessagesEcho> = {
  id: 'anthropic',
  fields: MESSAGES_FIELDS,
  asksBlocks: true,
  native: { path: '/v1/messages', broken: brokenMessage },
  answerHeaders: requestIds,
  read: readRequest,
  answer: toMessage,
  stream: (context) => new MessageEvents(context),
  error: anthropicFault,
};
