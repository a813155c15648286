// A person signs in: of real servers over loopback, with a browser that is a function. The official client judges what we ask for, and which answers count.
import { startAuthorization, validateAuthorizationResponseIssuer } from '@modelcontextprotocol/client';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { assertOneClient, assertOnePlace, redirectFor } from '../../../../adapters/tools/oauth/logins.ts';
import type { BeginToolSignIn } from '../../../../core/types.ts';
import { ROBOT_SECRET } from '../../../support/tools/authorization-server.ts';
import { type SignedHost, type SignedOptions, signedHost } from '../../../support/tools/signed-host.ts';
import { failure } from '../../../support/tools/server-rig.ts';

/** Undefined leaves a field out. */
type Loose = { readonly [Name in keyof BeginToolSignIn]?: BeginToolSignIn[Name] | undefined };
const signal = new AbortController().signal;
const REDIRECT = 'http://127.0.0.1:4567/callback';
type Said = { readonly issuer: string; readonly namesIssuer: boolean };
const NOBODY: SignedOptions = { oauth: () => undefined };

/** What a browser brings back. */
async function browsed(url: string | null): Promise<string> {
  const answer = await fetch(url ?? '', { redirect: 'manual' });
  const location = new URL(answer.headers.get('location') ?? '');
  if (location.origin + location.pathname !== REDIRECT) throw new Error(`led to ${location.href}`);
  return location.search.slice(1);
}

/** The issuer is on this machine, so the user must name it. */
const begin = ({ servers, stand }: SignedHost, more: Loose = {}) =>
  servers.beginSignIn('crm', JSON.parse(JSON.stringify({ redirectURI: REDIRECT, issuer: stand.issuer, ...more })), signal);

async function signIn(signed: SignedHost, more: Loose = {}): Promise<void> {
  await signed.servers.finishSignIn('crm', { query: await browsed((await begin(signed, more)).url) });
}

/** Keeps the endpoint of tokens waiting. */
function heldTokens(stand: SignedHost['stand']): { readonly asked: Promise<void>; give(): void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    stand.before = () => {
      resolve();
      return given;
    };
  });
  return { asked, give };
}

t.test('a person signs in with a client that they have registered, and calls run', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { servers, stand, tools, approve, call, auth } = signed;
  const begun = await begin(signed, { clientId: 'person' });
  t.match(begun, { issuer: stand.issuer, expiresAt: /^20/ });
  const asked = new URL(begun.url ?? '').searchParams;
  const official = await startAuthorization(stand.issuer, {
    metadata: stand.metadata as never,
    clientInformation: { client_id: 'person' },
    redirectUrl: REDIRECT,
    scope: 'read',
    state: 'x',
    resource: new URL(tools.url),
  });
  t.strictSame([...asked.keys()].sort(), [...official.authorizationUrl.searchParams.keys()].sort(), 'what the official client asks, too');
  for (const name of ['response_type', 'client_id', 'code_challenge_method', 'redirect_uri', 'scope', 'resource'])
    t.equal(asked.get(name), official.authorizationUrl.searchParams.get(name), name);
  t.match(asked.get('state'), /^[\w-]{43}$/);
  t.notMatch(JSON.stringify(auth()), asked.get('state'), 'only its hash is kept');
  const shown = await servers.finishSignIn('crm', { query: await browsed(begun.url) });
  t.match(shown, { state: 'held', signIn: { state: 'signed-in', grant: 'authorization_code', issuer: stand.issuer, scope: 'read' } });
  await approve();
  t.equal(await call('hello'), 'hello');
  t.strictSame(Object.keys(auth().oauth?.['crm'] ?? {}), [stand.issuer], 'nothing is left of what had begun');
});

