// Removes secrets from texts that come back from providers. Pure: no I/O.

/** Shapes of keys, for secrets that only the provider knows (a part of a key, a signed URL). */
const KEY_SHAPES = [
  /\b(sk|pk|rk)-[A-Za-z0-9_*-]{8,}/g,
  /\bAIza[0-9A-Za-z_-]{20,}/g,
  /\b(AKIA|ASIA)[0-9A-Z]{12,}/g,
  /\bBearer\s+(?=[^\s"']*\d)[^\s"']{8,}/gi, // a digit tells a token from "Bearer authentication"
  /([?&](key|X-Amz-Signature|X-Amz-Security-Token)=)[^&\s"']+/gi,
];

/** Replaces every one of `secrets`, and everything that looks like a key, with "[redacted]". */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  const longestFirst = secrets.toSorted((a, b) => b.length - a.length); // a secret may be the beginning of another
  for (const secret of longestFirst) if (secret.length >= 4) clean = clean.replaceAll(secret, '[redacted]');
  for (const shape of KEY_SHAPES)
    clean = clean.replace(shape, (_match, prefix: unknown) => (typeof prefix === 'string' && prefix.endsWith('=') ? `${prefix}[redacted]` : '[redacted]'));
  return clean;
}
