// The route of OpenAI's Responses, in front of all providers.
import { OPENAI_RESPONSES } from '../../../dialects/openai-responses/index.ts';
import { faultOf, speak } from '../handlers/dialect.ts';
import type { RouteEntry, RouteKey } from '../route.ts';

const object = { 'application/json': { schema: { type: 'object' } } } as const;

/** The routes by `METHOD /path`. */
export const OPENAI_RESPONSES_ROUTES = {
  'POST /v1/responses': {
    id: 'createResponse',
    tag: 'Compatible',
    summary: 'Make a response, as OpenAI does',
    description:
      "Takes and answers what OpenAI's Responses do, streams and errors included, and stores nothing. `model` may be an alias, provider/model, or a provider's own name.",
    body: { required: true, content: object },
    answers: {
      200: {
        description:
          'A response; with `stream: true`, its events as server-sent events. The header x-blockhouse-model says which model answered, x-blockhouse-warnings what was ignored.',
        content: { ...object, 'text/event-stream': { schema: { type: 'string' } } },
      },
    },
    fault: faultOf(OPENAI_RESPONSES),
    handler: speak(OPENAI_RESPONSES),
  },
} as const satisfies Record<RouteKey, RouteEntry>;