t.test('a client with a document, and one that is registered as the last resort', async (t) => {
  const signed = await signedHost(t, { ...NOBODY, metadata: (all) => ({ ...all, client_id_metadata_document_supported: true }) });
  await signIn(signed, { clientId: 'https://app.example/client.json' });
  t.match(signed.auth().oauth?.['crm']?.[signed.stand.issuer], { clientId: 'https://app.example/client.json', method: 'none' });
  await signIn(signed);
  t.match(signed.stand.registered.get('registered-1'), {
    application_type: 'native',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
  });
  t.match(signed.auth().oauth?.['crm']?.[signed.stand.issuer], { clientId: 'registered-1' });
});

t.test('what can not be signed in to safely is refused with what helps, and nothing begins', async (t) => {
  const cases: [SignedOptions, Loose, RegExp][] = [
    [
      { metadata: ({ code_challenge_methods_supported: _, ...all }) => all },
      { clientId: 'person' },
      /no safe way .* \(an authorization code with PKCE, S256\)/,
    ],
    [{ metadata: (all) => ({ ...all, code_challenge_methods_supported: ['plain'] }) }, { clientId: 'person' }, /no safe way/],
    [{}, { clientId: 'https://app.example/client.json' }, /takes no address of a document/],
    [{ metadata: ({ registration_endpoint: _, ...all }) => all }, {}, /register one there, .*`blockhouse tools login crm --client-id <text>`/],
    [{ resource: (url) => ({ resource: url, authorization_servers: ['https://10.0.0.1'] }) }, { issuer: undefined }, /leads to https:\/\/10\.0\.0\.1/],
    [
      { metadata: (all) => ({ ...all, authorization_endpoint: 'http://127.0.0.1:631/jobs?do=it' }) },
      { clientId: 'person' },
      /would open http:\/\/127\.0\.0\.1:631, which is on this machine/,
    ],
    [{ oauth: () => ({ clientId: 'robot' }) }, { clientId: 'person' }, /mcp\.json names another client id/],
  ];
  for (const [options, more, message] of cases) {
    const signed = await signedHost(t, { ...NOBODY, ...options });
    t.match(await failure(begin(signed, more)), { code: 'TOOL_SERVER_FAILED', message });
    t.strictSame(signed.auth().oauth, undefined);
  }
  const { servers } = await signedHost(t, NOBODY);
  for (const redirectURI of [
    'https://evil.example/callback',
    'http://127.0.0.1:80/callback?x',
    'http://localhost:80/callback',
    'http://127.0.0.1:0/callback',
    'http://127.0.0.1:65536/callback',
    'http://127.0.0.1:80@evil.example/callback',
  ])
    t.match(await failure(servers.beginSignIn('crm', { redirectURI }, signal)), { code: 'INVALID_REQUEST' }, redirectURI);
  t.match(await failure(servers.beginSignIn('gone', { redirectURI: REDIRECT }, signal)), { code: 'TOOL_SERVER_NOT_FOUND' });
});

t.test('an issuer that nobody has named, and that its answers do not name, must be at one place', async () => {
  const evil = 'https://evil.example';
  const authority = {
    issuer: evil,
    authorizationEndpoint: 'https://honest.example/authorize',
    registrationEndpoint: undefined,
    tokenEndpoint: `${evil}/token`,
  };
  const message = /at several places \(https:\/\/honest\.example, https:\/\/evil\.example\).*`--issuer https:\/\/evil\.example`/;
  t.throws(() => assertOnePlace({ ...authority, namesIssuer: false }), { message });
  t.throws(() => assertOnePlace({ ...authority, authorizationEndpoint: `${evil}/a`, registrationEndpoint: 'https://honest.example/r', namesIssuer: false }));
  t.doesNotThrow(() => assertOnePlace({ ...authority, namesIssuer: true }), 'then an answer of another one does not count');
  t.doesNotThrow(() => assertOnePlace({ ...authority, authorizationEndpoint: `${evil}/authorize`, namesIssuer: false }));
});

