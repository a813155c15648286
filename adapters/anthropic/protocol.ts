// Messages as a protocol that clients speak themselves. Pure: no I/O.
import { isObject, tryParseJson } from '../../core/base/json.ts';
import type { ForwardedAnswer, ForwardedRequest } from '../../core/index.ts';
import { joinURL } from '../shared/base-url.ts';
import { type FrameFacts, limitIn, type Protocol, REQUEST_HEADERS } from '../shared/protocol.ts';
import { asObject } from '../shared/read.ts';
import { mayCostMore } from '../shared/tiers.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { readErrorObject } from './errors.ts';
import { VERSION_SUFFIX } from './request.ts';
import { isDearerPlace, readStopReason, readUsage, usageAtStart } from './response.ts';

const VERSION = 'anthropic-version';
const DATE = /^\d{4}-\d\d-\d\d$/;
/** Before it, streams were written in another way, and nobody here would read what they used. */
const FIRST_VERSION = '2023-06-01';

/** `/v1/messages`. */
export const MESSAGES: Protocol = {
  path: '/v1/messages',
  url: ({ values }, search) => joinURL(values['baseURL'] ?? '', `/v1/messages${search}`, VERSION_SUFFIX),
  requestHeaders: [...REQUEST_HEADERS, VERSION, 'anthropic-beta'],
  passesHeader: (name, value) => name !== VERSION || (DATE.test(value) && value >= FIRST_VERSION),
  answerHeaders: /^(?:retry-after(?:-ms)?|(?:x-)?request-id|x-should-retry|anthropic-ratelimit-.+)$/,
  marks: ['"message_', '"error"', 'event: error', 'event:error'],
  ofModel: '"type"',
  readFrame,
  answerMembers: ['usage', 'type', 'error', 'id', 'model', 'stop_reason'],
  readFacts: ({ id, model, stop_reason: reason }) => ({ ...toldAnswer(id, model), stopReason: readStopReason(reason) }),
  writtenMember: 'content',
  readUsage: ({ usage }) => readUsage(usage),
  errorIn: ({ type, error }) => (type !== 'message' && (type === 'error' || isGiven(error)) ? readErrorObject(error) : undefined),
  tellsFailure: ({ type, error, id }) => isGiven(error) || (type !== 'message' && typeof id !== 'string'),
};

/** A tier, a speed, or a place to answer in. */
export function forwardedTier({ fields = {} }: ForwardedRequest): string | undefined {
  const { service_tier: tier, speed, inference_geo: place } = fields;
  return [tier, speed].find(mayCostMore) ?? (isDearerPlace(place) ? place : undefined);
}

/** See `Adapter.forwardedAnswer`. */
export function forwardedAnswer({ fields }: ForwardedRequest): ForwardedAnswer {
  return { limit: limitIn(fields, 'max_tokens') };
}

function readFrame(data: string, name = ''): FrameFacts {
  const event = tryParseJson(data);
  if (!isObject(event)) return name === 'error' ? { error: readErrorObject(data) } : {};
  switch (event['type']) {
    case 'message_start':
      return { usage: readUsage(usageAtStart(event)), answer: toldAnswer(asObject(event['message'])['id'], asObject(event['message'])['model']) };
    case 'message_delta':
      return { usage: readUsage(event['usage']), answer: { stopReason: readStopReason(asObject(event['delta'])['stop_reason']) } };
    case 'message_stop':
      return { isEnd: true, usage: isObject(event['usage']) ? readUsage(event['usage']) : undefined };
    case 'error':
      return { error: readErrorObject(event['error']) };
    default:
      if (event['type'] === undefined && isGiven(event['error'])) return { error: readErrorObject(event['error']) };
      return name === 'error' ? { error: readErrorObject(event) } : {};
  }
}

function isGiven(error: unknown): boolean {
  return error !== undefined && error !== null;
}
