// The log of the transports.
import { inspect } from 'node:util';
import { escapeInvisible } from '../core/base/invisible.ts';

/** Where the transports write their log lines; a pino logger fits. */
export interface TransportLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Optional. When it returns false, the transport skips the work for a line of that level. */
  isLevelEnabled?(level: string): boolean;
}

/** The default log: writes errors to stderr, because their cause is recorded nowhere else, and drops the other levels. */
export const STDERR_LOG: TransportLog = {
  debug: () => undefined,
  info: () => undefined,
  error: ({ err, ...fields }: { readonly err?: unknown }, message) => {
    // Indented, so that no line of a foreign text looks like one of the log.
    const cause = err === undefined ? '' : `  ${inspect(err).replaceAll('\n', '\n  ')}\n`;
    process.stderr.write(escapeInvisible(`blockhouse: ${message} ${JSON.stringify(fields)}\n${cause}`));
  },
  isLevelEnabled: (level) => level === 'error',
};
