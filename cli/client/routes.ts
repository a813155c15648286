// The server's routes for a client: their names in the route table and the types of their parameters. Pure: no I/O.
import type { RouteTable } from '../../transports/http/routes.ts';
import { CliError } from '../terminal/exit-codes.ts';

/** The key of a route in the table, such as `GET /api/blocks/:name`. */
export type RouteKey = keyof RouteTable;

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The parameters of a route's path. */
export type PathParams<K extends RouteKey> = Readonly<Record<NamesIn<K>, string>>;
/** The parameters of a route's query. Undefined ones are left out. */
export type QueryParams<K extends RouteKey> = RouteTable[K] extends { readonly query: infer Query }
  ? Readonly<Partial<Record<keyof Query, string | undefined>>>
  : never;

/** Method and target of a call. Throws a CliError for an empty parameter of the path, which would name another route. */
export function targetOf<K extends RouteKey>(route: K, params: PathParams<K>, query?: QueryParams<K>): { readonly method: string; readonly target: string } {
  const [method = '', pattern = ''] = route.split(' ');
  const given: Readonly<Record<string, string | undefined>> = params;
  const path = pattern.replace(/:(\w+)\*?/g, (_, name: string) => encoded(given[name]));
  const search = Object.entries<string | undefined>(query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${encodeURIComponent(value)}`,
  );
  return { method, target: search.length === 0 ? path : `${path}?${search.join('&')}` };
}

function encoded(value: string | undefined): string {
  if (value === undefined || value === '') throw new CliError('usage', 'A name must not be empty.');
  return encodeURIComponent(value);
}
