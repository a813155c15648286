// What the exit code of `blockhouse` means; docs/cli.md lists the same rows. Pure: no I/O.
import type { ErrorCode } from '../core/index.ts';

export const EXIT_CODES = {
  ok: { code: 0, meaning: 'It worked; also a server that was asked to stop, and output that nobody reads any more.' },
  unexpected: { code: 1, meaning: 'A defect, or something that has no other code.' },
  usage: { code: 2, meaning: 'Bad usage or bad input: unknown command, option or adapter, a setting out of range, a request that is refused.' },
  credentials: { code: 3, meaning: 'The adapter is not configured, its credential is missing or was refused, or `verify` failed.' },
  provider: { code: 4, meaning: 'The provider failed: unreachable, too slow, rate limited, an error or an unreadable answer.' },
  place: { code: 5, meaning: "The port or the workspace can't be used." },
  interrupted: { code: 130, meaning: 'Ended by Ctrl-C (SIGINT).' },
} as const;

export type ExitKind = keyof typeof EXIT_CODES;

/** A failure for people whose exit code is known where it happens. The message is one sentence with its cure. */
export class CliError extends Error {
  readonly kind: ExitKind;

  constructor(kind: ExitKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

const BY_ERROR_CODE: Partial<Record<ErrorCode, ExitKind>> = {
  INVALID_REQUEST: 'usage',
  ADAPTER_NOT_FOUND: 'usage',
  ADAPTER_NOT_CONFIGURED: 'credentials',
  UPSTREAM_AUTH: 'credentials',
  CANCELLED: 'interrupted',
  STORAGE_FULL: 'place',
};

/** Where a failure belongs. Decided by code: the class of a core error would have to be loaded to be known. */
export function exitKindOf(error: unknown): ExitKind {
  if (error instanceof CliError) return error.kind;
  const code = errorCodeOf(error);
  if (code === undefined) return 'unexpected';
  return BY_ERROR_CODE[code as ErrorCode] ?? (code.startsWith('UPSTREAM_') ? 'provider' : 'unexpected');
}

/** The `code` of an Error, where it has one. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
