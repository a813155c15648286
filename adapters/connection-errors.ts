// What it means that a call of a provider broke, by what undici says and by how far the call had come. Pure: no I/O.
import { BlockhouseError } from '../core/index.ts';

export interface BrokenAt {
  readonly host: string;
  readonly method: 'GET' | 'POST';
  /** No byte of the request can have left; some may have, and no answer has begun; the answer had begun. */
  readonly phase: 'connecting' | 'waiting' | 'answering';
  /** What to try when nobody answers. */
  readonly unreachableHint: string | undefined;
}

export function brokenCall(error: Error, { host, method, phase, unreachableHint }: BrokenAt): BlockhouseError {
  if (error instanceof BlockhouseError) return error;
  const mayHaveRun = phase !== 'connecting';
  if (isOurClosing(error)) return closing({ cause: error, mayHaveRun });
  const why = reasonOf(error);
  if (phase === 'connecting') {
    if (isOurWant(error)) {
      return new BlockhouseError(
        'TOO_MANY_CONNECTIONS',
        `No connection to ${host}: this machine has none left (${codeOf(error)}); raise its limit of open files.`,
        {
          cause: error,
        },
      );
    }
    const hint = unreachableHint === undefined ? '' : ` ${unreachableHint}`;
    return new BlockhouseError('UPSTREAM_UNREACHABLE', `No connection to ${host}: ${why}.${hint}`, { cause: error });
  }
  if (phase === 'answering') return new BlockhouseError('UPSTREAM_MALFORMED', `The answer of ${host} was cut short (${why}).`, { cause: error, mayHaveRun });
  if (isUnreadable(error)) {
    return new BlockhouseError('UPSTREAM_MALFORMED', `${host} does not speak HTTP as it should (${why}).`, { cause: error, mayHaveRun });
  }
  // Nobody can tell whether the provider has worked on the request; repeating a GET costs nothing.
  const retryable = method === 'GET';
  return new BlockhouseError('UPSTREAM_UNREACHABLE', `${host} closed the connection before it answered (${why}).`, { cause: error, mayHaveRun, retryable });
}

/** Our own doing in `close`, so nothing to try again here. */
export function closing(more: { readonly cause?: Error; readonly mayHaveRun?: boolean } = {}): BlockhouseError {
  return new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.', { ...more, retryable: false });
}

/** Neither a decision of ours nor something that was answered: the connection itself broke. */
export function isBreakOfConnection(error: Error): boolean {
  return !(error instanceof BlockhouseError) && !isOurClosing(error) && !isUnreadable(error);
}

function isOurClosing(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'UND_ERR_DESTROYED';
}

/** Says nothing of the provider: files, ports or memory of this machine are used up. */
function isOurWant(error: Error): boolean {
  return ['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS'].includes(codeOf(error) ?? '');
}

/** undici tells some of these by name or text alone; the last two are its words for a 1xx that it takes for an answer. */
function isUnreadable(error: Error): boolean {
  const marks = [error.name, (error as NodeJS.ErrnoException).code, error.message];
  return ['HTTPParserError', 'UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'bad response', 'bad upgrade'].some((mark) =>
    marks.includes(mark),
  );
}

function reasonOf(error: Error): string {
  const first = firstOf(error);
  return first.message || codeOf(error) || error.name;
}

/** Of the tries at the addresses of a name. */
function firstOf(error: Error): Error {
  return error instanceof AggregateError ? ((error.errors[0] as Error | undefined) ?? error) : error;
}

const codeOf = (error: Error): string | undefined => (firstOf(error) as NodeJS.ErrnoException).code;
