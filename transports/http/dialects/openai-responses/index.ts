// The dialect of OpenAI's Responses. Pure: no I/O.
import type { BlockhouseError } from '../../../../core/index.ts';
import type { Dialect, DialectError } from '../shared/dialect.ts';
import { openAiError, openAiFault } from '../shared/openai-errors.ts';
import { type ResponsesEcho, readRequest, STORED_STATE } from './request.ts';
import { RESPONSES_FIELDS } from './request-fields.ts';
import { toResponse } from './response.ts';
import { brokenResponse, ResponseEvents } from './stream.ts';

/** `POST /v1/responses`. */
export const OPENAI_RESPONSES: Dialect<ResponsesEcho> = {
  id: 'openai-responses',
  fields: RESPONSES_FIELDS,
  asksBlocks: true,
  native: { path: '/v1/responses', broken: brokenResponse },
  read: readRequest,
  answer: toResponse,
  stream: (context) => new ResponseEvents(context),
  error: fault,
};

/** Clients that get this code send the whole conversation again. */
function fault(failure: BlockhouseError): DialectError {
  const answer = openAiFault(failure);
  const error = openAiError(failure);
  return error.param !== null && STORED_STATE.includes(error.param)
    ? { ...answer, body: { error: { ...error, code: 'previous_response_not_found' } } }
    : answer;
}
