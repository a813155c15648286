// Signatures of webhooks: those of Standard Webhooks, in and out, and those of GitHub. Pure: no I/O.
//
// one-time: what is compared takes the same time whether it is right from the first byte on or wrong.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** How a delivery is signed. */
export type SignatureStyle = 'standard' | 'github';

/** The headers of a delivery that say who sent it, as they came. */
export interface SignatureHeaders {
  readonly 'webhook-id'?: string | undefined;
  readonly 'webhook-timestamp'?: string | undefined;
  readonly 'webhook-signature'?: string | undefined;
  readonly 'x-hub-signature-256'?: string | undefined;
}

/** A signature of the right form. */
export interface Signed {
  readonly style: SignatureStyle;
  /** What tells deliveries apart, and is covered by the signature; undefined where only the body is. */
  readonly id: string | undefined;
  /** The bytes that are signed before those of the body. */
  readonly prefix: string;
  readonly signatures: readonly Buffer[];
}

/** How far the clocks of the two sides may be apart. */
const TOLERANCE_MS = 300_000;
/** While a sender changes its secret, it signs with both. */
const MAX_SIGNATURES = 8;
const SIGNATURE_BYTES = 32;
const SECRET_PREFIX = 'whsec_';
/** Visible ASCII without a full stop, which ends it in what is signed: with one in it, a part of the body could be taken for the time. */
const ID = /^[!-\-/-~]{1,100}$/;

/** A new secret: `whsec_` and 256 random bits in base64. */
export function newSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`;
}

/** The key of a secret of Standard Webhooks; undefined for a text that is none. */
export function keyOf(secret: string): Buffer | undefined {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const key = Buffer.from(text, 'base64');
  const isWhole = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  return isWhole && key.length >= 24 && key.length <= 64 ? key : undefined;
}

/** The value of `webhook-signature` for what is sent. `timestamp` in seconds. */
export function signWebhook(key: Uint8Array, id: string, timestamp: number, body: Uint8Array): string {
  return `v1,${macOf(key, `${id}.${timestamp}.`, body).toString('base64')}`;
}

/** What the headers say, before the body is read; undefined for none, for a wrong form, and for a time that is too far away. `now` in epoch milliseconds. */
export function signedBy(headers: SignatureHeaders, now: number): Signed | undefined {
  return headers['webhook-signature'] === undefined ? githubSigned(headers['x-hub-signature-256']) : standardSigned(headers, now);
}

function standardSigned(headers: SignatureHeaders, now: number): Signed | undefined {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': given = '' } = headers;
  if (!ID.test(id) || !/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1000) > TOLERANCE_MS) return undefined;
  const signatures = given
    .slice(0, 1000)
    .split(' ')
    .slice(0, MAX_SIGNATURES)
    .flatMap((one) => (one.startsWith('v1,') ? [Buffer.from(one.slice('v1,'.length), 'base64')] : []))
    .filter(({ length }) => length === SIGNATURE_BYTES);
  return signatures.length === 0 ? undefined : { style: 'standard', id, prefix: `${id}.${timestamp}.`, signatures };
}

function githubSigned(given: string | undefined): Signed | undefined {
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(given ?? '') ?? [];
  return hex === undefined ? undefined : { style: 'github', id: undefined, prefix: '', signatures: [Buffer.from(hex, 'hex')] };
}

/** True if one of the signatures is that of the body with this secret. one-time. */
export function isSignedWith(secret: string, { style, prefix, signatures }: Signed, body: Uint8Array): boolean {
  const own = style === 'standard' ? keyOf(secret) : Buffer.from(secret);
  const mac = macOf(own ?? Buffer.alloc(SIGNATURE_BYTES), prefix, body);
  let isRight = false;
  for (const signature of signatures) if (timingSafeEqual(signature, mac)) isRight = true;
  return isRight && own !== undefined;
}

/** What tells a body apart from others. */
export function bodyId(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

function macOf(key: Uint8Array, prefix: string, body: Uint8Array): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}
