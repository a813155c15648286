// Base URLs as people paste them. Pure: no I/O.
import type { ResolvedSettings } from '../core/index.ts';

/** The absolute URL of `path` below `base`, with one slash between them. `strip` removes an API version that people paste with the base. */
export function joinURL(base: string, path: string, strip?: RegExp): URL {
  const url = new URL(base);
  let prefix = url.pathname.replace(/\/+$/, '');
  if (strip !== undefined) prefix = prefix.replace(strip, '');
  return new URL(`${url.origin}${prefix}${path}`);
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
