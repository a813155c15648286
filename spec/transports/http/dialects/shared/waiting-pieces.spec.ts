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
  t.strictSame(waiting.take(1), more(1, 'a'));
  t.ok(waiting.blocks(1), 'the text came before the rest');
  t.strictSame(waiting.take(1), more(1, 'c'));
  t.equal(waiting.take(1), undefined);
  t.strictSame([waiting.take(), waiting.take(), waiting.take()], [text('x'), more(2, 'b'), undefined]);
  t.ok(waiting.isEmpty && !waiting.blocks(1));
});
