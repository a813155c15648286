// What a server of tools says when it refuses a request: `WWW-Authenticate` with the scheme Bearer (RFC 6750, RFC 9728). Pure: no I/O.

/** The parameters of a challenge. All is the server's word. */
export interface Challenge {
  /** Where the metadata of the resource are. */
  readonly metadata?: string | undefined;
  readonly scope?: string | undefined;
  readonly error?: string | undefined;
}

const SCHEME = /(?:^|,)\s*bearer(?=\s|$|,)/i;
/** A parameter: a quoted text, or a word. */
const PARAMETER = /^[\s,]*([A-Za-z][\w-]{0,63})\s*=\s*(?:"((?:[^"\\]|\\.){0,4096})"|([^\s,"]{1,4096}))/;
const MAX_HEADER = 16_384;
/** RFC 6749 (3.3): words of visible characters. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const MAX_SCOPE = 2048;

/** Undefined where there is no challenge of Bearer. Of a parameter that comes twice, the first counts. */
export function challengeIn(header: string | readonly string[] | undefined): Challenge | undefined {
  const text = (typeof header === 'string' ? header : (header ?? []).join(', ')).slice(0, MAX_HEADER);
  const begin = SCHEME.exec(text);
  if (begin === null) return undefined;
  const found = new Map<string, string>();
  let rest = text.slice(begin.index + begin[0].length);
  for (let match = PARAMETER.exec(rest); match !== null; match = PARAMETER.exec(rest)) {
    const [whole, name = '', quoted, word = ''] = match;
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), quoted === undefined ? word : quoted.replace(/\\(.)/g, '$1'));
    rest = rest.slice(whole.length);
  }
  return { metadata: found.get('resource_metadata'), scope: scopeOf(found.get('scope')), error: found.get('error') };
}

/** A scope as it may be asked for; undefined for what is none. */
export function scopeOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_SCOPE && SCOPE.test(value) ? value : undefined;
}

/** All words of both, each once. */
export function joinedScopes(...scopes: readonly (string | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap((scope) => scope?.split(' ') ?? []));
  return words.size === 0 ? undefined : [...words].join(' ');
}
