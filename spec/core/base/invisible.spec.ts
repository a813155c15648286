import t from 'tap';
import { escapeInvisible } from '../../../core/base/invisible.ts';

const HOSTILE = '\u0000\u0007\u001b\u007f\u0080\u0085\u009b\u009f\u061c\u200e\u2028\u2029\u202a\u202e\u2066\u2069\ufeff\u{e0041}';

t.test('what a terminal obeys and what reorders a line is escaped, as JSON reads it', async (t) => {
  const json = escapeInvisible(JSON.stringify({ text: HOSTILE }));
  t.match(json, /^[ -~]+$/);
  t.strictSame(JSON.parse(json), { text: HOSTILE });
  t.match(escapeInvisible(HOSTILE), /^[ -~]+$/);
});

t.test('everything else stays', async (t) => {
  for (const text of ['', 'plain', 'two\n\tlines', 'é 漢 😀 ž', '\ud800']) t.equal(escapeInvisible(text), text);
});
