import t from 'tap';
import { parseTraceparent, spanWithin, traceparentIn, traceparentOf } from '../../../core/base/traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

t.test('a header that is well formed names its trace and span, also one of a later version', async (t) => {
  t.same(parseTraceparent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, flags: 1 });
  t.same(parseTraceparent(`01-${TRACE}-${SPAN}-00-more`), { traceId: TRACE, spanId: SPAN, flags: 0 });
  t.equal(traceparentIn({ traceparent: `01-${TRACE}-${SPAN}-00-more` }), `01-${TRACE}-${SPAN}-00`);
  t.equal(traceparentIn({ traceparent: `00-${TRACE}-${SPAN}-01` }), `00-${TRACE}-${SPAN}-01`);
});

t.test('any other header is none', async (t) => {
  const wrong = [
    '',
    TRACE,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01-`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01 `,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `01-${TRACE}-${SPAN}-01x`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ];
  for (const text of wrong) {
    t.equal(parseTraceparent(text), undefined, text);
    t.equal(traceparentIn({ traceparent: text }), undefined, text);
  }
  t.equal(traceparentIn({ traceparent: [`00-${TRACE}-${SPAN}-01`] }), undefined);
  t.equal(traceparentIn({}), undefined);
  t.equal(traceparentIn(undefined), undefined);
});

t.test('each digit and dash counts', async (t) => {
  const right = `00-${TRACE}-${SPAN}-1f`;
  t.same(parseTraceparent(right), { traceId: TRACE, spanId: SPAN, flags: 31 });
  for (let index = 0; index < right.length; index += 1)
    for (const other of ['g', 'A', '-', ' ', 'é', '\u{1f600}']) {
      if (right[index] === other) continue;
      const wrong = `${right.slice(0, index)}${other}${right.slice(index + 1)}`;
      t.equal(traceparentIn({ traceparent: wrong }) ?? parseTraceparent(wrong), undefined, wrong);
    }
});

t.test('a header is written as it is read, and a span within another one has its trace', async (t) => {
  const header = `00-${TRACE}-${SPAN}-01`;
  t.equal(traceparentOf({ traceId: TRACE, spanId: SPAN, flags: 1 }), header);
  const { spanId, traceparent } = spanWithin(header);
  t.same(parseTraceparent(traceparent), { traceId: TRACE, spanId, flags: 1 });
  t.not(spanId, SPAN);
});
