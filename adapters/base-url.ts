// Base URLs as people paste them. Pure: no I/O.

/** The absolute URL of `path` below `base`, whatever slashes stand between them. `strip` removes an API version that people paste along. */
export function joinURL(base: string, path: string, strip?: RegExp): URL {
  const url = new URL(base);
  let prefix = url.pathname.replace(/\/+$/, '');
  if (strip !== undefined) prefix = prefix.replace(strip, '');
  return new URL(`${url.origin}${prefix}${path}`);
}

/** The token limit that the contract sets where a request names none. */
export const DEFAULT_MAX_TOKENS = 4096;
