// The routes of Anthropic's Messages, in front of all providers.
import { ANTHROPIC } from '../dialects/anthropic/index.ts';
import { anthropicRates } from '../dialects/anthropic/rate-words.ts';
import { readCounted } from '../dialects/anthropic/request.ts';
import { faultOf, speak } from '../handlers/dialect.ts';
import { countTokens } from '../handlers/token-count.ts';
import { body, json, streamed } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

/** The routes by `METHOD /path`. */
export const ANTHROPIC_ROUTES = {
  'POST /v1/messages': {
    id: 'createMessage',
    tag: 'Compatible',
    summary: 'Create a message, as Anthropic',
    description:
      "Takes and answers what Anthropic's Messages does, streams and errors included. `model` may be an alias, provider/model, or a provider's own name. For Anthropic itself, request and answer pass as they are.",
    body: body('MessageRequest'),
    answers: streamed('AnswerMessage', 'MessageFrame', 'A message; with `stream: true`, its events as server-sent events.'),
    fault: faultOf(ANTHROPIC),
    rates: anthropicRates,
    handler: speak(ANTHROPIC),
  },
  'POST /v1/messages/count_tokens': {
    id: 'countMessageTokens',
    tag: 'Compatible',
    summary: 'Count the tokens of a message',
    description:
      'Takes the body of a message, without max_tokens, and calls no model. Anthropic, Google and Bedrock count themselves; for other models the count is estimated, and the header x-blockhouse-estimated says so.',
    body: body('MessageCountRequest'),
    answers: { 200: json('MessageCount', 'The count.') },
    fault: faultOf(ANTHROPIC),
    rates: anthropicRates,
    handler: countTokens(readCounted, ANTHROPIC),
  },
} as const satisfies Record<RouteKey, RouteEntry>;
