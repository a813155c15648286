import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type WaitingCall, waitingCall } from '../../../support/notify/waiting-call.ts';
import { until } from '../../../support/server.ts';

const HTML = { accept: 'text/html' };
const FORM = 'application/x-www-form-urlencoded';

async function linked(t: Parameters<typeof waitingCall>[0], more: object = {}) {
  const one = await waitingCall(t);
  const approval = await one.ask(more);
  const link = await one.link();
  const path = new URL(link).pathname;
  const post = (decision: string, headers: Record<string, string> = {}) =>
    one.server.call('POST', path, { token: false, body: `decision=${decision}`, headers: { 'content-type': FORM, ...headers } });
  return {
    one,
    approval,
    link,
    path,
    ticket: path.split('/').at(-1) ?? '',
    post,
    get: (headers: Record<string, string> = HTML) => one.server.call('GET', path, { token: false, headers }),
  };
}

const decisions = async ({ server }: WaitingCall, messageId: string) =>
  (await server.core.blocks.run('ada', messageId)).records.filter((record) => record.t === 'decision');

t.test('case 25: a link decides once, for what was shown; GET decides nothing; of two at once one decides', async (t) => {
  const { one, approval, post, get, path } = await linked(t);
  for (let round = 0; round < 5; round += 1) t.equal((await get()).status, 200, 'programs open links by themselves');
  t.equal((await one.server.call('HEAD', path, { token: false })).status, 200);
  t.same(await decisions(one, approval.messageId), []);
  const both = await Promise.all([post('approve'), post('deny'), post('approve')]);
  t.same(both.map(({ status }) => status).sort(), [200, 410, 410]);
  const [decision, ...others] = await decisions(one, approval.messageId);
  t.match(decision, { approval: approval.id, by: { channel: 'link', name: 'phone' } });
  t.same(others, []);
  t.match(await post('approve'), { status: 410, json: { code: 'LINK_USED' } }, 'again');
  t.match(await get(), { status: 410, text: /This link is over/ });
  await until(async () => (await one.server.core.blocks.history('ada')).some(({ content }) => content === 'Paid.'), 'the run has gone on');
});

t.test('a denied call is not made', async (t) => {
  const { one, post } = await linked(t);
  t.match(await post('deny'), { status: 200, json: { success: true, block: 'ada', tool: 'bank/pay', decision: 'deny' } });
  await until(async () => (await one.server.core.blocks.history('ada')).some(({ replyTo }) => replyTo !== undefined), 'the run has gone on');
  t.same(one.host.calls, []);
});

t.test('what was decided elsewhere is over for the link, and a second approval needs a link of its own', async (t) => {
  const { one, approval, post, get } = await linked(t);
  await one.server.core.blocks.decide('ada', approval.id, { decision: 'deny', digest: approval.digest }, { channel: 'api', name: 'token' });
  t.match(await get(), { status: 410 });
  t.match(await post('approve'), { status: 410, json: { code: 'LINK_USED' } });
  t.equal((await decisions(one, approval.messageId)).length, 1);
});

t.test('the page shows all arguments as text, with what hides made visible, and runs and loads nothing', async (t) => {
  const hostile = { to: `<script>alert(1)</script>"'&\u202egnp.exe\u200b\u3164\u{e0041}a${' '.repeat(500)}b` };
  const { get } = await linked(t, hostile);
  const page = await get();
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': /noindex/,
  });
  t.match(
    page.headers['content-security-policy'],
    /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  t.notMatch(page.text, /<script|<img|<link|<a |\son[a-z]+=|http-equiv/i);
  t.match(page.text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  for (const shown of ['\\u202e', '\\u200b', '\\u3164', '\\udb40\\udc41', '[500 blanks]']) t.ok(page.text.includes(`<mark>${shown}</mark>`), shown);
  t.notMatch(page.text, /[\u202e\u200b\u3164\u{e0041}]/u);
  t.equal(page.text.match(/<button/g)?.length, 2);
});

