// The log of the server: one JSON line for each fact, on stderr, so that stdout is only data. A person at a terminal gets the
// same facts as short lines.
//
// log-before-server: a failure to write the log loses lines, and never stops the server.
// nothing-obeyed: no character of a foreign text acts on the terminal that shows the log, also where the log is a file or the journal.
// bounded-backlog: when the reader stops, at most 1 MiB waits. Further lines are dropped, and their number is logged once the
// reader continues.
import { type DestinationStream, type Logger, pino } from 'pino';
import { escapeInvisible } from '../../core/base/invisible.ts';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { type BlockState, type Core, type LogLevel, rounded } from '../../core/index.ts';
import { oneLine } from '../terminal/output.ts';

const PAUSED: Readonly<Record<'all' | 'model' | 'caller' | 'prompt', string>> = {
  all: 'provider paused',
  model: 'model of a provider paused',
  caller: 'provider paused for one caller',
  prompt: 'provider paused for one prompt',
};

const NEEDS_A_PERSON: ReadonlySet<BlockState> = new Set(['failed', 'paused', 'waiting-approval']);

/** A pino logger on stderr, and on `file` where it is given. */
export function createLogger(level: LogLevel, stderr: NodeJS.WriteStream = process.stderr, file?: DestinationStream): Logger {
  // log-before-server: stderr may be a file on a full disk, or a closed pipe. pino's own destination would retry a full disk in a blocking loop.
  stderr.on('error', () => undefined);
  const lines = new Lines(stderr);
  const both = {
    write(text: string): void {
      const line = escapeInvisible(text); // nothing-obeyed
      lines.write(line);
      file?.write(line);
    },
  };
  return pino({ level, base: { pid: process.pid }, formatters: { log: withRoundedNumbers } }, both);
}

function withRoundedNumbers(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, rounded(value)]));
}

/** The most bytes that wait for the reader of the log. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** bounded-backlog. */
class Lines implements DestinationStream {
  readonly #stderr: NodeJS.WriteStream;
  #dropped = 0;

