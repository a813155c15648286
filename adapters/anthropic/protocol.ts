// Messages as a protocol that clients speak themselves. Pure: no I/O.
import { isObject, tryParseJson } from '../../core/index.ts';
import { joinURL } from '../base-url.ts';
import { type FrameFacts, type Protocol, REQUEST_HEADERS } from '../protocol.ts';
import { readErrorObject } from './errors.ts';
import { VERSION_SUFFIX } from './request.ts';
import { readUsage, usageAtStart } from './response.ts';

/** `/v1/messages`. */
export const MESSAGES: Protocol = {
  path: '/v1/messages',
  url: ({ values }, search) => joinURL(values['baseURL'] ?? '', `/v1/messages${search}`, VERSION_SUFFIX),
  requestHeaders: [...REQUEST_HEADERS, 'anthropic-version', 'anthropic-beta'],
  answerHeaders: /^(?:retry-after(?:-ms)?|(?:x-)?request-id|x-should-retry|anthropic-ratelimit-.+)$/,
  marks: ['"message_', '"error"'],
  readFrame,
  readUsage,
};

function readFrame(data: string): FrameFacts {
  const event = tryParseJson(data);
  if (!isObject(event)) return {};
  switch (event['type']) {
    case 'message_start':
      return { usage: readUsage(usageAtStart(event)) };
    case 'message_delta':
      return { usage: readUsage(event['usage']) };
    case 'message_stop':
      return { isEnd: true };
    case 'error':
      return { error: readErrorObject(event['error']) };
    default:
      return event['type'] === undefined && event['error'] !== undefined ? { error: readErrorObject(event['error']) } : {};
  }
}
