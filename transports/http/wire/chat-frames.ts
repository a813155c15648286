// The frames of `/v1/chat`: one for each event of an answer.
import { type AnswerPiece, type BlockhouseError, type ChatDone, type ChatStart, errorBody, type StreamOptions, VisibleParts } from '../../../core/index.ts';
import type { StreamFrames } from './stream-frames.ts';

/** Sent while a stream is silent. */
export const COMMENT = ': keep-alive\n\n';

/** The four events that every stream has, and others by their name. */
export const CHAT_FRAMES = {
  start: (start: ChatStart) => frame('start', start),
  content: (fragments: readonly string[]) => {
    let text = '';
    for (const fragment of fragments) text += frame('content', { text: fragment });
    return text;
  },
  event: (name: string, data: object) => frame(name, data),
  done: (done: ChatDone) => frame('done', done),
  error: (failure: BlockhouseError, requestId: string) => frame('error', errorBody(failure, requestId)),
  keepAlive: () => COMMENT,
} satisfies StreamFrames;

/** The frames of one stream that also shows what the request asked for. */
export function framesShowing(options: StreamOptions): StreamFrames {
  const shown = new VisibleParts(options);
  const pieces = (given: readonly AnswerPiece[]): string => {
    let text = '';
    for (const { type, ...data } of shown.of(given)) text += frame(type, data);
    return text;
  };
  return { ...CHAT_FRAMES, pieces };
}

/** One frame. JSON has no raw CR or LF, so any text of a model fits on one data line. */
function frame(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