  constructor(stderr: NodeJS.WriteStream) {
    this.#stderr = stderr;
    stderr.on('drain', () => this.#tellDropped());
  }

  write(line: string): void {
    // Once a line is dropped, all further ones are until nothing waits, so that there is one gap and its notice is in the right place.
    const most = this.#dropped === 0 ? MAX_WAITING_BYTES : 0;
    if (this.#stderr.writableLength > most) {
      this.#dropped += 1;
      return;
    }
    this.#tellDropped(); // a failed write emits no `drain`
    this.#put(line);
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    const fields = { level: pino.levels.values['warn'], time: Date.now(), pid: process.pid, dropped: this.#dropped };
    this.#dropped = 0;
    this.#put(`${JSON.stringify({ ...fields, msg: 'log lines were dropped, because nobody read the log' })}\n`);
  }

  #put(line: string): void {
    this.#stderr.write(this.#stderr.isTTY ? `${toReadable(line)}\n` : line);
  }
}

/** A JSON log line as text for a person: time, level, message, then the other fields. A request that was served is as short as in the logs of other servers. */
export function toReadable(line: string): string {
  const record = tryParseJson(line);
  if (!isObject(record)) return oneLine(line);
  const { level, time, msg, pid: _pid, ...others } = record;
  const { method, path, status, ms, requestId, ...unusual } = others;
  const isServed = msg === 'request served' && Object.keys(unusual).length === 0;
  const fields = isServed ? {} : others;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  return oneLine(
    [
      clock,
      (pino.levels.labels[Number(level)] ?? '').padEnd(5),
      isServed ? `${String(method)} ${String(path)} ${String(status)} in ${String(ms)} ms` : String(msg ?? ''),
      ...rest,
    ].join(' '),
  );
}

const COOLED = {
  cooling: 'key of a connection pauses for a model, because of a rate limit',
  refused: 'key of a connection is refused; others are used',
  empty: 'key of a connection has no quota left; others are used',
} as const;

const CONTENT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';

/** Says where prompts and answers go; and that the variable alone sends them nowhere. */
export function logContent(log: Logger, env: Readonly<Record<string, string | undefined>>, isExported: boolean): void {
  if (isExported) log.warn({}, `prompts and answers go to the collector (${CONTENT})`);
  else if (!/^(no_content|false)?$/i.test(env[CONTENT]?.trim() ?? ''))
    log.warn({}, `${CONTENT} has no effect, because no collector gets what it asks for (OTEL_EXPORTER_OTLP_ENDPOINT names one)`);
}

/** Logs the events of a core. */
export function logFacts(core: Core, log: Logger): void {
  core.events.on('call.retried', (fact) => log.warn(withBlock(fact), 'call retried'));
  core.events.on('call.finished', (fact) => {
    const failed = fact.code !== undefined && fact.code !== 'CANCELLED';
    if (failed) log.info(withBlock(fact), 'call failed');
    else if (log.isLevelEnabled('debug')) log.debug(withBlock(fact), 'call finished'); // for each call of a busy gateway
  });
  core.events.on('adapter.paused', (fact) => log.warn(withBlock(fact), `${PAUSED[fact.scope]}, because its calls fail`));
  core.events.on('adapter.recovered', (fact) => log.info(withBlock(fact), 'provider answers again'));
  core.events.on('credential.cooled', (fact) => log.warn(fact, COOLED[fact.state]));
  core.events.on('credential.recovered', (fact) => log.info(fact, 'key of a connection works again'));
  core.events.on('credentials.changed', (fact) => log.info(fact, 'auth.json reloaded'));
  core.events.on('credentials.damaged', (fact) => log.error(fact, 'auth.json is damaged; what was read of it before stays in use'));
  core.events.on('models.damaged', (fact) => log.error(fact, 'models.json is damaged; what was read of it before stays in use'));
  core.events.on('prices.damaged', (fact) =>
    log.error(
      fact,
      'prices.json is damaged; what was read of it before stays in use, and without that, caps in USD let only models with a price in auth.json through',
    ),
  );
  core.events.on('keys.damaged', (fact) => log.error(fact, 'keys.json is damaged; its keys are refused'));
  core.events.on('key.capped', ({ group, ...fact }) => log.warn({ ...fact, ...(group !== null && { group }) }, 'a cap of a key is reached'));
  core.events.on('debug.started', (fact) => log.warn(fact, 'bodies of the calls of a key are kept'));
  core.events.on('debug.ended', (fact) => log.info(fact, 'bodies of the calls of a key are kept no longer, and are deleted'));
  core.events.on('loop.delayed', ({ delayMs, pid }) => {
    log.warn({ delayMs, ...(pid !== process.pid && { worker: pid }) }, 'the event loop was held up, and nobody was answered meanwhile'); // each line has a pid of its own
  });
  core.events.on('token.rotated', (fact) => log.info(fact, 'api token changed'));
  logBlockFacts(core, log);
}

/** In a server, only monitors name their caller. */
function withBlock({ caller, ...fact }: { readonly caller?: string | undefined }): object {
  return { ...fact, ...(caller !== undefined && { block: caller }) };
}

function logBlockFacts({ events }: Core, log: Logger): void {
  events.on('block.created', (fact) => log.info(fact, 'block created'));
  events.on('block.archived', (fact) => log.info(fact, 'block archived'));
  events.on('block.renamed', (fact) => log.info(fact, 'block renamed'));
  events.on('block.restored', (fact) => log.info(fact, 'block restored'));
  events.on('archive.removed', (fact) => log.info(fact, 'archived block deleted'));
  events.on('block.transitioned', (fact) => (NEEDS_A_PERSON.has(fact.to) ? log.warn(fact, 'monitor needs a person') : log.debug(fact, 'monitor')));
  events.on('block.damaged', (fact) => log.error(fact, 'block file damaged'));
  events.on('block.rebuilt', (fact) => log.warn(fact, 'block file rebuilt, because it could not be used'));
  events.on('message.finished', (fact) => (fact.status === 'failed' ? log.warn(fact, 'message failed') : log.debug(fact, 'message finished')));
  events.on('workspace.halted', (fact) => log.warn(fact, fact.halted ? 'kill switch set' : 'kill switch released'));
  events.on('workspace.lost', (fact) => log.error(fact, 'workspace taken over by another server, because its lock was deleted'));
  events.on('node.joined', (fact) => log.info(fact, fact.self ? 'this server shares the workspace again' : 'another server shares the workspace'));
  events.on('node.gone', (fact) => (fact.self ? log.warn(fact, 'the other servers have given up this one') : log.info(fact, 'a server is gone')));
  events.on('store.away', (fact) => log.error(fact, 'the database does not answer'));
  events.on('store.back', (fact) => log.info(fact, 'the database answers again'));
  events.on('workspace.fault', (fact) => log.error(fact, 'workspace operation failed'));
}