t.test('a wrong ticket is 404 and counts as a wrong token, and the right one still opens', async (t) => {
  const { one, get } = await linked(t);
  const wrong = (text: string, method = 'GET') =>
    one.server.call(method, `/api/decide/${text}`, { token: false, headers: { 'content-type': FORM }, ...(method === 'POST' && { body: 'decision=approve' }) });
  for (const text of ['x', 'A'.repeat(43), '..%2f..%2fauth', '__proto__']) t.match(await wrong(text), { status: 404, json: { code: 'NOT_FOUND' } }, text);
  for (let round = 0; round < 16; round += 1) t.equal((await wrong('B'.repeat(43), 'POST')).status, 404);
  t.match(await wrong('C'.repeat(43)), { status: 429, headers: { 'retry-after': /\d+/ }, json: { code: 'TOO_MANY_ATTEMPTS' } });
  t.match(await one.server.call('GET', '/api/blocks', { headers: { authorization: 'Bearer nonsense' }, token: false }), { status: 429 }, 'one count for both');
  t.equal((await get()).status, 200, 'owner-always-in');
});

t.test('bodies that lie decide nothing', async (t) => {
  const { one, approval, path, post } = await linked(t);
  const send = (body: string, type: string) => one.server.call('POST', path, { token: false, body, headers: { 'content-type': type } });
  const wrong: [body: string, type: string, status: number][] = [
    ['decision=always', FORM, 400],
    ['decision=approve&decision=deny', FORM, 400],
    ['decision=approve&scope=always', FORM, 400],
    ['', FORM, 400],
    ['{"decision":"ran"}', 'application/json', 400],
    ['{"decision":"approve","digest":"x"}', 'application/json', 400],
    ['{', 'application/json', 400],
    ['decision=approve', 'text/plain', 415],
    [`decision=approve&x=${'x'.repeat(2000)}`, FORM, 413],
  ];
  for (const [body, type, status] of wrong) t.equal((await send(body, type)).status, status, body.slice(0, 40));
  t.same(await decisions(one, approval.messageId), []);
  t.equal((await post('approve')).status, 200, 'the link is as it was');
});

t.test('pages of others and other names of the host decide and show nothing', async (t) => {
  const { one, approval, get, post } = await linked(t);
  const visit = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site', ...HTML };
  t.equal((await get(visit)).status, 200, 'a link in a mail of a web page');
  t.equal((await get({ ...visit, 'sec-fetch-dest': 'iframe' })).status, 403);
  t.equal((await get({ ...HTML, host: 'evil.example' })).status, 403);
  const refused: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    { host: 'evil.example' },
  ];
  for (const headers of refused) t.equal((await post('approve', headers)).status, 403, JSON.stringify(headers));
  t.same(await decisions(one, approval.messageId), []);
  t.equal((await post('approve', { origin: 'null', 'sec-fetch-site': 'same-origin', ...HTML })).status, 200, 'the form of our own page, which names no origin');
});

t.test('a ticket is in no log, and on the disk in its notice alone, until that is delivered', async (t) => {
  const { one, ticket, path, get, post } = await linked(t);
  await until(() => readdirSync(join(one.server.workspace, 'notify/pending-phone')).length === 0, 'it is noted as delivered');
  await get();
  for (const odd of [`${path}/`, `${path}/more`, `/x${path}`, path.replace('/decide/', '/decide%2F'), `/api/decide/../decide/${ticket}`])
    await one.server.call('GET', odd, { token: false });
  await one.server.call('PUT', path);
  await post('approve');
  await post('approve');
  t.notMatch(JSON.stringify(one.server.log), ticket);
  t.match(JSON.stringify(one.server.log), '/api/decide/…');
  const files = readdirSync(one.server.workspace, { recursive: true, withFileTypes: true }).filter((item) => item.isFile());
  for (const { parentPath, name } of files) t.notMatch(readFileSync(join(parentPath, name), 'latin1'), ticket, name);
  t.notOk(files.some(({ name }) => name.includes(ticket)));
});
