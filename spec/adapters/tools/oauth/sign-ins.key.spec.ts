// A program that proves who it is with a signature (private_key_jwt): of real servers over loopback, judged by an authorization server that believes nothing.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { failure } from '../../../support/tools/server-rig.ts';
import { signedHost, type SignedHost, type SignedOptions } from '../../../support/tools/signed-host.ts';
import { testFolder } from '../../../support/test-folder.ts';

t.setTimeout(60_000);

const KEYS: Readonly<Record<string, KeyObject>> = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  EdDSA: generateKeyPairSync('ed25519').privateKey,
};
const pemOf = (key: KeyObject | undefined): string => String(key?.export({ format: 'pem', type: 'pkcs8' }));
const takesKeys = (metadata: Record<string, unknown>) => ({
  ...metadata,
  token_endpoint_auth_methods_supported: ['private_key_jwt'],
  token_endpoint_auth_signing_alg_values_supported: Object.keys(KEYS),
});
const SIGNER = (issuer: string): object => ({ grant: 'client_credentials', clientId: 'signer', issuer, method: 'private_key_jwt' });

/** A host whose client has registered a key. */
async function signer(t: Test, algorithm: string, options: SignedOptions = {}): Promise<SignedHost> {
  const signed = await signedHost(t, { oauth: SIGNER, metadata: takesKeys, ...options });
  signed.stand.keys.set('signer', createPublicKey(KEYS[algorithm] as KeyObject).export({ format: 'jwk' }));
  return signed;
}

const methodsOf = ({ stand }: SignedHost): unknown[] => stand.grants('client_credentials').map(({ form }) => [...form.keys()].sort());

t.test('a program signs in with a stored key of each kind, once for all calls, and each assertion is another one', async (t) => {
  for (const algorithm of Object.keys(KEYS)) {
    const signed = await signer(t, algorithm);
    const { servers, stand, call, approve, expire, auth, workspace } = signed;
    t.match(await servers.get('crm'), {
      state: 'failed',
      problem: 'Its secret crm.client_key is not stored; store it: `blockhouse tools secret set crm.client_key`.',
      secrets: [{ name: 'crm.client_key', isStored: false }],
    });
    await servers.setSecret('crm', 'client_key', { value: pemOf(KEYS[algorithm]) });
    await approve();
    t.equal(await call('hello'), 'hello');
    expire();
    t.equal(await call('again'), 'again');
    t.strictSame(stand.faults, []);
    t.equal(stand.assertions.size, 2);
    t.strictSame(
      methodsOf(signed)[0],
      ['client_assertion', 'client_assertion_type', 'grant_type', 'resource', 'scope'],
      'nothing else names the client, and no secret goes along',
    );
    t.match(auth().oauth?.['crm']?.[stand.issuer], { method: 'private_key_jwt', clientId: 'signer', algorithm });
    const kept = readFileSync(join(workspace, 'mcp.json'), 'utf8');
    t.notMatch(kept, /PRIVATE/);
    t.notMatch(JSON.stringify([await servers.list(), await servers.get('crm')]), /PRIVATE|client_assertion|at-/);
    await servers.signOut('crm');
    t.equal(stand.revoked.length, 1, 'given back with an assertion of its own');
    t.equal(stand.assertions.size, 3);
    t.strictSame(stand.faults, []);
  }
});

t.test('a key in a file is read for each token, so that another one in its place is used', async (t) => {
  const folder = testFolder(t, { 'key.pem': pemOf(KEYS['EdDSA']) });
  const file = join(folder, 'key.pem');
  const { servers, stand, call, approve, expire } = await signer(t, 'EdDSA', { oauth: (issuer) => ({ ...SIGNER(issuer), keyFile: file, keyId: 'of-2026' }) });
  t.match(await servers.get('crm'), { secrets: [] });
  await approve();
  t.equal(await call('hello'), 'hello');
  const jwt = stand.grants('client_credentials')[0]?.form.get('client_assertion') ?? '';
  t.match(JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString()), { alg: 'EdDSA', kid: 'of-2026' });
  const other = generateKeyPairSync('ed25519');
  writeFileSync(file, pemOf(other.privateKey));
  expire();
  const fault = await failure(call('x'));
  t.match(fault, { code: 'TOOL_NOT_BEGUN', message: /has refused \(invalid_client\): the id, the secret or the key/ });
  t.strictSame(stand.faults, ['signature']);
  stand.keys.set('signer', other.publicKey.export({ format: 'jwk' }));
  t.equal(await call('y'), 'y');
});

