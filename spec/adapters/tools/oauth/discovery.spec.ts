// Who signs in for a server, and where we are not led: of real servers over loopback. The official client says where metadata lie, as a second opinion.
import { buildDiscoveryUrls } from '@modelcontextprotocol/client';
import t, { type Test } from 'tap';
import { discovered, type Wanted } from '../../../../adapters/tools/oauth/discovery.ts';
import {
  checkedEndpoint,
  checkedIssuer,
  covers,
  issuerMetadataUrls,
  resourceMetadataUrls,
  resourceOf,
  SignInFault,
} from '../../../../adapters/tools/oauth/places.ts';
import { SignInHttp } from '../../../../adapters/tools/oauth/sign-in-http.ts';
import { resolveNames } from '../../../support/adapter-call.ts';
import { authorizationServer, guardedTools, type GuardedOptions, type StandInOptions } from '../../../support/tools/authorization-server.ts';

const signal = new AbortController().signal;

function http(t: Test): SignInHttp {
  const made = new SignInHttp();
  t.teardown(() => made.close());
  return made;
}

/** What is found out of a server and its authorization server, or why not. */
async function found(t: Test, options: StandInOptions & GuardedOptions = {}, more: (issuer: string) => Partial<Wanted> = (issuer) => ({ issuer })) {
  const stand = await authorizationServer(t, options);
  const tools = await guardedTools(t, stand, options);
  const authority = await discovered(http(t), { url: tools.url, ...more(stand.issuer) }, signal).catch((error: unknown) => {
    if (error instanceof SignInFault) return error.message;
    throw error;
  });
  return { authority, stand, tools };
}

t.test('metadata of an issuer are looked for where the official client looks', async (t) => {
  for (const issuer of ['https://a.example', 'https://a.example/', 'https://a.example/tenant1', 'https://a.example/a/b/', 'https://a.example:8443/x'])
    t.strictSame(
      issuerMetadataUrls(issuer).map(({ href }) => href),
      buildDiscoveryUrls(issuer).map(({ url }) => url.href),
      issuer,
    );
  t.strictSame(
    resourceMetadataUrls('https://a.example/public/mcp').map(({ href }) => href),
    ['https://a.example/.well-known/oauth-protected-resource/public/mcp', 'https://a.example/.well-known/oauth-protected-resource'],
  );
  t.strictSame(
    resourceMetadataUrls('https://a.example/').map(({ href }) => href),
    ['https://a.example/.well-known/oauth-protected-resource'],
  );
});

t.test('a resource is the address without a fragment; a wider one covers it, a foreign one does not', async (t) => {
  t.equal(resourceOf('https://A.example:443/'), 'https://a.example');
  t.equal(resourceOf('https://a.example/mcp?x=1#y'), 'https://a.example/mcp?x=1');
  const url = 'https://a.example/one/mcp';
  for (const wide of ['https://a.example', 'https://a.example/', 'https://a.example/one', url]) t.ok(covers(wide, url), wide);
  for (const other of [
    'https://b.example',
    'http://a.example',
    'https://a.example/on',
    'https://a.example/two',
    'https://a.example/one/mcp/more',
    'x',
    `${url}#y`,
  ])
    t.notOk(covers(other, url), other);
});

t.test('metadata are found at each of the places, and the first that are there count', async (t) => {
  const places: [StandInOptions, string][] = [
    [{}, '/.well-known/oauth-authorization-server'],
    [{ at: () => '/.well-known/openid-configuration' }, '/.well-known/openid-configuration'],
    [{ path: '/t' }, '/.well-known/oauth-authorization-server/t'],
    [{ path: '/t', at: () => '/.well-known/openid-configuration/t' }, '/.well-known/openid-configuration/t'],
    [{ path: '/t', at: () => '/t/.well-known/openid-configuration' }, '/t/.well-known/openid-configuration'],
  ];
  for (const [options, last] of places) {
    const { authority, stand, tools } = await found(t, options);
    t.match(authority, { issuer: stand.issuer, resource: tools.url, scope: 'read', hasS256: true, namesIssuer: true }, last);
    t.equal(stand.asked.at(-1)?.path, last);
  }
});

t.test('a server without metadata is signed in to only at the issuer that the user has named', async (t) => {
  const none = { resource: () => undefined };
  t.match((await found(t, none)).authority, { resource: /\/mcp$/, scope: undefined });
  t.match((await found(t, none, () => ({}))).authority, /does not say who signs in for it/);
});

