// The handler of `GET /metrics`.
import { CONTENT_TYPES, formatOf } from '../../metrics/exposition.ts';
import { metricsOf } from '../../metrics/metrics.ts';
import { ok, Written } from '../wire/reply.ts';
import type { RouteContext } from '../wire/route.ts';

/** The metrics of this process as text. */
export const metrics = async ({ core, req }: RouteContext) => {
  const format = formatOf(req.headers.accept);
  return ok(new Written<string>(await metricsOf(core).text(format), CONTENT_TYPES[format]));
};