t.test('without its key, or where its signature is not taken, nothing is sent and the call is not begun', async (t) => {
  const { servers, stand, approve, call, expire, workspace } = await signer(t, 'ES256', { metadata: (all) => takesKeys({ ...all }) });
  await servers.setSecret('crm', 'client_key', { value: pemOf(KEYS['ES256']) });
  await approve();
  t.equal(await call('x'), 'x');
  const before = stand.grants('client_credentials').length;
  const missing = join(workspace, 'no-key.pem');
  const cases: [object, RegExp][] = [
    [{ keyFile: missing }, /the file of the key of its client can't be read \(.*no-key\.pem: ENOENT\)/],
    [{ keyFile: join(workspace, 'mcp.json') }, /no private key as PEM or JWK/],
  ];
  for (const [change, message] of cases) {
    const signed = await signer(t, 'ES256', { oauth: (issuer) => ({ ...SIGNER(issuer), ...change }) });
    const { definition } = await signed.servers.get('crm');
    t.match(await failure(signed.servers.test('crm', { definition }, new AbortController().signal)), { code: 'TOOL_SERVER_FAILED', message });
    t.strictSame(signed.stand.grants('client_credentials'), []);
  }
  for (const metadata of [
    (all: Record<string, unknown>) => all,
    (all: Record<string, unknown>) => ({ ...takesKeys(all), token_endpoint_auth_signing_alg_values_supported: ['RS256'] }),
  ]) {
    const signed = await signer(t, 'ES256', { metadata });
    await signed.servers.setSecret('crm', 'client_key', { value: pemOf(KEYS['ES256']) });
    const { definition } = await signed.servers.get('crm');
    t.match(await failure(signed.servers.test('crm', { definition }, new AbortController().signal)), { message: /takes no signature of/ });
    t.strictSame(signed.stand.grants('client_credentials'), []);
  }
  expire();
  await servers.setSecret('crm', 'client_key', { value: null });
  t.match(await failure(call('z')), { code: 'TOOL_NOT_BEGUN', message: /crm\.client_key is not stored/ });
  t.equal(stand.grants('client_credentials').length, before);
});

t.test('a stored key is checked when it is given, and a new one takes the token of the one before away', async (t) => {
  const { servers, stand, approve, call, auth } = await signer(t, 'ES256');
  const refused = await failure(servers.setSecret('crm', 'client_key', { value: '-----BEGIN PRIVATE KEY-----\nU0VDUkVU\n-----END PRIVATE KEY-----' }));
  t.match(refused, { code: 'INVALID_REQUEST', message: "value can't be used: the key of its client is no private key as PEM or JWK." });
  await servers.setSecret('crm', 'client_key', { value: JSON.stringify(KEYS['ES256']?.export({ format: 'jwk' })) });
  await approve();
  t.equal(await call('x'), 'x');
  await servers.setSecret('crm', 'client_key', { value: pemOf(KEYS['ES256']) });
  t.strictSame(auth().oauth?.['crm'] ?? {}, {});
  t.equal(await call('y'), 'y');
  t.strictSame(stand.faults, []);
});

t.test('settings that fit no signature are refused with the field', async (t) => {
  const { servers, write, stand } = await signer(t, 'ES256');
  const { issuer } = stand;
  const cases: [object, RegExp][] = [
    [{ method: 'private_key_jwt' }, /the method private_key_jwt needs clientId and issuer, so that it signs for nobody else/],
    [{ method: 'client_secret' }, /oauth\.method client_secret is for the grant client_credentials/i],
    [{ ...SIGNER(issuer), method: undefined, keyFile: '/k.pem' }, /keyFile and keyId are for the method private_key_jwt/],
    [{ ...SIGNER(issuer), method: 'client_secret', keyId: 'k' }, /keyFile and keyId are for the method private_key_jwt/],
    [{ ...SIGNER(issuer), keyFile: 'k.pem' }, /oauth\.keyFile must be a whole path/i],
    [{ ...SIGNER(issuer), method: 'none' }, /settings can't be used: .*method/],
    [{ ...SIGNER(issuer), key: 'x' }, /settings can't be used/],
  ];
  for (const [oauth, problem] of cases) {
    write(oauth);
    t.match(await servers.get('crm'), { state: 'failed', problem });
  }
  write({ ...SIGNER(issuer), keyFile: '~/k.pem' });
  const { definition } = await servers.get('crm');
  t.match(await failure(servers.test('crm', { definition }, new AbortController().signal)), { message: /\/home\/ada\/k\.pem/ });
});

t.test('a person signs in with a client that has a key: codes, renewals and the end are proven by signatures, and by nothing else', async (t) => {
  const PERSON = (issuer: string): object => ({ ...SIGNER(issuer), grant: 'authorization_code' });
  const signed = await signer(t, 'ES256', { oauth: PERSON });
  const { servers, stand, approve, call, expire, auth, write } = signed;
  const redirectURI = 'http://127.0.0.1:4567/callback';
  const begin = () => servers.beginSignIn('crm', { redirectURI }, new AbortController().signal);
  t.match(await failure(begin()), { code: 'TOOL_SERVER_REFUSED', message: /crm\.client_key is not stored/ });
  t.strictSame(stand.asked, [], 'nothing is asked without the key');
  await servers.setSecret('crm', 'client_key', { value: pemOf(KEYS['ES256']) });
  const { url } = await begin();
  t.equal(new URL(url ?? '').searchParams.get('client_id'), 'signer');
  const answer = await fetch(url ?? '', { redirect: 'manual' });
  const shown = await servers.finishSignIn('crm', { query: new URL(answer.headers.get('location') ?? '').search.slice(1) });
  t.match(shown, { signIn: { state: 'signed-in', grant: 'authorization_code' } });
  const proofs = (grant: string) => stand.grants(grant).map(({ form }) => [...form.keys()].sort());
  const proven = ['client_assertion', 'client_assertion_type'];
  t.strictSame(proofs('authorization_code'), [[...proven, 'code', 'code_verifier', 'grant_type', 'redirect_uri', 'resource']]);
  t.match(auth().oauth?.['crm']?.[stand.issuer], { method: 'private_key_jwt', algorithm: 'ES256', accessToken: /^at-/ });
  await approve();
  expire();
  t.equal(await call('hello'), 'hello');
  t.strictSame(proofs('refresh_token'), [[...proven, 'grant_type', 'refresh_token', 'resource']]);
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  stand.keys.set('signer', other.publicKey.export({ format: 'jwk' }));
  expire();
  t.match(await failure(call('x')), { code: 'TOOL_NOT_BEGUN', message: /has refused \(invalid_client\)/ });
  t.strictSame(stand.faults, ['signature']);
  await servers.setSecret('crm', 'client_key', { value: pemOf(other.privateKey) });
  t.equal(await call('y'), 'y', 'with its new key, the sign-in goes on');
  await servers.signOut('crm');
  t.equal(stand.revoked.length, 2);
  t.equal(stand.assertions.size, 5, 'each request has one of its own');
  write({ grant: 'authorization_code', clientId: 'signer', issuer: stand.issuer });
  t.match(await servers.get('crm'), { signIn: { state: 'needed' } }, 'without the method it is another client');
});

t.test('a sign-in of before the key counts for nothing, and a key that its authorization server does not take begins none', async (t) => {
  const signed = await signer(t, 'ES256', { oauth: (issuer) => ({ clientId: 'person', issuer }), metadata: (all) => all });
  const { servers, stand, write } = signed;
  const begin = () => servers.beginSignIn('crm', { redirectURI: 'http://127.0.0.1:4567/callback' }, new AbortController().signal);
  const answer = await fetch((await begin()).url ?? '', { redirect: 'manual' });
  await servers.finishSignIn('crm', { query: new URL(answer.headers.get('location') ?? '').search.slice(1) });
  await servers.setSecret('crm', 'client_key', { value: pemOf(KEYS['ES256']) });
  write({ clientId: 'person', issuer: stand.issuer, method: 'private_key_jwt' });
  t.match(await servers.get('crm'), { state: 'failed', signIn: { state: 'needed' } });
  t.match(await failure(begin()), { code: 'TOOL_SERVER_FAILED', message: /takes no signature of a client/ });
});
