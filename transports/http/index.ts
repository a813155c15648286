// `blockhouse/http`: the HTTP transport for a core.
export type { TransportLog } from '../log.ts';
export type { Mount } from './mounts.ts';
export type { AnswerOf, RouteTable } from './routes.ts';
export { createHttpTransport, type HttpTransport, type HttpTransportOptions } from './server.ts';
