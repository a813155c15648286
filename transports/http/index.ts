// `blockhouse/http`: the HTTP transport for a core.
/** Where the transport writes its log lines; a pino logger fits. */
export type { TransportLog } from '../log.ts';
/** A group of routes of the host program, under one prefix. */
export type { Mount } from './mounts.ts';
export { createBareTransport, createHttpTransport, type HttpTransport, type HttpTransportOptions } from './server.ts';
