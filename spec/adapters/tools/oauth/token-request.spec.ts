// How a client proves who it is, and what is taken of an answer.
import t, { type Test } from 'tap';
import { SignInFault } from '../../../../adapters/tools/oauth/places.ts';
import { SignInHttp } from '../../../../adapters/tools/oauth/sign-in-http.ts';
import { authMethodFor, RefusedGrant, revoked, tokensFor, type TokenPlace } from '../../../../adapters/tools/oauth/token-request.ts';
import { type AuthorizationServer, authorizationServer, ROBOT_SECRET } from '../../../support/tools/authorization-server.ts';

const signal = new AbortController().signal;

async function rig(t: Test, more: Partial<TokenPlace> = {}): Promise<{ http: SignInHttp; stand: AuthorizationServer; place: TokenPlace }> {
  const stand = await authorizationServer(t);
  const http = new SignInHttp();
  t.teardown(() => http.close());
  const place: TokenPlace = {
    endpoint: `${stand.origin}/token`,
    method: 'client_secret_basic',
    client: { clientId: 'robot', secret: ROBOT_SECRET },
    named: new Set([stand.origin]),
    ...more,
  };
  return { http, stand, place };
}

t.test('a secret goes as the metadata say, and is encoded first', async (t) => {
  t.equal(authMethodFor(false, undefined), 'none');
  t.equal(authMethodFor(true, undefined), 'client_secret_basic');
  t.equal(authMethodFor(true, ['client_secret_post', 'client_secret_basic']), 'client_secret_basic');
  t.equal(authMethodFor(true, ['client_secret_post']), 'client_secret_post');
  t.throws(() => authMethodFor(true, ['private_key_jwt']), { message: /takes no secret of a client/ });
  for (const method of ['client_secret_basic', 'client_secret_post'] as const) {
    const { http, stand, place } = await rig(t, { method });
    t.match(await tokensFor(http, place, { grant_type: 'client_credentials', scope: undefined }, signal), { accessToken: /^at-/, lifeMs: 3_600_000 });
    const [asked] = stand.asked;
    t.equal(asked?.authorization !== undefined, method === 'client_secret_basic');
    t.equal(asked?.form.get('client_secret'), method === 'client_secret_post' ? ROBOT_SECRET : null);
    t.notOk(asked?.form.has('scope'));
  }
});

t.test('of an answer only what it should have is taken', async (t) => {
  const { http, stand, place } = await rig(t);
  const ask = (body: unknown): ReturnType<typeof tokensFor> => {
    stand.answer = { status: 200, body };
    return tokensFor(http, place, { grant_type: 'client_credentials' }, signal);
  };
  const token = { access_token: 'abc.d~e/f+g=', token_type: 'bearer' };
  t.strictSame(await ask({ ...token }), { accessToken: 'abc.d~e/f+g=', refreshToken: undefined, lifeMs: undefined, scope: undefined });
  t.match(await ask({ ...token, expires_in: '60', scope: 'a b', refresh_token: 'r t' }), { lifeMs: 60_000, scope: 'a b', refreshToken: 'r t' });
  t.match(await ask({ ...token, expires_in: -1, scope: 'a  b', refresh_token: 'r\nt' }), { lifeMs: undefined, scope: undefined, refreshToken: undefined });
  t.match(await ask({ ...token, expires_in: 1e300 }), { lifeMs: 315_360_000_000 });
  for (const bad of [
    {},
    { access_token: 'x' },
    { ...token, access_token: '' },
    { ...token, access_token: 'ä' },
    { ...token, access_token: 'x'.repeat(20_000) },
  ])
    await t.rejects(ask(bad), { message: /no token that can be used/ }, JSON.stringify(bad).slice(0, 60));
});

t.test('a token is given back, and a refusal has its code alone', async (t) => {
  const { http, stand, place } = await rig(t);
  await revoked(http, { ...place, endpoint: `${stand.origin}/revoke` }, 'rt-1', 'refresh_token', signal);
  t.strictSame(stand.revoked, ['rt-1']);
  stand.answer = { status: 400, body: { error: 'invalid_grant', error_description: 'SECRET WORDS' } };
  const error = await tokensFor(http, place, { grant_type: 'refresh_token' }, signal).catch((fault: unknown) => fault);
  t.ok(error instanceof RefusedGrant && error instanceof SignInFault);
  t.match(error, { code: 'invalid_grant', message: 'its authorization server has refused (invalid_grant)' });
});
