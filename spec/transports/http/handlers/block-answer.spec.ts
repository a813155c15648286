import t from 'tap';
import type { AnswerPiece, ChatDone, ChatEntry, ReplyStep } from '../../../../core/index.ts';
import { BlockAnswer, doneOf } from '../../../../transports/http/handlers/block-answer.ts';

/** A writer that takes everything while `isOpen`. */
class Writer {
  texts: string[] = [];
  ended: ChatDone | undefined;
  isOpen = true;
  resume: (() => void) | undefined;

  readonly pieces = (pieces: readonly AnswerPiece[]): boolean => {
    this.texts.push(...pieces.map((piece) => (piece.type === 'text' ? piece.text : piece.type)));
    return this.isOpen;
  };

  onceWritable(resume: () => void): void {
    this.resume = resume;
  }

  done(done: ChatDone): void {
    this.ended = done;
  }
}

const content = (text: string): ReplyStep => ({ event: 'content', id: 'm1', seq: 1, text });
const start: ReplyStep = { event: 'start', id: 'm1', seq: 1, provider: 'p', model: 'm', attempt: 1 };
const failed: ReplyStep = { event: 'error', id: 'm1', seq: 1, code: 'UPSTREAM_FAILED', error: 'e', willRetry: true };
const answer = (text: string) => ({ content: text, usage: null, status: 'done' }) as unknown as ChatEntry;

t.test('the steps become pieces, and the end brings what has not come', async (t) => {
  const writer = new Writer();
  const text = new BlockAnswer(writer, 'm1');
  for (const step of [start, content('Hel'), content('lo')]) text.step(step);
  text.finish(answer('Hello, you'));
  t.strictSame(writer.texts, ['Hel', 'lo', ', you']);
  t.match(writer.ended, { stopReason: 'end_turn' });
});

t.test('an answer from before the wait comes whole, and an empty one without a piece', async (t) => {
  const [whole, empty] = [new Writer(), new Writer()];
  new BlockAnswer(whole, 'm1').finish(answer('Hello'));
  new BlockAnswer(empty, 'm1').finish(answer(''));
  t.strictSame([whole.texts, empty.texts], [['Hello'], []]);
  t.ok(empty.ended);
});

t.test('an attempt that fails before any text went out is not seen', async (t) => {
  const writer = new Writer();
  const text = new BlockAnswer(writer, 'm1');
  for (const step of [start, failed, start, content('Hello')]) text.step(step);
  text.finish(answer('Hello'));
  t.strictSame(writer.texts, ['Hello']);
});

t.test('one that fails after text went out breaks the stream, and nothing of the next attempt is written', async (t) => {
  const writer = new Writer();
  const text = new BlockAnswer(writer, 'm1');
  let told = 0;
  text.onBroken = () => {
    told += 1;
  };
  for (const step of [start, content('Hel'), failed, start, content('Other')]) text.step(step);
  t.equal(told, 1);
  t.throws(() => text.finish(answer('Other')), { code: 'UPSTREAM_FAILED', retryable: true, message: /m1/ });
  t.strictSame(writer.texts, ['Hel']);
  t.equal(writer.ended, undefined);
});

t.test('what the client does not take is kept, and comes in one when it reads again', async (t) => {
  const writer = new Writer();
  writer.isOpen = false;
  const text = new BlockAnswer(writer, 'm1');
  for (const step of [start, content('a'), content('b'), content('c')]) text.step(step);
  t.strictSame(writer.texts, ['a']);
  writer.isOpen = true;
  writer.resume?.();
  t.strictSame(writer.texts, ['a', 'bc']);
  text.finish(answer('abc'));
  t.strictSame(writer.texts, ['a', 'bc']);
});

t.test('the end of a client that still does not read has all that was kept', async (t) => {
  const writer = new Writer();
  writer.isOpen = false;
  const text = new BlockAnswer(writer, 'm1');
  for (const step of [start, content('a'), content('b')]) text.step(step);
  text.finish(answer('abc'));
  t.strictSame(writer.texts, ['a', 'bc']);
});

t.test('usage that is not known is an estimate', async (t) => {
  t.match(doneOf(answer('')), { usage: { totalTokens: 0, estimated: true }, stopReason: 'end_turn' });
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  t.strictSame(doneOf({ ...answer(''), usage, stopReason: 'max_tokens' }), { usage, stopReason: 'max_tokens' });
});
