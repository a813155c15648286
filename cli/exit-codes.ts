// What the exit code of `blockhouse` means; docs/cli.md lists the same rows. Pure: no I/O.
import type { ErrorBody, ErrorCode } from '../core/index.ts';

export const EXIT_CODES = {
  ok: { code: 0, meaning: 'It worked; also a server that was asked to stop, and output that nobody reads any more.' },
  unexpected: { code: 1, meaning: 'A defect, or something that has no other code.' },
  usage: { code: 2, meaning: 'Bad usage or bad input: unknown command, option, adapter or block, a setting out of range, a request that is refused.' },
  credentials: {
    code: 3,
    meaning: 'The adapter is not configured, its credential is missing or was refused, `verify` failed, or the server refused the token.',
  },
  provider: { code: 4, meaning: 'The provider failed: unreachable, too slow, rate limited, an error or an unreadable answer.' },
  place: { code: 5, meaning: "The port, the workspace or a file of it can't be used." },
  server: { code: 6, meaning: 'No server runs on this workspace, or it does not answer.' },
  interrupted: { code: 130, meaning: 'Ended by Ctrl-C (SIGINT).' },
} as const;

export type ExitKind = keyof typeof EXIT_CODES;

/** A failure for people whose exit code is known where it happens. The message is one sentence with its cure. */
export class CliError extends Error {
  readonly kind: ExitKind;
  /** The error body of a server, where it comes from one. */
  readonly body: Partial<ErrorBody> | undefined;

  constructor(kind: ExitKind, message: string, cause?: unknown, body?: Partial<ErrorBody>) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.body = body;
  }
}

const BY_ERROR_CODE: Partial<Record<ErrorCode, ExitKind>> = {
  INVALID_REQUEST: 'usage',
  ADAPTER_NOT_FOUND: 'usage',
  BLOCK_NOT_FOUND: 'usage',
  MESSAGE_NOT_FOUND: 'usage',
  ARCHIVE_NOT_FOUND: 'usage',
  NAME_TAKEN: 'usage',
  AMBIGUOUS_ARCHIVE: 'usage',
  WRONG_STATE: 'usage',
  REVISION_MISMATCH: 'usage',
  BODY_TOO_LARGE: 'usage',
  UNAUTHORIZED: 'credentials',
  ADAPTER_NOT_CONFIGURED: 'credentials',
  UPSTREAM_AUTH: 'credentials',
  CANCELLED: 'interrupted',
  BLOCK_DAMAGED: 'place',
  WORKSPACE_DAMAGED: 'place',
  STORAGE_FULL: 'place',
  WORKSPACE_BUSY: 'place',
  SHUTTING_DOWN: 'server',
};

/** Where a failure belongs. Decided by code: the class of a core error would have to be loaded to be known. */
export function exitKindOf(error: unknown): ExitKind {
  if (error instanceof CliError) return error.kind;
  const code = errorCodeOf(error);
  return code === undefined ? 'unexpected' : kindOfCode(code);
}

/** Where an error code of the table belongs. */
export function kindOfCode(code: string): ExitKind {
  const kind = Object.hasOwn(BY_ERROR_CODE, code) ? BY_ERROR_CODE[code as ErrorCode] : undefined;
  return kind ?? (code.startsWith('UPSTREAM_') ? 'provider' : 'unexpected');
}

/** Mildest first: what the caller can put right, then what is wrong elsewhere, then what is wrong here. */
const BY_WEIGHT: readonly ExitKind[] = ['ok', 'usage', 'provider', 'credentials', 'place', 'server', 'unexpected', 'interrupted'];

/** The one exit of several pieces of work; `ok` for none. */
export function worstOf(kinds: readonly ExitKind[]): ExitKind {
  return kinds.reduce((worst, kind) => (BY_WEIGHT.indexOf(kind) > BY_WEIGHT.indexOf(worst) ? kind : worst), 'ok');
}

/** The `code` of an Error, where it has one. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** For commands that can give a block another name: says so where the name is taken. */
export function suggestAnotherName(error: unknown): never {
  if (!(error instanceof CliError) || error.body?.code !== 'NAME_TAKEN') throw error;
  throw new CliError(error.kind, `${error.message.replace(/\.$/, '')} with \`--as\`.`, error, error.body);
}
