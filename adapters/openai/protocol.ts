// Responses and Chat Completions as protocols that clients speak themselves. Pure: no I/O.
import { isObject, tryParseJson } from '../../core/base/json.ts';
import type { AnswerFacts, ForwardedAnswer, ForwardedRequest, ResolvedSettings } from '../../core/index.ts';
import { perSettings } from '../shared/base-url.ts';
import { ANSWER_HEADERS, type FrameFacts, limitIn, type Protocol, REQUEST_HEADERS } from '../shared/protocol.ts';
import { asArray, asObject } from '../shared/read.ts';
import { mayCostMore } from '../shared/tiers.ts';
import { toldName } from '../shared/told-answer.ts';
import { apiOf, endpointURL } from './endpoint.ts';
import { streamError } from './errors.ts';
import { quirksOf } from './quirks.ts';
import { factsOfResponse } from './response.ts';
import { stopReasonOf } from './response-chat.ts';
import { EVENT_MEMBERS, eventMembers, topOf, sumOfChoices, usageOfChat, usageOfResponse, usagesOfChoices, withCost } from './usage.ts';

const requestHeaders = [...REQUEST_HEADERS, 'openai-beta'];
const ANSWER_MEMBERS = ['usage', 'service_tier', 'error', 'x_groq'];
const ERROR_MARKS = ['"error"', 'event: error', 'event:error'];

const CHAT: Protocol = {
  path: '/v1/chat/completions',
  url: (settings, search) => withSearch(endpointURL(settings, '/chat/completions'), search),
  requestHeaders,
  answerHeaders: ANSWER_HEADERS,
  marks: ['[DONE]', ...ERROR_MARKS],
  ofModel: '"choices"',
  members: ['usage', 'finish_reason'],
  readFrame: readChunk,
  sumOfChoices,
  readUsage: (answer) => usageOfChat(answer) ?? {},
  readFacts: factsOfChat,
  answerMembers: [...ANSWER_MEMBERS, 'choices', 'id', 'model'],
  writtenMember: 'choices',
  errorIn: ({ error, choices }) => (isError(error) && asArray(choices).length === 0 ? streamError({ error }) : undefined),
  tellsFailure: ({ error, choices }) =>
    isError(error) || !asArray(choices).some(isObject) || asArray(choices).some((choice) => isError(asObject(choice)['error'])),
};

const RESPONSES: Protocol = {
  path: '/v1/responses',
  url: (settings, search) => withSearch(endpointURL(settings, '/responses'), search),
  requestHeaders,
  answerHeaders: ANSWER_HEADERS,
  marks: ['response.completed', 'response.incomplete', 'response.failed', ...ERROR_MARKS],
  ofModel: '"type"',
  members: ['usage'],
  frameMembers: EVENT_MEMBERS,
  readFrame: readEvent,
  readUsage: (answer) => usageOfResponse(answer) ?? {},
  readFacts: factsOfResponse,
  answerMembers: [...ANSWER_MEMBERS, 'object', 'id', 'model', 'status', 'incomplete_details'],
  writtenMember: 'output',
  // A response that failed is an answer of its own kind, which clients know.
  errorIn: ({ error, object }) => (isError(error) && object !== 'response' ? streamError({ error }) : undefined),
  tellsFailure: ({ error, object, status, id }) => isError(error) || status === 'failed' || (object !== 'response' && typeof id !== 'string'),
};

/** What the server at the base URL speaks. */
export const protocolOf = perSettings((settings: ResolvedSettings): Protocol => {
  const isChat = apiOf(settings) === 'chat';
  const { costField } = quirksOf(settings);
  if (costField === undefined) return isChat ? CHAT : RESPONSES;
  return isChat ? chatWithCost(costField) : responsesWithCost(costField);
});