t.test(
  'own-redirect: an issuer that nobody has named, and that its answers do not name, has an address of its own at which the browser comes back',
  async (t) => {
    const [one, other] = ['https://one.example', 'https://other.example'].map((issuer) => ({ issuer, namesIssuer: false })) as [Said, Said];
    const own = redirectFor(REDIRECT, one, false);
    t.match(own, /^http:\/\/127\.0\.0\.1:4567\/callback\?as=[0-9a-f]{32}$/);
    t.not(redirectFor(REDIRECT, other, false), own);
    t.equal(redirectFor(REDIRECT, one, true), REDIRECT, 'the user has named it');
    t.equal(redirectFor(REDIRECT, { ...one, namesIssuer: true }, false), REDIRECT, 'its answers name it');
    t.throws(() => assertOneClient(one, false), { message: /a client of yours needs its name besides: `--issuer https:\/\/one\.example`/ });
    t.doesNotThrow(() => assertOneClient(one, true));
    t.doesNotThrow(() => assertOneClient({ ...one, namesIssuer: true }, false));
    const signed = await signedHost(t, { ...NOBODY, metadata: (all) => ({ ...all, authorization_response_iss_parameter_supported: false }) });
    signed.stand.says = null;
    const file = join(signed.workspace, 'auth.json');
    for (const [brought, isTaken] of [
      ['', false],
      ['&as=ffff', false],
      [`&as=0123&as=0123`, false],
      ['&as=0123', true],
    ] as const) {
      const query = await browsed((await begin(signed, { clientId: 'person' })).url);
      writeFileSync(file, readFileSync(file, 'utf8').replace(`"${REDIRECT}"`, `"${REDIRECT}?as=0123"`)); // as it begins without a name: an issuer on this machine must have one
      const answer = query + brought;
      const fault = await failure(isTaken ? signed.servers.answerSignIn(answer, REDIRECT) : signed.servers.finishSignIn('crm', { query: answer })); // the page, or the command
      t.match(
        fault,
        { message: isTaken ? /refused \(invalid_grant\)/ : /not from the authorization server that was asked, so nothing of it was used/ },
        brought,
      );
      t.equal(signed.stand.grants('authorization_code').length, isTaken ? 1 : 0, 'whether the code was sent');
    }
  },
);

t.test('a secret goes to nobody that the user has not named', async (t) => {
  const signed = await signedHost(t, NOBODY);
  await signed.servers.setSecret('crm', 'client_secret', { value: 'robot+secret/1 ' });
  const evil = { resource: (url: string) => ({ resource: url, authorization_servers: ['https://evil.example'] }) };
  const other = await signedHost(t, { ...NOBODY, ...evil });
  await other.servers.setSecret('crm', 'client_secret', { value: 'robot+secret/1 ' });
  t.match(await failure(begin(other, { clientId: 'robot' })), { message: /does not name .* as its authorization server/ });
  await signIn(signed, { clientId: 'robot' });
  t.match(signed.stand.grants('authorization_code')[0]?.authorization, /^Basic /);
});

t.test('a secret in the address of a server goes to no authorization server', async (t) => {
  const signed = await signedHost(t, { ...NOBODY, resource: () => undefined });
  const { servers, stand, tools, write } = signed;
  await servers.setSecret('crm', 'key', { value: 'team of the address/1' });
  for (const address of ['?team=a&key=${auth:crm.key}', '/${auth:crm.key}']) {
    write(undefined, tools.url + address);
    t.match(await failure(begin(signed, { clientId: 'person' })), { message: /its address has a secret/ }, address);
  }
  t.notMatch(JSON.stringify(stand.asked), /of.the.address/);
  write(undefined, `${tools.url}?team=\${TEAM:-a}`);
  const { url } = await begin(signed, { clientId: 'person' });
  t.equal(new URL(url ?? '').searchParams.get('resource'), `${tools.url}?team=a`, 'the rest of an address stays');
});

