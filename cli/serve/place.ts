// Where a process works: its settings, and its workspace. It is loaded by every command that asks a server, and imports little.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BlockhouseError, FILE_LOOK_MS, readLock, resolveProcessConfig } from '../../core/client-parts.ts';
import type { Environment, Flags, ProcessConfig } from '../../core/index.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { withSecretFiles } from './secret-files.ts';

/** Settings from flags, the environment (by default that of the process) and defaults. Throws a CliError, which names every way to set the wrong one. */
export function readConfig(flags: Flags, env: Environment = process.env): ProcessConfig {
  const whole = withSecretFiles(env);
  try {
    return resolveProcessConfig(flags, whole);
  } catch (error) {
    throw new CliError('usage', (error as Error).message, error);
  }
}

/** Runs work that reads or writes the workspace. A system error becomes a CliError that names the folder. */
export async function inWorkspace<T>(config: ProcessConfig, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlockhouseError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const isOfSystem = code !== undefined && /^E[A-Z]+$/.test(code);
    throw new CliError('place', isOfSystem ? `The workspace ${config.workspace} can't be used: ${reasonOf(error as NodeJS.ErrnoException)}` : message, error);
  }
}

/** `inWorkspace` for work that writes files which a running server reads, too. Resolves once such a server uses them, so that the next command finds it so. */
export async function writeInWorkspace<T>(config: ProcessConfig, work: () => Promise<T>): Promise<T> {
  const result = await inWorkspace(config, work);
  if ((await readLock(config.workspace)) !== undefined) await delay(FILE_LOOK_MS);
  return result;
}

/** The system names the file that it could not reach, not the one that stands in the way. */
function reasonOf({ code, path, message }: NodeJS.ErrnoException): string {
  const inTheWay = code === 'ENOTDIR' && path !== undefined ? noFolderIn(path) : undefined;
  return inTheWay === undefined ? `${message}.` : `${inTheWay} is not a folder. Move it away, or choose another folder with --workspace.`;
}

/** The first part of a path that exists and is not a folder. It starts at the top, because nothing below such a part can be looked at. */
function noFolderIn(path: string): string | undefined {
  const above = dirname(path) === path ? undefined : noFolderIn(dirname(path));
  if (above !== undefined) return above;
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false ? path : undefined;
}
