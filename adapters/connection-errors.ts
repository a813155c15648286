// Turns a broken connection into one of our errors, by how it broke and how far the call had come. Pure: no I/O.
import { BlockhouseError } from '../core/index.ts';
import { UnreadableAnswer } from './answer-parser.ts';

/** Where and when a call broke. */
export interface BrokenAt {
  readonly host: string;
  readonly method: 'GET' | 'POST';
  /** connecting: no byte of the request has left. waiting: some may have left, no answer has begun. answering: the answer has begun. */
  readonly phase: 'connecting' | 'waiting' | 'answering';
  /** Advice for the error when no connection is possible. */
  readonly unreachableHint: string | undefined;
}

/** The error for a broken call. `mayHaveRun` follows from `phase`; a machine without free sockets gives TOO_MANY_CONNECTIONS. */
export function brokenCall(error: Error, { host, method, phase, unreachableHint }: BrokenAt): BlockhouseError {
  if (error instanceof BlockhouseError) return error;
  const mayHaveRun = phase !== 'connecting';
  if (error instanceof OurClosing) return closing({ cause: error, mayHaveRun });
  const why = reasonOf(error);
  if (phase === 'connecting') {
    if (isOurWant(error)) {
      return new BlockhouseError(
        'TOO_MANY_CONNECTIONS',
        `No connection to ${host}: this machine has run out of connections (${codeOf(error)}). Raise its limit of open files.`,
        {
          cause: error,
        },
      );
    }
    const hint = unreachableHint === undefined ? '' : ` ${unreachableHint}`;
    return new BlockhouseError('UPSTREAM_UNREACHABLE', `No connection to ${host}: ${why}.${hint}`, { cause: error });
  }
  if (phase === 'answering') return new BlockhouseError('UPSTREAM_MALFORMED', `The answer from ${host} was cut short (${why}).`, { cause: error, mayHaveRun });
  if (error instanceof UnreadableAnswer) {
    return new BlockhouseError('UPSTREAM_MALFORMED', `${host} did not send a valid HTTP response (${why}).`, { cause: error, mayHaveRun });
  }
  // The provider may have worked on the request or not; repeating a GET costs nothing.
  const retryable = method === 'GET';
  return new BlockhouseError('UPSTREAM_UNREACHABLE', `${host} closed the connection before it answered (${why}).`, { cause: error, mayHaveRun, retryable });
}

/** SHUTTING_DOWN: our own `close` ended the call, so there is no point in a retry. */
export function closing(more: { readonly cause?: Error; readonly mayHaveRun?: boolean } = {}): BlockhouseError {
  return new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.', { ...more, retryable: false });
}

/** Why the connections end when their owner closes. */
export class OurClosing extends Error {}

/** True if the connection itself broke; false for our own decisions and for errors that the provider answered with. */
export function isBreakOfConnection(error: Error): boolean {
  return !(error instanceof BlockhouseError) && !(error instanceof OurClosing) && !(error instanceof UnreadableAnswer);
}

/** True if this machine has run out of files, ports or memory, which says nothing about the provider. */
function isOurWant(error: Error): boolean {
  return ['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS'].includes(codeOf(error) ?? '');
}

function reasonOf(error: Error): string {
  const first = firstOf(error);
  return first.message || codeOf(error) || error.name;
}

/** The first error, when several addresses of a name were tried. */
function firstOf(error: Error): Error {
  return error instanceof AggregateError ? ((error.errors[0] as Error | undefined) ?? error) : error;
}

const codeOf = (error: Error): string | undefined => (firstOf(error) as NodeJS.ErrnoException).code;
