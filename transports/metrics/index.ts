// The metrics of a server, as routes that its HTTP transport serves: `GET /metrics` for Prometheus.
//
// Who can come: whoever has the token of the workspace; with `isOpen` everybody who reaches the port. What they can choose: the format. What it costs: a text whose
// length the names of models, connections, keys and states set, all of them bounded; one is made at a time, and who asks meanwhile gets the same.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Core } from '../../core/index.ts';
import { CONTENT_TYPES, type Format, formatOf } from './exposition.ts';
import { Metrics } from './metrics.ts';

export interface MetricsOptions {
  /** Needs no token. */
  readonly isOpen: boolean;
  /** Of every sample, such as the number of this process among several. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** What a server answers below `/metrics`: a mount of `blockhouse/http`. Counts from now on. */
export function createMetrics(core: Core, { isOpen, labels }: MetricsOptions) {
  const metrics = new Metrics(core, labels);
  const underWay = new Map<Format, Promise<string>>();
  const textOf = (format: Format): Promise<string> => {
    const text = underWay.get(format) ?? metrics.text(format).finally(() => underWay.delete(format));
    underWay.set(format, text);
    return text;
  };
  return {
    metrics,
    prefix: '/metrics',
    public: isOpen ? ['/'] : [],
    handler: async ({ method, url, headers }: IncomingMessage, res: ServerResponse): Promise<void> => {
      if (method !== 'GET' && method !== 'HEAD') return void res.writeHead(405, { allow: 'GET, HEAD' }).end();
      if (url?.split('?')[0] !== '/metrics') return void res.writeHead(404).end();
      const format = formatOf(headers.accept);
      const text = Buffer.from(await textOf(format));
      res.writeHead(200, { 'content-type': CONTENT_TYPES[format], 'content-length': text.length, 'cache-control': 'no-store' });
      res.end(method === 'HEAD' ? undefined : text);
    },
  };
}
