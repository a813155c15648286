// Finds the route of a method and a path. Pure: no I/O.
import type { Route } from './wire/route.ts';

/** The part of a route that finding it needs. */
export type Findable = Pick<Route, 'method' | 'path'>;

/** A route with the decoded parameters of the path. */
export interface Match<R extends Findable> {
  readonly route: R;
  readonly params: Readonly<Record<string, string>>;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** Exact paths first, then patterns with `:name` parts in the order of the table. A last part `:name*` takes the rest of the path, slashes included. */
export class Router<R extends Findable> {
  readonly #exact = new Map<string, Map<string, R>>();
  /** Of the patterns, by their path. */
  readonly #methodsOf = new Map<string, Map<string, R>>();
  readonly #patterns: { readonly segments: readonly string[]; readonly byMethod: Map<string, R> }[] = [];

  constructor(routes: readonly R[]) {
    for (const route of routes) this.#add(route);
  }

  /** The route; or the methods that the path has, when only the method is wrong; or undefined when no route has this path. HEAD finds the GET route. */
  find(method: string, path: string): Match<R> | { readonly allow: readonly string[] } | undefined {
    const exact = this.#exact.get(path);
    const found = exact === undefined ? this.#findPattern(path) : { byMethod: exact, params: NO_PARAMS };
    if (found === undefined) return undefined;
    const route = found.byMethod.get(method === 'HEAD' ? 'GET' : method);
    if (route === undefined) return { allow: allowed(found.byMethod) };
    return { route, params: found.params };
  }

  #add(route: R): void {
    if (!route.path.includes(':')) {
      const methods = this.#exact.get(route.path) ?? new Map<string, R>();
      this.#exact.set(route.path, methods.set(route.method, route));
      return;
    }
    const byMethod = this.#methodsOf.get(route.path) ?? new Map<string, R>();
    if (byMethod.size === 0) {
      this.#methodsOf.set(route.path, byMethod);
      this.#patterns.push({ segments: route.path.split('/'), byMethod });
    }
    byMethod.set(route.method, route);
  }

  #findPattern(path: string): { byMethod: Map<string, R>; params: Record<string, string> } | undefined {
    const given = path.split('/');
    for (const { segments, byMethod } of this.#patterns) {
      const params = matchSegments(segments, given);
      if (params !== undefined) return { byMethod, params };
    }
    return undefined;
  }
}

function allowed(byMethod: ReadonlyMap<string, unknown>): string[] {
  const methods = [...byMethod.keys()];
  return methods.includes('GET') ? [...methods, 'HEAD', 'OPTIONS'] : [...methods, 'OPTIONS'];
}

function matchSegments(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const takesRest = segments.at(-1)?.endsWith('*') === true;
  if (takesRest ? given.length < segments.length : segments.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const isRest = takesRest && index === segments.length - 1;
    const text = isRest ? given.slice(index).join('/') : (given[index] ?? '');
    if (!segment.startsWith(':')) {
      if (segment !== text) return undefined;
      continue;
    }
    const value = decode(text);
    if (value === undefined) return undefined;
    params[isRest ? segment.slice(1, -1) : segment.slice(1)] = value;
  }
  return params;
}

/** Undefined for a broken percent-encoding, which no route matches: the request then gets the 401 or 404 of any unknown path. */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
