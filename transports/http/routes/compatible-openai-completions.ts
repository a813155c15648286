// The route of OpenAI's Completions, in front of all providers.
import { OPENAI_COMPLETIONS } from '../dialects/openai-completions/index.ts';
import { faultOf, speak } from '../handlers/dialect.ts';
import { body, streamed } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

/** The routes by `METHOD /path`. */
export const OPENAI_COMPLETIONS_ROUTES = {
  'POST /v1/completions': {
    id: 'createCompletion',
    tag: 'Compatible',
    summary: 'Complete a text, as OpenAI does',
    description:
      "Takes and answers what OpenAI's older Completions do, streams and errors included. The prompt becomes the message of a user. `model` may be an alias, provider/model, or a provider's own name.",
    body: body('CompletionRequest'),
    answers: streamed('Completion', 'CompletionFrame', 'A completion; with `stream: true`, its chunks as server-sent events.'),
    fault: faultOf(OPENAI_COMPLETIONS),
    handler: speak(OPENAI_COMPLETIONS),
  },
} as const satisfies Record<RouteKey, RouteEntry>;
