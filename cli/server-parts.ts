// What only a server needs, as one piece: its parts share files among them, and the start of a server takes time for each file that it loads.

export { createBareTransport, createHttpTransport } from '../transports/http/index.ts';
export { createMetrics } from '../transports/metrics/index.ts';
export { createWsTransport } from '../transports/ws/index.ts';
export { createLogger, logContent, logFacts } from './serve/logging.ts';
export { watchLoop } from './serve/loop-watch.ts';
export { SentLog, ServerLog } from './serve/server-log.ts';
