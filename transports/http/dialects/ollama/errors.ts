// Errors in Ollama's form: one text. Statuses and headers are those of the other protocols. Pure: no I/O.
import type { BlockhouseError } from '../../../../core/index.ts';
import type { DialectError } from '../shared/dialect.ts';
import { openAiError, openAiFault } from '../shared/openai-errors.ts';

/** The body of an error, and the last line of a stream that broke off. */
export function errorBody(failure: BlockhouseError): { readonly error: string } {
  return { error: openAiError(failure).message };
}

/** The whole answer. */
export function ollamaFault(failure: BlockhouseError): DialectError {
  return { ...openAiFault(failure), body: errorBody(failure) };
}
