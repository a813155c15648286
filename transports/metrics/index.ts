// The metrics of a server, as routes that its HTTP transport serves: `GET /metrics` for Prometheus.
//
// Who can come: who has the token of the workspace; with `isOpen` everybody who reaches the port. What they can choose: the format. What it costs: a text whose
// length the names of models, connections, keys and states set, all of them bounded; one is made at a time, and who asks meanwhile gets the same bytes, in turns
// between which others are served.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasRoom, sharedTurn } from '../../core/base/next-turn.ts';
import { BlockhouseError, type Core } from '../../core/index.ts';
import { CONTENT_TYPES, type Format, formatOf } from './exposition.ts';
import { Metrics } from './metrics.ts';

const PATH = '/metrics';

export interface MetricsOptions {
  /** Needs no token. */
  readonly isOpen: boolean;
  /** Of every sample, such as the number of this process among several. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** What a server answers below `/metrics`: a mount of `blockhouse/http`. Counts from now on. */
export function createMetrics(core: Core, { isOpen, labels }: MetricsOptions) {
  const metrics = new Metrics(core, labels);
  const underWay = new Map<Format, Promise<Buffer>>();
  const bytesOf = (format: Format): Promise<Buffer> => {
    const made = async (): Promise<Buffer> => Buffer.from(await metrics.text(format));
    // Until the turn has ended: else each of hundreds of requests that one turn brings would make its own.
    const bytes = underWay.get(format) ?? made().finally(() => setImmediate(() => underWay.delete(format)));
    underWay.set(format, bytes);
    return bytes;
  };
  return {
    metrics,
    prefix: PATH,
    public: isOpen ? ['/'] : [],
    handler: async ({ method, url, headers, socket }: IncomingMessage, res: ServerResponse): Promise<void> => {
      if (url?.split('?')[0] !== PATH) throw new BlockhouseError('NOT_FOUND', `There is no route below ${PATH}.`);
      if (method !== 'GET' && method !== 'HEAD') {
        res.setHeader('allow', 'GET, HEAD');
        throw new BlockhouseError('METHOD_NOT_ALLOWED', `This path does not support ${method}; it supports GET, HEAD.`);
      }
      const format = formatOf(headers.accept);
      const bytes = await bytesOf(format);
      if (!hasRoom()) await sharedTurn(PATH);
      if (socket.destroyed) return; // an answer that ends then would throw while others wait behind it
      res.writeHead(200, { 'content-type': CONTENT_TYPES[format], 'content-length': bytes.length, 'cache-control': 'no-store' });
      res.end(method === 'HEAD' ? undefined : bytes);
    },
  };
}
