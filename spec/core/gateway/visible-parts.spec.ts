import t from 'tap';
import { streamOptionsOf, VisibleParts } from '../../../core/gateway/visible-parts.ts';
import type { AnswerPiece } from '../../../core/ports.ts';

const ALL: AnswerPiece[] = [
  { type: 'reasoning', text: 'hm' },
  { type: 'text', text: 'Hel' },
  { type: 'toolCallStart', index: 4, id: 'a', name: 'f' },
  { type: 'toolCallDelta', index: 4, text: '{"x"' },
  { type: 'toolCallDelta', index: 4, text: ':1}' },
  { type: 'toolCall', index: 4, toolCall: { id: 'a', name: 'f', arguments: { x: 1 } } },
  { type: 'toolCall', toolCall: { id: 'b', name: 'g', arguments: { y: 2 } } },
];
const REASONING = { type: 'reasoning', text: 'hm' };
const CONTENT = { type: 'content', text: 'Hel' };

t.test('reasoning and calls are shown to a reader that asked for them, and the text to each', (t) => {
  t.strictSame(new VisibleParts({}).of(ALL), [CONTENT]);
  t.strictSame(new VisibleParts({ reasoning: true, toolDeltas: false }).of(ALL), [REASONING, CONTENT]);
  t.strictSame(
    new VisibleParts({ toolDeltas: true }).of(ALL).map(({ type }) => type),
    ['content', 'toolCallStart', 'toolCallDelta', 'toolCallDelta', 'toolCallStart', 'toolCallDelta'],
  );
  t.end();
});

t.test('calls are counted from 0, and a call that came whole has a start and one delta', (t) => {
  const shown = new VisibleParts({ toolDeltas: true });
  t.strictSame([...shown.of(ALL.slice(0, 4)), ...shown.of(ALL.slice(4))].slice(1), [
    { type: 'toolCallStart', index: 0, id: 'a', name: 'f' },
    { type: 'toolCallDelta', index: 0, text: '{"x"' },
    { type: 'toolCallDelta', index: 0, text: ':1}' },
    { type: 'toolCallStart', index: 1, id: 'b', name: 'g' },
    { type: 'toolCallDelta', index: 1, text: '{"y":2}' },
  ]);
  t.end();
});

t.test('only an object in `stream` that asks for something is taken', (t) => {
  for (const body of [undefined, null, 'x', [], {}, { stream: true }, { stream: {} }, { stream: { reasoning: false } }, { stream: { reasoning: 1 } }])
    t.equal(streamOptionsOf(body), undefined);
  t.strictSame(streamOptionsOf({ stream: { reasoning: true } }), { reasoning: true });
  t.strictSame(streamOptionsOf({ stream: { toolDeltas: true, reasoning: false } }), { toolDeltas: true, reasoning: false });
  t.end();
});
