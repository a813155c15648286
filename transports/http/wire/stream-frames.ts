// The frames of a stream in the protocol of its client. Pure: types only.
import type { AnswerPiece, BlockhouseError, ChatDone, ChatStart } from '../../../core/index.ts';

/** How the parts of an answer look in one protocol. May keep state: each stream has its own. Every text is whole frames, or empty. */
export interface StreamFrames {
  start?(start: ChatStart): string;
  content?(fragments: readonly string[]): string;
  /** For a protocol that shows more than the text; it is called instead of `content`. */
  pieces?(pieces: readonly AnswerPiece[]): string;
  /** For a protocol that shows more than the answer: one event with a name. */
  event?(name: string, data: object): string;
  done(done: ChatDone): string;
  error(failure: BlockhouseError, requestId: string): string;
  /** Sent while the stream is open and silent. */
  keepAlive(): string;
}
