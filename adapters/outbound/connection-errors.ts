// Turns a broken connection into one of our errors, by how it broke and how far the call had come. Pure: no I/O.
import { BlockhouseError } from '../../core/index.ts';
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
  const code = codeOf(error);
  const short = code === undefined ? '' : ` (${code})`;
  if (phase === 'connecting') {
    if (isOurWant(error)) {
      return new BlockhouseError(
        'TOO_MANY_CONNECTIONS',
        `No connection to ${host}: this machine has run out of connections (${code}). Raise its limit of open files.`,
        { cause: error, forKeys: 'The server has run out of connections.' },
      );
    }
    const hint = unreachableHint === undefined ? '' : ` ${unreachableHint}`;
    return new BlockhouseError('UPSTREAM_UNREACHABLE', `No connection to ${host}: ${why}.${hint}`, {
      cause: error,
      forKeys: `No connection to the provider${short}.`,
    });
  }
  if (phase === 'answering') {
    const forKeys = `The provider's answer was cut short${short}.`;
    return new BlockhouseError('UPSTREAM_MALFORMED', `The answer from ${host} was cut short (${why}).`, { cause: error, mayHaveRun, forKeys });
  }
  if (error instanceof UnreadableAnswer) {
    const forKeys = `The provider did not send a valid HTTP response (${why}).`;
    return new BlockhouseError('UPSTREAM_MALFORMED', `${host} did not send a valid HTTP response (${why}).`, { cause: error, mayHaveRun, forKeys });
  }
  // The provider may have worked on the request or not; repeating a GET costs nothing.
  const retryable = method === 'GET';
  const forKeys = `The provider closed the connection before it answered${short}.`;
  return new BlockhouseError('UPSTREAM_UNREACHABLE', `${host} closed the connection before it answered (${why}).`, {
    cause: error,
    mayHaveRun,
    retryable,
    forKeys,
  });
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
  const telling = tellingOf(error);
  const { library, reason } = telling as { readonly library?: string; readonly reason?: string };
  // The message of OpenSSL has the line of its source code, and a line end.
  if (library === 'SSL routines' && reason !== undefined) return `TLS failed: ${reason}`;
  return telling.message || codeOf(error) || error.name;
}

/** This machine has no network of the address's kind, such as IPv6, so that another address says more. */
const OTHER_NETWORK = new Set(['EADDRNOTAVAIL', 'ENETUNREACH', 'EAFNOSUPPORT']);

/** When several addresses of a name were tried: the first error that says something of the provider, or the first one. */
function tellingOf(error: Error): Error {
  if (!(error instanceof AggregateError)) return error;
  const errors = error.errors as NodeJS.ErrnoException[];
  return errors.find(({ code = '' }) => !OTHER_NETWORK.has(code)) ?? errors[0] ?? error;
}

const codeOf = (error: Error): string | undefined => (tellingOf(error) as NodeJS.ErrnoException).code;
