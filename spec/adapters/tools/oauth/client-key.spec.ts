// Keys of clients and what they sign, judged by another implementation (WebCrypto).
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { algorithmAt, assertionOf, clientKeyIn, keyInFile, looksLikeKey } from '../../../../adapters/tools/oauth/client-key.ts';
import { judged } from '../../../support/tools/assertion-judge.ts';
import { failure } from '../../../support/tools/server-rig.ts';
import { testFolder } from '../../../support/test-folder.ts';

const NOW = Date.parse('2026-11-28T12:00:00.700Z');
const PAIRS = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  EdDSA: generateKeyPairSync('ed25519').privateKey,
} as const;
/** Public keys of somebody else. */
const OTHERS = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' }),
  EdDSA: generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }),
} as const;
const pem = (key: KeyObject, type: 'pkcs8' | 'sec1' | 'pkcs1' = 'pkcs8'): string => String(key.export({ format: 'pem', type: type as 'pkcs8' }));

function forms(algorithm: keyof typeof PAIRS): [string, string][] {
  const key = PAIRS[algorithm];
  const own = algorithm === 'ES256' ? pem(key, 'sec1') : algorithm === 'RS256' ? pem(key, 'pkcs1') : pem(key);
  return [
    ['PKCS#8', pem(key)],
    ['with its lines joined', pem(key).trim().replace(/\n/g, ' ')],
    ['with Windows lines and words before it', `Bag Attributes\r\n${pem(key).replace(/\n/g, '\r\n')}`],
    ['in its own form', own],
    ['as JWK', JSON.stringify({ ...key.export({ format: 'jwk' }), kid: 'of-jwk' })],
  ];
}

t.test('a key in each form signs what another implementation takes, for this issuer, client and time alone', async (t) => {
  for (const algorithm of ['ES256', 'RS256', 'EdDSA'] as const) {
    const seen = new Set<string>();
    const jwk = createPublicKey(PAIRS[algorithm]).export({ format: 'jwk' });
    const expected = { key: jwk, client: 'robot', issuer: 'https://auth.example/t', now: NOW };
    for (const [form, text] of forms(algorithm)) {
      t.ok(looksLikeKey(text), form);
      const key = clientKeyIn(text);
      t.equal(key.algorithm, algorithm, form);
      t.equal(key.id, form === 'as JWK' ? 'of-jwk' : undefined);
      const jwt = assertionOf(key, { clientId: 'robot', issuer: 'https://auth.example/t', algorithm, keyId: 'k1', now: NOW });
      const { header, claims } = await judged(jwt, { ...expected, seen });
      t.strictSame(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'jti', 'sub'], 'and nothing else');
      t.strictSame(header, { alg: algorithm, typ: 'JWT', kid: 'k1' });
      t.equal(Number(claims['exp']) - Number(claims['iat']), 120);
      const refused = async (other: Partial<Parameters<typeof judged>[1]>) => (await failure(judged(jwt, { ...expected, seen: new Set(), ...other }))).message;
      t.equal(await refused({ now: NOW + 121_000 }), 'exp');
      t.equal(await refused({ now: NOW - 60_000 }), 'iat');
      t.equal(await refused({ issuer: 'https://auth.example' }), 'aud');
      t.equal(await refused({ client: 'other' }), 'iss');
      t.equal(await refused({ seen }), 'jti', 'it is used once');
      t.equal(await refused({ key: OTHERS[algorithm] }), 'signature');
    }
    t.equal(seen.size, forms(algorithm).length, 'each has an id of its own');
  }
});

t.test('without a name of the key, none stands in the header', async (t) => {
  const jwt = assertionOf(clientKeyIn(pem(PAIRS.ES256)), { clientId: 'robot', issuer: 'https://a.example', algorithm: 'ES256', keyId: undefined, now: NOW });
  t.equal(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString(), '{"alg":"ES256","typ":"JWT"}');
});

t.test('what is no key that can be used is refused, and nothing of it is quoted', async (t) => {
  const cases: [string, RegExp][] = [
    [String(PAIRS.ES256.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' })), /has a passphrase/],
    [String(createPublicKey(PAIRS.ES256).export({ format: 'pem', type: 'spki' })), /no private key as PEM or JWK$/],
    [JSON.stringify(createPublicKey(PAIRS.ES256).export({ format: 'jwk' })), /no private key/],
    ['-----BEGIN PRIVATE KEY-----\nU0VDUkVU\n-----END PRIVATE KEY-----', /no private key/],
    ['{"kty":"oct","k":"U0VDUkVU"}', /no private key/],
    ['', /no private key/],
    ['null', /no private key/],
    [pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey), /of a kind that is not used here/],
    [pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey), /of a kind that is not used here/],
    [pem(generateKeyPairSync('x25519').privateKey), /of a kind that is not used here/],
  ];
  for (const [text, message] of cases) {
    t.throws(() => clientKeyIn(text), { message });
    t.throws(() => clientKeyIn(text), { message: /^(?!.*U0VDUkVU)/ });
  }
});

t.test('a file of a key is read each time, and one that can not be read is named with the reason', async (t) => {
  const folder = testFolder(t, { 'a.pem': pem(PAIRS.ES256), large: 'x'.repeat(70_000), dir: {} });
  t.equal((await keyInFile(join(folder, 'a.pem'))).algorithm, 'ES256');
  for (const [name, why] of Object.entries({ none: 'ENOENT', large: 'it is too large', dir: 'it is no file' })) {
    const path = join(folder, name);
    t.equal((await failure(keyInFile(path))).message, `the file of the key of its client can't be read (${path}: ${why})`);
  }
});

const GROWN = '/proc/kallsyms'; // the system says that it has no bytes, and it has millions

t.test('of a file that is larger than the system says, no more is read than of others', { skip: !existsSync(GROWN) && `needs ${GROWN}` }, async (t) => {
  t.equal((await failure(keyInFile(GROWN))).message, `the file of the key of its client can't be read (${GROWN}: it is too large)`);
});

t.test('an authorization server that does not take the signature of a key is sent none', async (t) => {
  const [es, ed] = [clientKeyIn(pem(PAIRS.ES256)), clientKeyIn(pem(PAIRS.EdDSA))];
  t.equal(algorithmAt(es, undefined, undefined), 'ES256');
  t.equal(algorithmAt(es, ['client_secret_basic', 'private_key_jwt'], ['RS256', 'ES256']), 'ES256');
  t.equal(algorithmAt(ed, ['private_key_jwt'], ['Ed25519']), 'Ed25519');
  t.equal(algorithmAt(ed, ['private_key_jwt'], ['Ed25519', 'EdDSA']), 'EdDSA');
  t.throws(() => algorithmAt(es, ['client_secret_basic'], ['ES256']), { message: /takes no signature of a client/ });
  t.throws(() => algorithmAt(es, ['private_key_jwt'], ['RS256']), { message: /takes no signature of the key of its client \(ES256\)/ });
});