t.test('an answer counts once, for what it was asked for, and from whom: as the official client judges', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { servers, stand } = signed;
  const finish = (query: string) => failure(servers.finishSignIn('crm', { query }));
  t.match(await finish('code=x&state=y'), { code: 'INVALID_REQUEST', message: /no answer to a sign-in that has begun/ });
  const query = await browsed((await begin(signed, { clientId: 'person' })).url);
  const state = new URLSearchParams(query).get('state');
  for (const wrong of [query.replace(/state=[^&]+/, 'state=x'), query.replace(/state=[^&]+/, ''), `${query}&state=${state}`])
    t.match(await finish(wrong), { code: 'INVALID_REQUEST' }, 'a wrong state ends nothing');
  await servers.finishSignIn('crm', { query });
  t.match(await finish(query), { code: 'INVALID_REQUEST' }, 'a second time');
  t.equal(stand.grants('authorization_code').length, 1);
  for (const supported of [true, false])
    for (const says of [undefined, null, 'https://evil.example', `${stand.issuer}/`]) {
      const one = await signedHost(t, { ...NOBODY, metadata: (all) => ({ ...all, authorization_response_iss_parameter_supported: supported }) });
      one.stand.says = says === `${stand.issuer}/` ? `${one.stand.issuer}/` : says;
      const iss = one.stand.says === undefined ? one.stand.issuer : (one.stand.says ?? undefined);
      let isTaken = true;
      try {
        validateAuthorizationResponseIssuer({ iss, expectedIssuer: one.stand.issuer, issParameterSupported: supported });
      } catch {
        isTaken = false;
      }
      const answer = await browsed((await begin(one, { clientId: 'person' })).url);
      const fault = await one.servers.finishSignIn('crm', { query: answer }).then(
        () => undefined,
        (error: Error) => error.message,
      );
      t.equal(fault === undefined, isTaken, `${supported} ${says}`);
      if (!isTaken) {
        t.match(fault, /not from the authorization server that was asked, so nothing of it was used/);
        t.equal(one.stand.grants('authorization_code').length, 0, 'no code was sent');
      }
    }
});

t.test('an answer that says no, or comes too late, signs nobody in; of an error only its code is said', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const stateOf = async (): Promise<string> => new URL((await begin(signed, { clientId: 'person' })).url ?? '').searchParams.get('state') ?? '';
  const finish = (query: string) => failure(signed.servers.finishSignIn('crm', { query }));
  const iss = encodeURIComponent(signed.stand.issuer);
  t.match(await finish(`error=access_denied&error_description=SECRET&state=${await stateOf()}&iss=${iss}`), {
    code: 'TOOL_SERVER_FAILED',
    message: "crm can't be signed in to: its authorization server has refused (access_denied): somebody has said no.",
  });
  t.match(await finish(`error=%3Cb%3E&state=${await stateOf()}&iss=${iss}`), { message: /has refused \(error\)/ });
  t.match(await finish(`error=access_denied&state=${await stateOf()}&iss=https%3A%2F%2Fevil.example`), { message: /not from the authorization server/ });
  t.match(await finish(`state=${await stateOf()}&iss=${iss}`), { message: /has given no code/ });
  t.match(await finish(`code=wrong&state=${await stateOf()}&iss=${iss}`), { message: /invalid_grant/ });
  const state = await stateOf();
  signed.now = 700_000;
  t.match(await finish(`code=x&state=${state}&iss=${iss}`), { code: 'INVALID_REQUEST', message: /came too late/ });
  t.match((await signed.servers.get('crm')).signIn, undefined);
});

t.test('a token that ends is renewed with a refresh token that is used once, also by several processes at a time', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { stand, call, approve, expire, another, auth } = signed;
  await signIn(signed, { clientId: 'person' });
  await approve();
  const others = [another(), another()];
  for (const host of others) await call('warm', host);
  for (let round = 1; round <= 3; round += 1) {
    expire();
    t.strictSame(await Promise.all([undefined, ...others, ...others].map((host, n) => call(String(n), host))), ['0', '1', '2', '3', '4']);
    t.equal(stand.grants('refresh_token').length, round);
  }
  t.match(auth().oauth?.['crm']?.[stand.issuer], { refreshToken: [...stand.refresh.keys()].at(-1) });
});

