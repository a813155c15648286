// The log: one JSON line a fact, on stderr, so that stdout stays data.
import { type Logger, pino } from 'pino';
import type { Core, LogLevel } from '../core/index.ts';

export function createLogger(level: LogLevel): Logger {
  return pino({ level, base: { pid: process.pid } }, pino.destination({ fd: 2, sync: false }));
}

/** Turns facts of the bus into log lines. */
export function logFacts(core: Core, log: Logger): void {
  core.events.on('chat.retried', (fact) => log.warn(fact, 'chat retried'));
  core.events.on('chat.finished', (fact) =>
    fact.code === undefined || fact.code === 'CANCELLED' ? log.debug(fact, 'chat finished') : log.info(fact, 'chat failed'),
  );
  core.events.on('credentials.changed', (fact) => log.info(fact, 'auth.json was read again'));
  core.events.on('credentials.damaged', (fact) => log.error(fact, 'auth.json is damaged; the last good content stays in use'));
  core.events.on('token.rotated', (fact) => log.info(fact, 'the API token has changed'));
}
