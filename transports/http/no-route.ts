// What is said of a path without a route.
//
// wrong-base-url: a client whose base URL lacks the /v1, or has one too many, reads that.
import { withoutTicket } from '../../core/base/url.ts';
import { BlockhouseError } from '../../core/index.ts';
import type { Findable, Router } from './router.ts';

/** NOT_FOUND with what may help. */
export function noRoute<R extends Findable>(path: string, router: Router<R>): BlockhouseError {
  return new BlockhouseError('NOT_FOUND', `There is no route ${withoutTicket(path).slice(0, 200)}${baseUrlHint(path, router) ?? listHint(router)}.`);
}

/** wrong-base-url. */
function baseUrlHint<R extends Findable>(path: string, router: Router<R>): string | undefined {
  const [must, meant] = path.startsWith('/v1/v1/') ? ['must not', path.slice('/v1'.length)] : ['must', `/v1${path}`];
  return router.find('POST', meant) === undefined ? undefined : `; the base URL ${must} end with /v1, so that the path is ${meant.slice(0, 200)}`;
}

function listHint<R extends Findable>(router: Router<R>): string {
  return router.find('GET', '/openapi.json') === undefined ? '' : '; GET /openapi.json lists the routes';
}
