// Base URLs as people paste them. Pure: no I/O.
import type { ResolvedSettings } from '../../core/index.ts';

/** URLs that have been joined, by base and path: a gateway calls the same few all day, and to parse one takes a microsecond. */
const joined = new Map<string, URL>();
const MAX_JOINED = 256;

/** The absolute URL of `path` below `base`, with one slash between them. `strip` removes an API version that people paste with the base. It must not be changed. */
export function joinURL(base: string, path: string, strip?: RegExp): URL {
  const name = `${base}\n${path}\n${strip?.source ?? ''}`;
  const known = joined.get(name);
  if (known !== undefined) return known;
  const url = new URL(base);
  let prefix = url.pathname.replace(/\/+$/, '');
  if (strip !== undefined) prefix = prefix.replace(strip, '');
  const made = new URL(`${url.origin}${prefix}${path}`);
  if (joined.size === MAX_JOINED) joined.clear();
  joined.set(name, made);
  return made;
}

/** Runs `work` once for each settings object and keeps the result: the gateway passes the same object until a setting changes. */
export function perSettings<T>(work: (settings: ResolvedSettings) => T): (settings: ResolvedSettings) => T {
  const known = new WeakMap<ResolvedSettings, { readonly result: T }>();
  return (settings) => {
    let kept = known.get(settings);
    if (kept === undefined) {
      kept = { result: work(settings) };
      known.set(settings, kept);
    }
    return kept.result;
  };
}