t.test('metadata that are of another resource, of nobody or of another issuer are not used', async (t) => {
  const cases: [StandInOptions & GuardedOptions, RegExp][] = [
    [{ resource: (_url, issuer) => ({ resource: 'https://bank.example/mcp', authorization_servers: [issuer] }) }, /are those of another resource/],
    [{ resource: (_url, issuer) => ({ authorization_servers: [issuer] }) }, /are those of another resource/],
    [{ resource: (url) => ({ resource: url, authorization_servers: [7] }) }, /name no authorization server/],
    [{ resource: (url) => ({ resource: url }) }, /name no authorization server/],
    [{ resource: (url) => ({ resource: url, authorization_servers: ['https://evil.example'] }) }, /does not name http:.*nothing was sent/],
    [{ metadata: (all) => ({ ...all, issuer: 'https://honest.example' }) }, /are those of another issuer/],
    [{ metadata: (all) => ({ ...all, issuer: `${all['issuer']}/` }) }, /are those of another issuer/],
    [{ metadata: ({ token_endpoint: _, ...all }) => all }, /token_endpoint of its authorization server is no https address/],
    [{ metadata: (all) => ({ ...all, token_endpoint: 'http://tools.example/token' }) }, /token_endpoint of its authorization server is no https address/],
    [{ metadata: (all) => ({ ...all, authorization_endpoint: 'javascript:alert(1)' }) }, /authorization_endpoint of its authorization server is no https/],
    [{ metadata: (all) => ({ ...all, revocation_endpoint: 'https://user:pass@a.example/' }) }, /revocation_endpoint/],
    [{ at: () => '/elsewhere' }, /has no metadata of an authorization server/],
  ];
  for (const [options, message] of cases) t.match((await found(t, options)).authority, message);
});

t.test('what a server names leads nowhere but to the internet, over https: not to this machine, to a private network or to a metadata service', async (t) => {
  const stand = await authorizationServer(t);
  for (const issuer of [
    stand.issuer, // on this machine, and nobody has named it
    'https://localhost:1',
    'https://127.0.0.1:1',
    'https://[::1]:1',
    'https://[::ffff:10.0.0.1]',
    'https://10.0.0.1',
    'https://192.168.1.1/x',
    'https://100.64.0.1',
    'https://169.254.169.254',
    'https://metadata.google.internal',
    'https://0x7f.1',
  ]) {
    const { authority } = await found(t, { resource: (url) => ({ resource: url, authorization_servers: [issuer] }) }, () => ({}));
    t.match(authority, /leads to .*; if you know it and mean it, name it yourself as the issuer/, issuer);
  }
  for (const issuer of [
    'http://auth.example',
    'ftp://auth.example',
    'auth.example',
    'https://auth.example?x',
    'https://auth.example#x',
    'https://u@auth.example',
  ]) {
    const { authority } = await found(t, { resource: (url) => ({ resource: url, authorization_servers: [issuer] }) }, () => ({}));
    t.match(authority, /is named by no https address/, String(issuer));
  }
  const { authority } = await found(t, {}, () => ({ metadata: 'https://10.1.2.3/x' }));
  t.match(authority, /leads to https:\/\/10\.1\.2\.3/, 'the address of its own metadata, too');
  t.strictSame(stand.asked, [], 'nothing was sent there');
});

t.test('a name that leads into a private network is refused at the connection', async (t) => {
  const addresses = ['10.0.0.7', '127.0.0.1', '169.254.169.254', 'fd00::1', '::ffff:127.0.0.1', '192.168.0.9'];
  const named = await guardedTools(t, await authorizationServer(t), {
    resource: (url) => ({ resource: url, authorization_servers: ['https://auth.example'] }),
  });
  const asked = resolveNames(t, () => [{ address: addresses[0] ?? '', family: addresses[0]?.includes(':') === true ? 6 : 4 }]);
  for (; addresses.length > 0; addresses.shift())
    await t.rejects(
      discovered(http(t), { url: named.url }, signal),
      { message: /leads to https:\/\/auth\.example, which is in a private network/ },
      String(addresses[0]),
    );
  t.equal(new Set(asked).size, 1);
});

t.test('addresses in metadata and issuers are https, or on this machine, where only what the user has named may be', async (t) => {
  t.equal(checkedEndpoint('x', 'https://a.example/token?y=1'), 'https://a.example/token?y=1');
  t.equal(checkedIssuer('https://a.example/'), 'https://a.example/', 'letter by letter');
  for (const bad of ['', 'https://a.example/#x', `https://a.example/${'x'.repeat(3000)}`, null])
    t.throws(() => checkedEndpoint('x', bad), { message: /^x of its authorization server is no https address$/ });
});

t.test('an issuer may stand in a command that a person copies: with signs that a shell obeys it is none', async (t) => {
  for (const good of ['https://login.example/tenants/a-b_c.~1/v2.0', 'https://a.example:8443/%7Bx%7D/@me', 'http://[::1]:9000/realms/x'])
    t.equal(checkedIssuer(good), good);
  for (const sign of [';', '$', '`', '(', ')', '|', '&', "'", '"', '<', '>', '\\', '*', '!', ' ', '\n', '\t', '\u001b', '\u202e', 'é'])
    t.throws(() => checkedIssuer(`https://a.example/x${sign}y`), { message: /is named by no https address/ }, sign);
});
