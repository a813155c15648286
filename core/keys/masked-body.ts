// A body as it is kept while its key is debugged: without secrets. Pure: no I/O.
//
// by-what-they-are: secrets that this server knows, in any spelling, and what has the shape of a key.
// by-name: values of fields whose names sound like that of a key, also within JSON that stands in a text. Short ones are no secrets: pieces of text are called `token`, too.
import { redact } from '../base/redact.ts';
import { knownSecrets } from '../gateway/known-secrets.ts';
import { soundsSecret } from '../schemas/secret-fields.ts';

const REDACTED = '[redacted]';
/** A shorter one of those that no call has stands in texts by chance. */
const SHORTEST = 8;
/** A field with a text of at least eight characters, which may be cut. Each character is read once. */
const FIELD = /"([A-Za-z][\w .-]{1,63})"(\s*:\s*)"((?:[^"\\]|\\.){8,})/g;
const FIELD_IN_TEXT = /\\"([A-Za-z][\w .-]{1,63})\\"(\s*:\s*)\\"([^"\\]{8,})/g;

type Known = Parameters<typeof knownSecrets>;

/** Who knows all secrets of auth.json. */
interface SecretTexts {
  secretTexts(): readonly string[];
}

/** What takes secrets out of bodies, with those that the server knows now. Throws ADAPTER_NOT_CONFIGURED while auth.json can't be read. */
export function maskerOf(upstreams: Known[0], credentials: (NonNullable<Known[1]> & SecretTexts) | undefined, env: Known[2]): (text: string) => string {
  const others = (credentials?.secretTexts() ?? []).filter(({ length }) => length >= SHORTEST); // of servers of tools, hooks and targets
  const secrets = [...new Set([...knownSecrets(upstreams, credentials, env), ...others])];
  return (text) => maskedBody(text, secrets);
}

/** `secrets` are those that the server knows. */
export function maskedBody(text: string, secrets: readonly string[]): string {
  return redact(withoutNamed(text), secrets);
}

/** by-name. */
function withoutNamed(text: string): string {
  const without = (quote: string) => (field: string, name: string, between: string) =>
    soundsSecret(name) ? `${quote}${name}${quote}${between}${quote}${REDACTED}` : field;
  return text.replace(FIELD, without('"')).replace(FIELD_IN_TEXT, without('\\"'));
}
