// Finds the protocol in which an error of a path is answered. Pure: no I/O.
//
// below-too: a client of another protocol reads errors of its own form also for a wrong method, and for a path below its routes that does not exist.
// models-form: an unknown path below /v1 has the error form of `GET /v1/models`, because clients of every protocol call that route. Below a route of
//   ours, and where it is no plain name, it has our form.
import type { Route } from './wire/route.ts';

/** How errors look in the protocol of a route. */
export type Fault = NonNullable<Route['fault']>;

const GATEWAY = '/v1/';
const MODELS = '/v1/models';
const PLAIN = /^\/v1\/[a-z][\w/-]*$/;

/** The protocols of the routes that speak another one than ours. */
export class Faults {
  readonly #places: readonly { readonly path: string; readonly fault: Fault }[];
  /** Our own paths below /v1. */
  readonly #own: readonly string[];

  constructor(routes: readonly Pick<Route, 'path' | 'fault'>[]) {
    const places = routes.flatMap(({ path, fault }) => (fault === undefined ? [] : [{ path: fixedPart(path), fault }]));
    this.#places = places.sort((one, other) => other.path.length - one.path.length);
    this.#own = routes.filter(({ path, fault }) => fault === undefined && path.startsWith(GATEWAY)).map(({ path }) => fixedPart(path));
  }

  /** The form of errors at this path; undefined for our own. */
  of(path: string): Fault | undefined {
    const place = this.#places.find((one) => isWithin(path, one.path)); // below-too
    if (place !== undefined || !PLAIN.test(path) || this.#own.some((own) => isWithin(path, own))) return place?.fault;
    return this.#places.find((one) => one.path === MODELS)?.fault; // models-form
  }
}

function fixedPart(path: string): string {
  return path.split('/:')[0] ?? path;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}