t.test('a sign-in that can not be renewed says so everywhere, its calls are not begun, and a new one helps', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { stand, servers, host, call, outcome, approve, expire, tools } = signed;
  await signIn(signed, { clientId: 'person' });
  await approve();
  await call('x');
  stand.refresh.clear();
  expire();
  const ran = tools.calls().length;
  const again = /its sign-in has ended \(invalid_grant\); sign in again: `blockhouse tools login crm`/;
  t.match(await failure(outcome('y')), { code: 'TOOL_NOT_BEGUN', message: again });
  t.match(await failure(outcome('y')), { code: 'TOOL_NOT_BEGUN', message: again });
  t.equal(stand.grants('refresh_token').length, 1, 'the second call asks nobody');
  t.equal(tools.calls().length, ran);
  t.match(await servers.get('crm'), { state: 'failed', problem: /Its sign-in has ended \(invalid_grant\); sign in again/, signIn: { state: 'ended' } });
  t.match((await host.catalogue(['crm'])).problems, [{ server: 'crm', problem: again }], 'why');
  t.match(
    await servers.findings(),
    [{ severity: 'warning', problem: /its sign-in has ended \(invalid_grant\), so none/, fix: /blockhouse tools login crm/ }],
    'the doctor',
  );
  await signIn(signed, { clientId: 'person' });
  t.equal(await call('z'), 'z');
});

t.test('an authorization server that is away ends no sign-in', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { stand, call, outcome, approve, expire } = signed;
  await signIn(signed, { clientId: 'person' });
  await approve();
  for (const answer of [
    { status: 503, body: 'away' },
    { status: 429, body: { error: 'slow_down' } },
    { status: 400, body: { error: 'temporarily_unavailable' } },
  ]) {
    expire();
    stand.answer = answer;
    t.match(await failure(outcome('x')), { code: 'TOOL_NOT_BEGUN', message: /has refused/ });
  }
  t.equal(await call('y'), 'y');
});

t.test('a call that needs more rights says so, and the next sign-in asks for them besides', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { stand, tools, outcome, approve, call } = signed;
  await signIn(signed, { clientId: 'person' });
  await approve();
  tools.needs = 'write:all';
  const fault = await failure(outcome('x'));
  t.match(fault, { code: 'TOOL_NOT_BEGUN', message: /more rights .*insufficient_scope\); sign in again: `blockhouse tools login crm`/ });
  t.notMatch(fault.message, /write/, 'no word of the server is in a command');
  const { url } = await begin(signed, { clientId: 'person' });
  t.equal(new URL(url ?? '').searchParams.get('scope'), 'read write:all');
  await signed.servers.finishSignIn('crm', { query: await browsed(url) });
  t.equal(await call('y'), 'y');
  t.equal(stand.grants('refresh_token').length, 0);
});

t.test('who signs out, or removes the server, gives the tokens back and has none any more', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { stand, servers, auth } = signed;
  await signIn(signed, { clientId: 'person' });
  const tokens = [[...stand.refresh.keys()][0], [...stand.tokens.keys()][0]];
  t.equal(await servers.signOut('crm'), undefined);
  t.strictSame(stand.revoked, tokens);
  t.strictSame(auth(), {});
  await signIn(signed, { clientId: 'person' });
  await servers.remove('crm');
  t.equal(stand.revoked.length, 4);
  t.strictSame(auth(), {});
  const deaf = await signedHost(t, { ...NOBODY, metadata: ({ revocation_endpoint: _, ...all }) => all });
  await signIn(deaf, { clientId: 'person' });
  t.match(await deaf.servers.signOut('crm'), /takes none back, so they hold until they end/);
  t.strictSame(deaf.auth(), {});
});

t.test('who signs out while the sign-in is being finished has no tokens afterwards, and those that were given are given back', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { stand, servers, auth } = signed;
  const query = await browsed((await begin(signed, { clientId: 'person' })).url);
  const { asked, give } = heldTokens(stand);
  const finished = servers.finishSignIn('crm', { query });
  await asked;
  const out = servers.signOut('crm');
  setTimeout(give, 100); // a sign-out that did not wait would be through
  await finished;
  await out;
  t.strictSame(auth(), {});
  t.strictSame(stand.revoked, [[...stand.refresh.keys()][0], [...stand.tokens.keys()][0]]);
});

