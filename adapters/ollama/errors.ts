// Ollama's errors: `{"error": "text"}`, as a body or as a line of a stream. Pure: no I/O.
import { type ErrorAnswer, fallbackMessage, kindOfStatus, type ProviderError } from '../provider-errors.ts';
import { asObject, asString } from '../read.ts';

/** Reads an answer with an error status. */
export function readError(answer: ErrorAnswer): ProviderError {
  const message = asString(asObject(answer.json)['error']) ?? fallbackMessage(answer);
  if (answer.status === 404 && /^model\b.*not found/is.test(message)) return { kind: 'rejected', message: `${message} (download it with \`ollama pull\`)` };
  return { kind: kindOfStatus(answer.status), message };
}

/** An error after HTTP 200: the runner broke down while it wrote. */
export function lineError(line: Record<string, unknown>): ProviderError {
  return { kind: 'failed', message: asString(line['error']) ?? 'it reported an error without a message' };
}
