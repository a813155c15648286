// The private key with which Blockhouse proves at an authorization server which client it is, and what it signs (RFC 7523, `private_key_jwt`).
//
// own-audience: what is signed names the issuer, as it names itself, and nobody else, so that no other authorization server can use it. It is signed for one request: a minute or two, and an id
//   that does not come again.
// bounded-file: of a file, so much is read at most, whatever the system says of its size, and a pipe that takes its place is not waited for. It may be a link, as mounted secrets are.
// no-words: of a key that can't be read nothing is quoted.
import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { isObject, tryParseJson } from '../../../core/base/json.ts';
import { SignInFault } from './places.ts';

/** A key, with the algorithm that it signs with. */
export interface ClientKey {
  readonly key: KeyObject;
  readonly algorithm: 'ES256' | 'RS256' | 'EdDSA';
  /** Its name at the authorization server, where it says one itself (a JWK). */
  readonly id: string | undefined;
}

/** What an assertion says. */
export interface Assertion {
  readonly clientId: string;
  /** own-audience. */
  readonly issuer: string;
  /** As the authorization server calls it. */
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A clock may be behind by some of it. */
const LIFETIME_S = 120;
const MAX_FILE_BYTES = 65_536;
const PEM = /-----BEGIN ((?:EC |RSA )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;
const TYPES: Readonly<Record<string, 'pkcs8' | 'sec1' | 'pkcs1'>> = { 'PRIVATE KEY': 'pkcs8', 'EC PRIVATE KEY': 'sec1', 'RSA PRIVATE KEY': 'pkcs1' };

/** True for a text that is meant as a private key. */
export function looksLikeKey(text: string): boolean {
  return text.includes('PRIVATE KEY-----') || /^\s*\{/.test(text);
}

/** A private key as PEM, also with its lines joined, or as JWK. Throws a SignInFault (no-words). */
export function clientKeyIn(text: string): ClientKey {
  if (/ENCRYPTED/.test(text)) throw new SignInFault('the key of its client has a passphrase, with which it can not be used; give it without one');
  const jwk = tryParseJson(text);
  const id = isObject(jwk) && typeof jwk['kid'] === 'string' ? jwk['kid'] : undefined;
  let key: KeyObject;
  try {
    const [, label = '', base64 = ''] = PEM.exec(text) ?? [];
    key = isObject(jwk)
      ? createPrivateKey({ key: jwk as never, format: 'jwk' })
      : createPrivateKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: TYPES[label] ?? 'pkcs8' });
  } catch {
    throw new SignInFault('the key of its client is no private key as PEM or JWK'); // no-words
  }
  return { key, algorithm: algorithmOf(key), id };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): ClientKey['algorithm'] {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048) return 'RS256';
  throw new SignInFault(
    'the key of its client is of a kind that is not used here; take EC P-256 (ES256), RSA with 2048 bits or more (RS256), or Ed25519 (EdDSA)',
  );
}

/** The key in a file. Rejects with a SignInFault that names the file. */
export async function keyInFile(path: string): Promise<ClientKey> {
  let text: string;
  try {
    text = await boundedText(path);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new SignInFault(`the file of the key of its client can't be read (${path}: ${why})`, { cause: error });
  }
  return clientKeyIn(text);
}

/** bounded-file. Rejects with why it can't be read. */
async function boundedText(path: string): Promise<string> {
  if (!(await stat(path)).isFile()) throw new Error('it is no file'); // to open a device may do something
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is no file');
    const bytes = Buffer.alloc(MAX_FILE_BYTES + 1);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read) ({ bytesRead: read } = await file.read(bytes, length, bytes.length - length));
    if (length > MAX_FILE_BYTES) throw new Error('it is too large');
    return bytes.toString('utf8', 0, length);
  } finally {
    await file.close();
  }
}

/** How the authorization server calls the algorithm of a key. Throws a SignInFault where it takes none of its signatures. */
export function algorithmAt({ algorithm }: ClientKey, methods: readonly string[] | undefined, algorithms: readonly string[] | undefined): string {
  if (methods?.includes('private_key_jwt') === false) throw new SignInFault('its authorization server takes no signature of a client (private_key_jwt)');
  const names = algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [algorithm]; // RFC 9864 has the second one
  const name = algorithms === undefined ? algorithm : names.find((one) => algorithms.includes(one));
  if (name === undefined) throw new SignInFault(`its authorization server takes no signature of the key of its client (${algorithm})`);
  return name;
}

/** What proves who the client is, for one request (own-audience). */
export function assertionOf({ key, algorithm: own }: ClientKey, { clientId, issuer, algorithm, keyId, now }: Assertion): string {
  const iat = Math.floor(now / 1000);
  const claims = { iss: clientId, sub: clientId, aud: issuer, iat, exp: iat + LIFETIME_S, jti: randomBytes(18).toString('base64url') };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })}.${part(claims)}`;
  const signature = sign(own === 'EdDSA' ? null : 'sha256', Buffer.from(text), own === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' } : key);
  return `${text}.${signature.toString('base64url')}`;
}