/** Reads what a call costs as well. The member that has it may stand anywhere in the answer. */
function chatWithCost(costField: string): Protocol {
  const member = topOf(costField);
  return {
    ...CHAT,
    members: [...(CHAT.members ?? []), member],
    answerMembers: [...CHAT.answerMembers, member],
    readFrame: (data, name) => {
      const facts = readChunk(data, name);
      return { ...facts, usage: withCost(facts.usage, asObject(tryParseJson(data)), costField) };
    },
    readUsage: (answer) => withCost(usageOfChat(answer), answer, costField) ?? {},
  };
}

/** The same of the response that an event has. */
function responsesWithCost(costField: string): Protocol {
  return {
    ...RESPONSES,
    frameMembers: eventMembers(costField),
    answerMembers: [...RESPONSES.answerMembers, topOf(costField)],
    readFrame: (data, name) => {
      const facts = readEvent(data, name);
      return { ...facts, usage: withCost(facts.usage, asObject(asObject(tryParseJson(data))['response']), costField) };
    },
    readUsage: (answer) => withCost(usageOfResponse(answer), answer, costField) ?? {},
  };
}

/** Which of several a request asks for is in one member of both protocols. */
export function forwardedTier({ fields }: ForwardedRequest): string | undefined {
  const tier = fields?.['service_tier'];
  return mayCostMore(tier) ? tier : undefined;
}

/** Asked for more answers, no server gives any. */
const MAX_CHOICES = 9999;

/** See `Adapter.forwardedAnswer`. */
export function forwardedAnswer({ path, fields }: ForwardedRequest): ForwardedAnswer {
  if (path !== CHAT.path) return { limit: limitIn(fields, 'max_output_tokens') };
  const choices = Number(fields?.['n']); // some servers read a number in a text
  const most = Number.isInteger(choices) && choices > 1 ? { choices: Math.min(choices, MAX_CHOICES) } : {};
  return { limit: limitIn(fields, 'max_tokens', 'max_completion_tokens'), ...most };
}

function withSearch(url: URL, search: string): URL {
  return search === '' ? url : new URL(url.href + search);
}

function isError(error: unknown): boolean {
  return error !== undefined && error !== null;
}

function readChunk(data: string, name = ''): FrameFacts {
  if (data.trim() === '[DONE]') return { isEnd: true };
  const chunk = tryParseJson(data);
  if (name === 'error') return { error: streamError(chunk ?? data) };
  if (!isObject(chunk)) return { isCut: true };
  const usage = usageOfChat(chunk);
  const ofChoices = usage === undefined ? [] : usagesOfChoices(chunk);
  if (isError(chunk['error'])) return { usage, error: streamError(chunk['error']) };
  const choices = asArray(chunk['choices']);
  return {
    usage,
    ...(ofChoices.length > 0 && { ofChoices }),
    answer: factsOfChat(chunk),
    isUsageOnly: usage !== undefined && choices.length === 0,
    mayEnd: choices.some((choice) => typeof asObject(choice)['finish_reason'] === 'string'),
  };
}

/** The first choice stands for all. A chunk without a reason says nothing of it, so that one before it stays. */
function factsOfChat({ id, model, choices }: Readonly<Record<string, unknown>>): AnswerFacts {
  const stopReason = stopReasonOf(asObject(asArray(choices)[0])['finish_reason']);
  return { id: toldName(id), model: toldName(model), ...(stopReason !== undefined && { stopReason }) };
}

function readEvent(data: string, name = ''): FrameFacts {
  const event = tryParseJson(data);
  if (!isObject(event)) return name === 'error' ? { error: streamError(data) } : {};
  const response = asObject(event['response']);
  const usage = usageOfResponse(response);
  switch (event['type'] ?? name) {
    case 'response.completed':
    case 'response.incomplete':
      return { usage, isEnd: true, answer: factsOfResponse(response) };
    case 'response.failed':
      return { usage, error: streamError(response['error'] ?? { message: 'the answer failed' }) };
    case 'error':
      return { error: streamError(event) };
    default:
      return name === 'error' || (event['type'] === undefined && isError(event['error'])) ? { error: streamError(event) } : { usage };
  }
}
