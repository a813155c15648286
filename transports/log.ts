// What the transports log to.
import { inspect } from 'node:util';

/** pino fits. */
export interface TransportLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Where it says no, nothing is worked out for that level. */
  isLevelEnabled?(level: string): boolean;
}

/** For a transport that was given no log: failures go to stderr, since nothing else holds their cause; the rest goes nowhere. */
export const STDERR_LOG: TransportLog = {
  debug: () => undefined,
  info: () => undefined,
  error: ({ err, ...fields }: { readonly err?: unknown }, message) => {
    const cause = err === undefined ? '' : `${inspect(err)}\n`;
    process.stderr.write(`blockhouse: ${message} ${JSON.stringify(fields)}\n${cause}`);
  },
  isLevelEnabled: (level) => level === 'error',
};
