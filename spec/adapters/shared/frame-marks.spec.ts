import t from 'tap';
import { hasOther, marksOf, saysMore } from '../../../adapters/shared/frame-marks.ts';
import type { Protocol } from '../../../adapters/shared/protocol.ts';

const PROTOCOL = { marks: ['[DONE]'], members: ['usage'], ofModel: '"choices"' } as Partial<Protocol> as Protocol;
const marks = marksOf(PROTOCOL);
const frames = (...all: string[]): Buffer => Buffer.from(all.map((frame) => `${frame}\n\n`).join(''));
const PIECE = 'data: {"choices":[{"delta":{"content":"a: b"}}]}';

t.test('the marks of a protocol are made once', async (t) => {
  t.equal(marksOf(PROTOCOL), marks);
});

t.test('frames say more by a text, or by a member that is not null', async (t) => {
  t.notOk(saysMore(frames(PIECE, PIECE), marks));
  t.notOk(saysMore(frames('data: {"choices":[], "usage" : null}'), marks));
  t.ok(saysMore(frames(PIECE, 'data: [DONE]'), marks));
  t.ok(saysMore(frames('data: {"choices":[], "usage" : {}}'), marks));
});

t.test('a comment, and a frame without a name and without what a model has, is found among any others, with any line ends', async (t) => {
  for (const end of ['\n', '\r\n']) {
    const isFound = (...all: string[]): boolean =>
      hasOther(
        Buffer.from(
          frames(...all)
            .toString()
            .replaceAll('\n', end),
        ),
        marks,
      );
    t.notOk(isFound(PIECE, PIECE));
    t.notOk(isFound('event: piece\ndata: {"delta":"a"}', PIECE));
    for (const other of [': ping', 'data: {"detail":"no"}', 'data: no JSON', 'Error', `: ping\n${PIECE}`, `${PIECE}\n: ping`])
      for (const all of [[other], [PIECE, other], [other, PIECE], [PIECE, other, PIECE]]) t.ok(isFound(...all), all.join(' | '));
  }
  t.notOk(hasOther(Buffer.from(PIECE), marks), 'a rest without its end');
  t.ok(hasOther(Buffer.from('no JSON'), marks));
});
