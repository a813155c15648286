// `blockhouse/http`: the HTTP transport for a core.
export type { Mount } from './mounts.ts';
export { createHttpTransport, type HttpTransport, type HttpTransportOptions, type TransportLog } from './server.ts';
