// The exit codes of `blockhouse`; docs/cli.md lists them. Pure: no I/O.
import type { ErrorBody, ErrorCode } from '../../core/index.ts';

/** The exit code of each way in which a command ends. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'Success. Also when a server was asked to stop, or when the reader of the output has gone, as `head` does.' },
  unexpected: { code: 1, meaning: 'A defect in Blockhouse, a question that was answered with no, or a failure that has no code of its own.' },
  usage: {
    code: 2,
    meaning: 'Wrong usage or input: an unknown command, option, provider, block or message, a value out of range, or a request that the server refuses.',
  },
  credentials: {
    code: 3,
    meaning: 'No valid credential: there is none, the provider refused it, `verify` failed, or the server refused the token.',
  },
  provider: { code: 4, meaning: 'No answer from the provider: it is unreachable, too slow, limits the rate, or returned an error or an unreadable answer.' },
  place: { code: 5, meaning: "The port, the workspace or one of its files can't be used." },
  server: { code: 6, meaning: 'No server runs on this workspace, or it does not answer.' },
  waiting: {
    code: 7,
    meaning:
      'No answer comes before somebody does something: the block is stopped, paused or failed, or has no model. The message stays, and the error names the command that helps.',
  },
  interrupted: { code: 130, meaning: 'Interrupted with Ctrl-C (SIGINT).' },
} as const;

/** How a command ends. */
export type ExitKind = keyof typeof EXIT_CODES;

/** A failure whose exit code is known where it happens. The message is a sentence that says what is wrong and what to do. */
export class CliError extends Error {
  readonly kind: ExitKind;
  /** The error body of the server, when the failure comes from one. */
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
  CONNECTION_NOT_FOUND: 'usage',
  BLOCK_NOT_FOUND: 'usage',
  MESSAGE_NOT_FOUND: 'usage',
  MODEL_NOT_FOUND: 'usage',
  KEY_NOT_FOUND: 'usage',
  SCHEDULE_NOT_FOUND: 'usage',
  HOOK_NOT_FOUND: 'usage',
  NOTIFY_TARGET_NOT_FOUND: 'usage',
  RUN_NOT_FOUND: 'usage',
  APPROVAL_NOT_FOUND: 'usage',
  APPROVAL_STALE: 'usage',
  APPROVAL_DECIDED: 'usage',
  TOOL_SERVER_NOT_FOUND: 'usage',
  SKILL_NOT_FOUND: 'usage',
  TOOL_SERVER_REFUSED: 'usage',
  TOOL_NOT_APPROVED: 'usage',
  TOOL_CHANGED: 'usage',
  KEY_FORBIDDEN: 'usage',
  PRICE_UNKNOWN: 'usage',
  KEY_CAP_REACHED: 'usage',
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
  STORE_UNREACHABLE: 'place',
  STORE_NOT_MIGRATED: 'place',
  STORE_TOO_NEW: 'place',
  SHUTTING_DOWN: 'server',
};

/** The exit kind of any error. Looks at its code, because checking the class of a core error would load the core. */
export function exitKindOf(error: unknown): ExitKind {
  if (error instanceof CliError) return error.kind;
  const code = errorCodeOf(error);
  return code === undefined ? 'unexpected' : kindOfCode(code);
}

/** The exit kind of an error code (docs/errors.md). */
export function kindOfCode(code: string): ExitKind {
  const kind = Object.hasOwn(BY_ERROR_CODE, code) ? BY_ERROR_CODE[code as ErrorCode] : undefined;
  return kind ?? (code.startsWith('UPSTREAM_') ? 'provider' : 'unexpected');
}

/** Mildest first: faults of the call, then faults of the provider, then faults of this machine. */
const BY_WEIGHT: readonly ExitKind[] = ['ok', 'usage', 'waiting', 'provider', 'credentials', 'place', 'server', 'unexpected', 'interrupted'];

/** The worst of several kinds; `ok` for none. */
export function worstOf(kinds: readonly ExitKind[]): ExitKind {
  return kinds.reduce((worst, kind) => (BY_WEIGHT.indexOf(kind) > BY_WEIGHT.indexOf(worst) ? kind : worst), 'ok');
}

/** The `code` of an Error; undefined when it has none. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** For commands with `--as`: adds that option to a NAME_TAKEN error. Always throws. */
export function suggestAnotherName(error: unknown): never {
  if (!(error instanceof CliError) || error.body?.code !== 'NAME_TAKEN') throw error;
  throw new CliError(error.kind, `${error.message.replace(/\.$/, '')} with \`--as\`.`, error, error.body);
}
