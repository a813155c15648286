// Ollama's errors: `{"error": "text"}`, as a body or as a line of a stream. Pure: no I/O.
import { type ErrorAnswer, fallbackMessage, kindOfCode, kindOfStatus, type ProviderError } from '../shared/provider-errors.ts';
import { asObject, asString } from '../shared/read.ts';

/** Reads an answer with an error status. */
export function readError(answer: ErrorAnswer): ProviderError {
  const message = asString(asObject(answer.json)['error']) ?? fallbackMessage(answer);
  if (answer.status === 404 && /^model\b.*not found/is.test(message)) return { kind: 'rejected', message: `${message} (download it with \`ollama pull\`)` };
  return { kind: kindOfStatus(answer.status), message };
}

/** An error after HTTP 200: the runner broke down while it wrote. Compatible servers write an object, with an HTTP status as `code`. */
export function lineError({ error, ...line }: Record<string, unknown>): ProviderError {
  const { message, code } = asObject(error);
  return { kind: kindOfCode(code ?? line['status']) ?? 'failed', message: asString(error) ?? asString(message) ?? 'it reported an error without a message' };
}
