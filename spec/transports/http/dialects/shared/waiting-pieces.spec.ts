import t from 'tap';
import type { AnswerPiece } from '../../../../../core/index.ts';
import { WaitingPieces } from '../../../../../transports/http/dialects/shared/waiting-pieces.ts';

const text = (text: string): AnswerPiece => ({ type: 'text', text });
const begin = (index: number): AnswerPiece => ({ type: 'toolCallStart', index, id: 'i', name: 'f' });
const more = (index: number, text: string): AnswerPiece => ({ type: 'toolCallDelta', index, text });

t.test('pieces leave in their order, but for those of the call that is being written', async (t) => {
  const waiting = new WaitingPieces();
  t.ok(waiting.isEmpty);
  for (const piece of [begin(1), more(1, 'a'), text('x'), more(2, 'b'), more(1, 'c')]) waiting.add(piece);
  t.strictSame(waiting.take(), begin(1), 'the first');
  t.notOk(waiting.blocks(1), 'the next one is its own');
  t.strictSame(waiting.take(1), more(1, 'ac'));
  t.ok(waiting.blocks(1), 'the text is next');
  t.equal(waiting.take(1), undefined);
  t.strictSame([waiting.take(), waiting.take(), waiting.take()], [text('x'), more(2, 'b'), undefined]);
  t.ok(waiting.isEmpty && !waiting.blocks(1));
});

t.test('pieces of one text, and of one call, wait as one piece', async (t) => {
  const waiting = new WaitingPieces();
  for (let count = 0; count < 1000; count += 1) for (const piece of [more(1, 'a'), more(2, 'b')]) waiting.add(piece);
  for (const piece of [text('x'), text('y'), begin(3), text('z')]) waiting.add(piece);
  t.strictSame(waiting.take(1), more(1, 'a'.repeat(1000)));
  waiting.add(more(1, 'c'));
  t.strictSame(waiting.take(1), more(1, 'c'), 'what has left is left alone');
  t.strictSame(
    [0, 1, 2, 3, 4].map(() => waiting.take()),
    [more(2, 'b'.repeat(1000)), text('xy'), begin(3), text('z'), undefined],
  );
});
