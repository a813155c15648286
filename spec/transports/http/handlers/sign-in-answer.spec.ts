// The end of a sign-in, as a browser brings it to this server: who may come, what each can choose, and what comes of it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { authorizationServer, guardedTools } from '../../../support/tools/authorization-server.ts';
import { startManagedServer } from '../../../support/tools/managed-server.ts';

const VISIT = { accept: 'text/html', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

/** A sign-in that has begun, and how a browser is led back. */
async function begun(t: Test, { port }: { readonly port?: number } = {}) {
  const server = await startManagedServer(t);
  const stand = await authorizationServer(t);
  const tools = await guardedTools(t, stand);
  const signedIn: string[] = [];
  server.rig.servers.onSignIn((name) => signedIn.push(name));
  await server.call('PUT', '/api/tools/crm', {
    body: { server: { type: 'http', url: tools.url }, settings: { oauth: { clientId: 'person', issuer: stand.issuer } } },
  });
  const begin = async (): Promise<string> => {
    const redirectURI = `http://127.0.0.1:${port ?? server.port}/callback`;
    const { json } = await server.call('POST', '/api/tools/crm/login', { body: { redirectURI } });
    const answer = await fetch(String(json['url']), { redirect: 'manual' });
    const to = new URL(answer.headers.get('location') ?? '');
    return to.pathname + to.search;
  };
  const visit = (path: string, headers: Record<string, string> = VISIT) => server.call('GET', path, { token: false, headers });
  return { ...server, stand, signedIn, begin, visit };
}

t.test('a browser comes back without a token, once, and gets a page that runs nothing and shows nothing of the request', async (t) => {
  const { begin, visit, call, stand, signedIn, log } = await begun(t);
  const path = await begin();
  const done = await visit(path);
  t.match(done, { status: 200, text: /<h1>Signed in<\/h1>\s*<p>crm is signed in\. You can close this page\./ });
  t.match(done.headers, {
    'content-type': /^text\/html/,
    'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  t.notMatch(done.text, /<script|code=|state=/);
  t.strictSame(signedIn, ['crm']);
  t.match(await call('GET', '/api/tools/crm'), { json: { server: { signIn: { state: 'signed-in', issuer: stand.issuer } } } });
  t.match(await visit(path), { status: 400, text: /<h1>Nobody is signed in<\/h1>\s*<p>This is no answer to a sign-in that has begun; begin it again\./ });
  for (const secret of [...stand.tokens.keys(), ...stand.refresh.keys(), ...stand.codes.keys(), new URLSearchParams(path).get('state') ?? '-'])
    t.notMatch(JSON.stringify(log) + done.text, secret);
});

t.test('programs get JSON, also of what went wrong', async (t) => {
  const { begin, visit } = await begun(t);
  const path = await begin();
  t.match(await visit(path.replace(/state=[^&]+/, 'state=x'), {}), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.match(await visit(path, {}), { status: 200, json: { success: true, message: /^crm is signed in/ } });
});

t.test('an answer without the state, for another address, of another issuer, or of a person who said no signs nobody in', async (t) => {
  const { begin, visit, call, stand, signedIn } = await begun(t);
  const nobody = async (path: string, status: number, text: RegExp): Promise<void> => {
    t.match(await visit(path), { status, text });
    t.match(await call('GET', '/api/tools/crm'), { json: { server: { signIn: { state: 'needed' } } } }, path);
  };
  for (const path of ['/callback', '/callback?', '/callback?state=', '/callback?code=x&state=%00', '/callback?state=a&state=b'])
    await nobody(path, 400, /This is no answer/);
  await nobody((await begin()).replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'), 502, /not from the authorization server that was asked/);
  await nobody((await begin()).replace(/code=[^&]+/, 'error=access_denied&error_description=%3Cscript%3EWORDS'), 502, /access_denied\): somebody has said no/);
  await nobody((await begin()).replace(/code=[^&]+/, 'code=another'), 502, /has refused \(invalid_grant\)/);
  stand.answer = { status: 200, body: '<script>WORDS</script>' };
  await nobody(await begin(), 502, /no token that can be used/);
  t.strictSame(signedIn, []);
});

t.test('a sign-in that was to end elsewhere does not end here', async (t) => {
  const { begin, visit, call } = await begun(t, { port: 4567 });
  const path = await begin();
  t.match(await visit(path), { status: 400 });
  t.match(
    await call('POST', '/api/tools/crm/login/finish', { body: { query: path.slice(path.indexOf('?') + 1) } }),
    { status: 200 },
    'and is not used up by that',
  );
});

t.test('who guesses is stopped, and who has the right answer is not', async (t) => {
  const { begin, visit } = await begun(t);
  const path = await begin();
  let last = 0;
  for (let times = 0; times < 22; times += 1) ({ status: last } = await visit('/callback?state=guess'));
  t.equal(last, 429);
  t.match(await visit(path), { status: 200 });
});

t.test('only a visit of a person comes from another site: no picture, no frame, no request of a script, under no other name', async (t) => {
  const { begin, visit, port } = await begun(t);
  const path = await begin();
  for (const headers of [
    { ...VISIT, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { ...VISIT, 'sec-fetch-dest': 'iframe' },
    { accept: 'text/html', origin: 'https://evil.example' },
    { accept: 'text/html', host: `evil.example:${port}` },
  ])
    t.match(await visit(path, headers), { status: 403 });
  t.match(await visit(path.replace('/callback', '/callback/x')), { status: 403 }, 'from another site, no other path');
  t.match(await visit(path), { status: 200 }, 'and none of them has used it up');
});

t.test('who comes without a sign-in reads no path of this machine, and not what is wrong with a file', async (t) => {
  const { call, workspace, rig } = await startManagedServer(t);
  writeFileSync(join(workspace, 'auth.json'), '{');
  rig.write({ mcpServers: { crm: { type: 'http', url: 'https://crm.example/mcp' } } });
  await rig.book.look();
  for (const headers of [VISIT, {}]) {
    const { status, text } = await call('GET', '/callback?state=x', { token: false, headers });
    t.equal(status, 503);
    t.match(text, /auth\.json of this server is damaged/);
    for (const secret of [workspace, 'line 1']) t.notMatch(text, secret);
  }
});
