// Finds the protocol in which an error of a path is answered. Pure: no I/O.
//
// below-too: a client of another protocol reads errors of its own form also for a wrong method, and for a path below its routes that does not exist.
import type { Route } from './route.ts';

/** How errors look in the protocol of a route. */
export type Fault = NonNullable<Route['fault']>;

/** The protocols of the routes that speak another one than ours. */
export class Faults {
  readonly #places: readonly { readonly path: string; readonly fault: Fault }[];

  constructor(routes: readonly Pick<Route, 'path' | 'fault'>[]) {
    const places = routes.flatMap(({ path, fault }) => (fault === undefined ? [] : [{ path: path.split('/:')[0] ?? path, fault }]));
    this.#places = places.sort((one, other) => other.path.length - one.path.length);
  }

  /** The form of errors at this path; undefined for our own. */
  of(path: string): Fault | undefined {
    return this.#places.find((place) => path === place.path || path.startsWith(`${place.path}/`))?.fault; // below-too
  }
}
