// What a refusal says. The official client reads the same headers, as a second opinion.
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import t from 'tap';
import { challengeIn, joinedScopes, scopeOf } from '../../../../adapters/tools/oauth/challenge.ts';

t.test('a challenge is read as the official client reads it', async (t) => {
  for (const header of [
    'Bearer',
    'Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource/mcp"',
    'bearer resource_metadata="https://a.example/x", scope="files:read files:write"',
    'Bearer error="insufficient_scope", scope="a b", resource_metadata="https://a.example/x", error_description="More, please"',
    'Bearer realm="x",scope=one,error=invalid_token',
  ]) {
    const official = extractWWWAuthenticateParams(new Response(null, { status: 401, headers: { 'www-authenticate': header } }));
    const { metadata, scope, error } = challengeIn(header) ?? {};
    t.strictSame([metadata, scope, error], [official.resourceMetadataUrl?.href, official.scope, official.error], header);
  }
});

t.test('what is no challenge, or no part of one, is left alone', async (t) => {
  t.equal(challengeIn(undefined), undefined);
  t.equal(challengeIn('Basic realm="x"'), undefined);
  t.equal(challengeIn('Bearertoken scope="x"'), undefined);
  t.match(challengeIn('Basic realm="x", Bearer scope="a"'), { scope: 'a' });
  t.match(challengeIn(['Basic realm="x"', 'Bearer scope="a"']), { scope: 'a' });
  t.match(challengeIn('Bearer x_scope="wrong", scope="right"'), { scope: 'right' });
  t.match(challengeIn('Bearer realm="scope=\\"wrong\\"", scope="right"'), { scope: 'right' });
  t.match(challengeIn('Bearer scope="first", scope="second"'), { scope: 'first' });
  t.match(challengeIn('Bearer scope="a\u0007b"'), { scope: undefined });
  t.match(challengeIn(`Bearer scope="${'a'.repeat(4000)}"`), { scope: undefined });
  t.match(challengeIn(`Bearer ${'x="'.repeat(100_000)}`), {});
});

t.test('scopes are words, and are joined without repetition', async (t) => {
  t.equal(joinedScopes('a b', undefined, 'b c'), 'a b c');
  t.equal(joinedScopes(undefined), undefined);
  for (const bad of ['', ' a', 'a  b', 'a"b', 'a\\b', 'a\nb', 'ä', 1, null]) t.equal(scopeOf(bad), undefined, JSON.stringify(bad));
});
