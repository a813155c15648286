// Judges what a client has signed (RFC 7523), as an authorization server must. Not with the functions that have signed it: WebCrypto reads the signature.
import { webcrypto } from 'node:crypto';

export interface Expected {
  /** The public key that the client has registered. */
  readonly key: webcrypto.JsonWebKey;
  readonly client: string;
  readonly issuer: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Ids that have come before. */
  readonly seen: Set<string>;
}

const ALGORITHMS = {
  ES256: [
    { name: 'ECDSA', namedCurve: 'P-256' },
    { name: 'ECDSA', hash: 'SHA-256' },
  ],
  RS256: [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, { name: 'RSASSA-PKCS1-v1_5' }],
  EdDSA: [{ name: 'Ed25519' }, { name: 'Ed25519' }],
} as const;
const KINDS = { ES256: 'EC', RS256: 'RSA', EdDSA: 'OKP' } as const;
const MAX_LIFE_S = 300;
const SKEW_S = 5;

/** The client of an assertion, before it is believed. */
export function subjectOf(jwt: string): string {
  const claims = partOf(jwt.split('.')[1] ?? '');
  return String(claims['sub']);
}

/** Rejects with an Error that says what is wrong. */
export async function judged(jwt: string, { key, client, issuer, now, seen }: Expected): Promise<{ readonly header: Part; readonly claims: Part }> {
  const parts = jwt.split('.');
  const demand = (isRight: boolean, what: string): void => {
    if (!isRight) throw new Error(what);
  };
  demand(parts.length === 3 && parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part)), 'form');
  const [head = '', body = '', signature = ''] = parts;
  const [header, claims] = [partOf(head), partOf(body)];
  const algorithm = header['alg'] as keyof typeof ALGORITHMS;
  demand(algorithm in ALGORITHMS && key.kty === KINDS[algorithm], 'alg');
  demand(header['typ'] === 'JWT' && !('crit' in header), 'header');
  const [imports, verifies] = ALGORITHMS[algorithm];
  const imported = await webcrypto.subtle.importKey('jwk', key, imports, false, ['verify']);
  const isSigned = await webcrypto.subtle.verify(verifies, imported, Buffer.from(signature, 'base64url'), Buffer.from(`${head}.${body}`));
  demand(isSigned, 'signature');
  const { iss, sub, aud, exp, iat, jti } = claims;
  demand(iss === client, 'iss');
  demand(sub === client, 'sub');
  demand(aud === issuer, 'aud'); // one text: an audience of several could be used elsewhere
  demand(Number.isInteger(exp) && Number(exp) * 1000 > now, 'exp');
  demand(Number.isInteger(iat) && Number(iat) <= now / 1000 + SKEW_S && Number(exp) - Number(iat) <= MAX_LIFE_S, 'iat');
  demand(typeof jti === 'string' && jti.length >= 16 && !seen.has(jti), 'jti');
  seen.add(String(jti));
  return { header, claims };
}

type Part = Readonly<Record<string, unknown>>;

function partOf(text: string): Part {
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Part;
}
