import t from 'tap';
import { askedNotice, bodyOf, capNotice, counted, finishedNotice, isWanted, type Notice, summaryBody, testBody } from '../../../core/notify/notices.ts';
import { checkedURL, settledTarget, shownURL, targetIn } from '../../../core/notify/targets.ts';
import { newSecret } from '../../../core/base/webhook-signature.ts';

const AT = '2026-11-28T16:00:00.000Z';
const FACT = { block: 'ada', id: 'm1', approval: 'a1', tool: 'bank/pay', because: 'rule', expiresAt: AT } as const;

t.test('a notice has names, ids, times and codes, and nothing else of a fact', async (t) => {
  const fact = { ...FACT, arguments: { to: 'canary' }, note: 'canary', answerId: 'canary' };
  const body = bodyOf(askedNotice(fact), { at: AT, base: 'https://b.example', decide: 'https://b.example/api/decide/x' });
  t.same(body, {
    type: 'approval.asked',
    timestamp: AT,
    text: 'ada waits for your decision: bank/pay, because a rule says so.',
    data: {
      block: 'ada',
      messageId: 'm1',
      approval: { id: 'a1', tool: 'bank/pay', because: 'rule', expiresAt: AT },
      url: 'https://b.example/ui/blocks/ada',
      decide: 'https://b.example/api/decide/x',
    },
  });
  t.match(bodyOf(askedNotice({ ...FACT, tool: `x/\u202e${'y'.repeat(500)}` }), { at: AT, base: undefined }).data, {
    approval: { tool: /^x\/\?y+$/ },
    url: undefined,
  });
  t.ok(JSON.stringify(bodyOf(askedNotice({ ...FACT, tool: 'y'.repeat(5000) }), { at: AT, base: undefined })).length < 1000);
});

t.test('outcomes that somebody has chosen are not told', async (t) => {
  const of = (status: 'done' | 'failed' | 'cancelled' | 'expired' | 'interrupted', code?: string) => finishedNotice({ block: 'ada', id: 'm1', status, code });
  t.match(of('done'), { type: 'message.done' });
  t.match(of('failed', 'UPSTREAM_AUTH'), { type: 'message.failed', code: 'UPSTREAM_AUTH' });
  t.match(of('expired'), { type: 'message.failed', code: 'EXPIRED' });
  t.equal(of('cancelled'), undefined);
  t.equal(of('interrupted'), undefined);
  const cap = (to: 'paused' | 'idle', cause: string) => capNotice({ block: 'ada', from: 'working', to, cause, actor: 'budget' });
  t.match(cap('paused', 'BUDGET_REACHED'), { type: 'cap.reached', block: 'ada' });
  t.equal(cap('paused', 'HALTED'), undefined);
  t.equal(cap('idle', 'BUDGET_REACHED'), undefined);
});

t.test('a target hears of its events and its blocks', async (t) => {
  const notice: Notice = { type: 'message.done', block: 'team-red' };
  const hears = (events: Notice['type'][], blocks: string[] | null) => isWanted({ events, blocks }, notice);
  t.ok(hears(['message.done'], null));
  t.ok(hears(['message.done'], ['ada', 'team-*']));
  t.ok(hears(['message.done'], ['*']));
  t.notOk(hears(['message.failed'], null));
  t.notOk(hears(['message.done'], ['team', 'team-red-*', 'TEAM-*']));
});

t.test('a summary counts by kind', async (t) => {
  const counts = counted(counted(counted({}, 'message.done'), 'message.failed'), 'message.done');
  t.same(summaryBody(counts, { at: AT, base: 'https://b.example' }), {
    type: 'summary',
    timestamp: AT,
    text: '3 more in the last hour: 2 message.done, 1 message.failed.',
    data: { counts: { 'message.done': 2, 'message.failed': 1 }, url: 'https://b.example/ui/' },
  });
  t.same(testBody({ at: AT, base: undefined }).data, {});
});

t.test('an address in the clear is a number of this machine or of a private network', async (t) => {
  for (const url of [
    'https://push.example/x?y=1',
    'http://127.0.0.1:1/',
    'http://localhost/',
    'http://[::1]/',
    'http://10.1.2.3/',
    'http://192.168.0.9/',
    'http://[fd12::1]/',
  ])
    t.equal(checkedURL(url).href, new URL(url).href, url);
  const wrong = [
    'http://push.example/',
    'http://8.8.8.8/',
    'http://localhost.evil.example/',
    'http://10.0.0.1.evil.example/',
    'https://169.254.169.254/',
    'http://169.254.169.254/',
    'https://[::ffff:169.254.169.254]/',
    'https://0.0.0.0/',
    'https://metadata.google.internal/',
    'https://a:b@push.example/',
    'https://push.example/#x',
    'file:///etc/passwd',
    'ftp://push.example/',
    'push.example',
    '',
  ];
  for (const url of wrong) t.throws(() => checkedURL(url), { code: 'INVALID_REQUEST', message: /^url / }, url);
});

t.test('what a body leaves out has its default, and links need the address of this server', async (t) => {
  const url = 'https://push.example/';
  t.same(settledTarget({ url }), { url, events: ['approval.asked', 'message.failed', 'cap.reached'], blocks: null, links: false, publicURL: null });
  t.same(settledTarget({ url, events: ['message.done', 'message.done'], links: true, publicURL: 'https://b.example/' }), {
    url,
    events: ['message.done'],
    blocks: null,
    links: true,
    publicURL: 'https://b.example',
  });
  t.throws(() => settledTarget({ url, links: true }), { message: /^publicURL is missing/ });
  for (const publicURL of ['http://b.example', 'https://b.example/x', 'https://b.example/?x', 'https://a:b@b.example', 'b.example', 'javascript:alert(1)'])
    t.throws(() => settledTarget({ url, publicURL }), { message: /^publicURL must be/ }, publicURL);
});

t.test('an edit by hand is judged as a request is', async (t) => {
  const secret = newSecret();
  const url = 'https://push.example/';
  t.match(targetIn({ url, secret }), { url, secret, links: false });
  const wrong: unknown[] = [null, 'x', {}, { url }, { secret }, { url, secret: 'whsec_x' }, { url, secret, events: 'x' }, { url, secret, blocks: [1] }];
  for (const entry of [...wrong, { url: 'http://push.example/', secret }, { url, secret, publicURL: 5 }])
    t.type(targetIn(entry), 'string', JSON.stringify(entry));
});

t.test('the path of an address is not shown: it may be a secret', async (t) => {
  t.equal(shownURL('https://push.example/'), 'https://push.example');
  t.equal(shownURL('https://push.example/T0/B0/key'), 'https://push.example/…');
  t.equal(shownURL('https://push.example/?key=1'), 'https://push.example/…');
  t.equal(shownURL('nonsense'), '…');
});
