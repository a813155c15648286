// The route of OpenAI's Responses, in front of all providers.
import { OPENAI_RESPONSES } from '../dialects/openai-responses/index.ts';
import { faultOf, speak } from '../handlers/dialect.ts';
import { body, streamed } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

/** The routes by `METHOD /path`. */
export const OPENAI_RESPONSES_ROUTES = {
  'POST /v1/responses': {
    id: 'createResponse',
    tag: 'Compatible',
    summary: 'Make a response, as OpenAI does',
    description:
      "Takes and answers what OpenAI's Responses do, streams and errors included, and stores nothing. `model` may be an alias, provider/model, or a provider's own name.",
    body: body('ResponseRequest'),
    answers: streamed('Response', 'ResponseFrame', 'A response; with `stream: true`, its events as server-sent events.'),
    fault: faultOf(OPENAI_RESPONSES),
    handler: speak(OPENAI_RESPONSES),
  },
} as const satisfies Record<RouteKey, RouteEntry>;
