import { createHash } from 'node:crypto';
import t from 'tap';
import type { Approval } from '../../../../core/types.ts';
import { decidedPage, decisionPage, LINK_HEADERS, problemPage } from '../../../../transports/http/handlers/decide-page.ts';

const APPROVAL: Approval = {
  id: 'a1',
  block: 'ada',
  messageId: 'm1',
  call: '1.1',
  kind: 'call',
  tool: 'bank/pay',
  arguments: { to: 'bob', nested: { deep: ['a', 1, null] } },
  digest: 'd1',
  because: 'tainted',
  marks: { readOnly: false, idempotent: true, closedWorld: false },
  readBefore: ['web/fetch'],
  createdAt: '2026-11-28T16:00:00.000Z',
  expiresAt: '2026-11-29T16:00:00.000Z',
};

t.test('the page says what is called, why it asks, its marks, what was read, and until when', async (t) => {
  const page = decisionPage(APPROVAL);
  for (const shown of ['ada wants to call bank/pay', 'has read from outside', 'harmless to repeat', 'web/fetch', '2026-11-29 16:00 UTC', '&quot;deep&quot;: ['])
    t.ok(page.includes(shown), shown);
  t.match(
    page,
    /<button class="deny" name="decision" value="deny">Deny<\/button>\n<button class="approve" name="decision" value="approve">Approve once<\/button>/,
  );
  t.match(decisionPage({ ...APPROVAL, readBefore: [], marks: { readOnly: false, idempotent: false, closedWorld: false } }), /<dd>nothing<\/dd>/);
  t.match(decisionPage({ ...APPROVAL, readBefore: Array.from({ length: 60 }, (_, index) => `web/t${index}`) }), /web\/t49 and 10 more/);
});

t.test('what hides or pushes text away is written out; indents of the arguments are not', async (t) => {
  const page = decisionPage({ ...APPROVAL, tool: 'bank/\u202epay', arguments: { a: { b: { c: { d: { e: 'x\u00a0y\u2800z' } } } }, s: `1${' '.repeat(9)}2` } });
  for (const shown of ['\\u202e', '\\u00a0', '\\u2800', '[9 blanks]']) t.ok(page.includes(`<mark>${shown}</mark>`), shown);
  t.equal(page.match(/<mark>/g)?.length, 4);
  t.ok(page.includes('\n          &quot;e&quot;'), 'ten blanks of an indent');
});

t.test('the one style of the page is that which its policy names', async (t) => {
  for (const page of [decisionPage(APPROVAL), decidedPage({ success: true, block: 'ada', tool: 'x/y', decision: 'deny' }), problemPage('Over', '<b>')]) {
    const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(page) ?? [];
    t.ok(LINK_HEADERS['content-security-policy'].includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`));
    t.notMatch(page, /<b>| style=| on[a-z]+=|url\(|@import/);
  }
});
