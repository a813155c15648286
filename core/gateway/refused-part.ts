// A part of a message that a provider does not take. An adapter knows the part, and the gateway where in the request it stands. Pure: no I/O.
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { ChatRequest, ContentPart, ToolResult } from '../types.ts';

/** INVALID_REQUEST for one part. `reason` continues a sentence whose subject is the part: `has a URL, which Bedrock does not fetch; send its data`. */
export class RefusedPart extends BlockhouseError {
  readonly part: ContentPart;
  readonly reason: string;

  constructor(part: ContentPart, reason: string) {
    const message = `must not have a part that ${reason}`;
    super('INVALID_REQUEST', `messages ${message}.`, { details: [{ path: 'messages', message }] });
    this.part = part;
    this.reason = reason;
  }
}

/** A refusal with the place of its part in the request; every other error as it is. */
export function withPlace(error: unknown, { messages }: Pick<ChatRequest, 'messages'>): unknown {
  if (!(error instanceof RefusedPart)) return error;
  for (const [index, message] of messages.entries()) {
    const { content, toolResults = [] } = message as { readonly content?: unknown; readonly toolResults?: readonly ToolResult[] };
    const lists = [
      { path: `messages[${index}].content`, list: content },
      ...toolResults.map((result, place) => ({ path: `messages[${index}].toolResults[${place}].content`, list: result.content })),
    ];
    for (const { path, list } of lists) {
      const place = Array.isArray(list) ? list.indexOf(error.part) : -1;
      if (place >= 0) return invalidRequest(`${path}[${place}]`, error.reason);
    }
  }
  return error;
}
