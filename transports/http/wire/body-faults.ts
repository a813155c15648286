// What is wrong with the body of a request, in words that quote nothing of it. Pure: no I/O.
import { faultPlace, QUICK_TEXT } from '../../../core/base/json-place.ts';
import { BlockhouseError, invalidRequest } from '../../../core/index.ts';

/** A limit of its content; `fault` is the end of a sentence about the body. */
export function tooMuch(fault: string): BlockhouseError {
  return invalidRequest('', `The body ${fault}.`);
}

/** It has more fields in one object, or more values, than are allowed. */
export function tooManyValues(exceeded: 'fields' | 'values', most: number): BlockhouseError {
  return tooMuch(exceeded === 'fields' ? `has an object with more than ${most} fields; send fewer` : `contains more than ${most} JSON values; send fewer`);
}

/** Its bytes are no text. */
export function notUtf8(cause?: unknown): BlockhouseError {
  return new BlockhouseError('INVALID_REQUEST', 'The body is not valid UTF-8.', { cause, details: [{ path: '', message: 'is not valid UTF-8' }] });
}

/** Its text is no JSON. A long one is not looked through again while others wait: there V8 names the place, if it does. */
export function notJson(error: Error, text = ''): BlockhouseError {
  const position = /position \d+/.exec(error.message)?.[0];
  const where = text !== '' && text.length <= QUICK_TEXT ? faultPlace(text) : position && `at ${position}`;
  return new BlockhouseError('INVALID_REQUEST', `The body is not valid JSON${where === undefined ? '' : ` (${where})`}.`, {
    cause: error,
    details: [{ path: '', message: 'is not valid JSON' }],
  });
}

/** It has more bytes than are taken. */
export function tooLarge(limit: number): BlockhouseError {
  return new BlockhouseError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes.`);
}

/** Its client means to hold up the server. */
export function shredded(chunks: number, bytes: number): BlockhouseError {
  return invalidRequest('', `The body came in more than ${chunks} chunks of less than ${bytes} bytes; send it with a Content-Length, or in larger chunks.`);
}