t.test('a secret that was stored for another issuer since goes to none that was named before', async (t) => {
  const signed = await signedHost(t, { oauth: (issuer) => ({ grant: 'authorization_code', clientId: 'robot', issuer }) });
  const { servers, stand, write, auth } = signed;
  await servers.setSecret('crm', 'client_secret', { value: ROBOT_SECRET });
  await signIn(signed);
  const query = await browsed((await begin(signed)).url);
  write({ grant: 'authorization_code', clientId: 'other', issuer: 'https://other.example' });
  await servers.setSecret('crm', 'client_secret', { value: 'of-the-other-issuer' });
  const before = stand.asked.length;
  t.match(await failure(servers.finishSignIn('crm', { query })), { code: 'INVALID_REQUEST', message: /is for other settings of the server; begin again/ });
  t.match(await servers.signOut('crm'), /could not be given back: its client has another secret by now/);
  t.strictSame(stand.asked.slice(before), []);
  t.strictSame(auth().oauth, undefined);
});

t.test('where no file names the issuer, a secret that was stored since goes to none that was signed in to before', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { servers, stand, approve, call, outcome, expire, auth } = signed;
  const OTHER = 'of-the-other-issuer';
  const hasOther = (): boolean =>
    stand.asked.some(({ authorization = '', body }) => `${Buffer.from(authorization.replace(/^Basic /, ''), 'base64')} ${body}`.includes(OTHER));
  await servers.setSecret('crm', 'client_secret', { value: ROBOT_SECRET });
  await signIn(signed, { clientId: 'robot' });
  await approve();
  expire();
  t.equal(await call('renewed'), 'renewed', 'with the secret of the sign-in');
  const query = await browsed((await begin(signed, { clientId: 'robot' })).url);
  await servers.setSecret('crm', 'client_secret', { value: OTHER });
  expire();
  t.match(await failure(outcome('x')), { code: 'TOOL_NOT_BEGUN', message: /made with another secret .*; sign in again: `blockhouse tools login crm`/ });
  t.match(await failure(servers.finishSignIn('crm', { query })), { message: /made with another secret/ });
  t.match(await servers.signOut('crm'), /could not be given back: its client has another secret by now/);
  t.notOk(hasOther());
  t.strictSame(auth().oauth, undefined);
});

t.test('a token of a sign-in that the server returns is masked', async (t) => {
  const signed = await signedHost(t, NOBODY);
  const { stand, approve, call, auth } = signed;
  await signIn(signed, { clientId: 'person' });
  await approve();
  const { accessToken, refreshToken } = auth().oauth?.['crm']?.[stand.issuer] ?? {};
  t.equal(await call(`Bearer ${accessToken}, ${refreshToken}.`), 'Bearer [redacted], [redacted].');
  signed.expire();
  t.equal(await call('renewed'), 'renewed');
  t.equal(await call(String(auth().oauth?.['crm']?.[stand.issuer]?.['accessToken'])), '[redacted]');
});

t.test('a program signs in by the same command', async (t) => {
  const signed = await signedHost(t);
  t.match(await failure(begin(signed, { issuer: undefined })), { message: /its secret crm\.client_secret is not stored/ });
  await signed.servers.setSecret('crm', 'client_secret', { value: 'wrong' });
  t.match(await failure(begin(signed, { issuer: undefined })), { message: /\(invalid_client\)/ });
  await signed.servers.setSecret('crm', 'client_secret', { value: 'robot+secret/1 ' });
  t.match(await begin(signed, { issuer: undefined }), { url: null, issuer: signed.stand.issuer });
  t.ok(signed.auth().oauth);
  await signed.servers.setSecret('crm', 'client_secret', { value: 'another' });
  t.notOk(signed.auth().oauth, 'a token that was got with another secret is forgotten');
});
