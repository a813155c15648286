// Secrets that are files, as container runtimes and systemd hand them over: `OPENAI_API_KEY_FILE` names the file that has the value of `OPENAI_API_KEY`.
//
// read-at-start: a file is read when the process starts. One that is changed later counts from the next start.
// never-both: a variable and the file for it are not set together, since nobody could tell which of them is used.
import { readFileSync, statSync } from 'node:fs';
import type { Environment } from '../../core/index.ts';
import { CliError, errorCodeOf } from '../terminal/exit-codes.ts';

/** What may be in a file: the keys of providers and connections, and the address of the database. */
const IN_FILE = /^(?:[A-Z][A-Z0-9_]*_API_KEY|BLOCKHOUSE_STORE)(?=_FILE$)/;
/** No secret is as large as that. */
const MAX_BYTES = 64 * 1024;
const REASONS: Readonly<Record<string, string>> = { ENOENT: 'which does not exist', EACCES: 'which this user may not read', ENOTDIR: 'which does not exist' };

/** The environment with the values of the files that it names. Throws a CliError that names the variable and the file. */
export function withSecretFiles(env: Environment): Environment {
  const secrets = Object.keys(env).flatMap((variable) => {
    const [name] = IN_FILE.exec(variable) ?? [];
    const value = name === undefined ? undefined : secretIn(env, variable);
    if (name === undefined || value === undefined) return [];
    if (isSet(env[name])) throw new CliError('usage', `${name} and ${variable} are both set; leave one of them out.`); // never-both
    return [[name, value] as const];
  });
  return secrets.length === 0 ? env : { ...env, ...Object.fromEntries(secrets) };
}

/** The token of the workspace, in the file that BLOCKHOUSE_TOKEN_FILE names; undefined if it names none. Throws a CliError. */
export function givenToken(env: Environment): string | undefined {
  return secretIn(env, 'BLOCKHOUSE_TOKEN_FILE');
}

/** The content of the file that this variable names, without white space around it; undefined if the variable is not set. Throws a CliError. */
export function secretIn(env: Environment, variable: string): string | undefined {
  const path = env[variable]?.trim();
  if (!isSet(path)) return undefined;
  const fail = (reason: string, error?: unknown): never => {
    throw new CliError('place', `${variable} names ${path}, ${reason}.`, error);
  };
  let text = '';
  try {
    const stat = statSync(path);
    if (!stat.isFile()) fail('which is not a file');
    if (stat.size > MAX_BYTES) fail('which is too large for a secret');
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof CliError) throw error;
    fail(REASONS[errorCodeOf(error) ?? ''] ?? `which can't be read: ${(error as Error).message}`, error);
  }
  if (text === '') fail('which is empty');
  if (/[\r\n]/.test(text)) fail('which has more than one line');
  return text;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}
