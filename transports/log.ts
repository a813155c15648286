// What the transports log to. Pure: no I/O.

/** pino fits. */
export interface TransportLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Where it says no, nothing is worked out for that level. */
  isLevelEnabled?(level: string): boolean;
}

/** For a transport that was given no log. */
export const QUIET: TransportLog = { debug: () => undefined, info: () => undefined, error: () => undefined, isLevelEnabled: () => false };
