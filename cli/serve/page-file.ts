// A file that leads the browser to the page with a one-time code. The arguments of a program are shown to every user of the machine, and a file of
// mode 0600 in a folder of mode 0700 is not.
//
// readable-place: on Linux, the folder is in the home folder and its name has no dot. Browsers in a snap see neither /tmp nor hidden folders.
// gone-with-its-code: a process of its own removes the folder when the code has ended. What a crash has left, the next call removes.
import { spawn } from 'node:child_process';
import { lstat, mkdtemp, readdir, rmdir, unlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Environment } from '../../core/index.ts';
import { errorCodeOf } from '../terminal/exit-codes.ts';
import { documentTo } from './page-link.ts';

const FILE = 'sign-in.html';
const PREFIX = 'blockhouse-sign-in-';
/** The code ends then. */
const LIFETIME_MS = 60_000;
/** Run by a process of its own, which gets the folder and the milliseconds. */
const REMOVER = "setTimeout(() => require('node:fs').rmSync(process.argv[1], { recursive: true, force: true }), Number(process.argv[2]))";

/** Writes a file that leads to `url`, and removes it after `lifetimeMs`. Resolves with its path. Rejects with the system's own error. */
export async function writePageFile(url: string, env: Environment, lifetimeMs = LIFETIME_MS): Promise<string> {
  const places = process.platform === 'linux' ? [env['HOME'] || homedir(), tmpdir()] : [tmpdir()];
  for (const place of places) await removeOld(place);
  const folder = await newFolder(places);
  const file = join(folder, FILE);
  await writeFile(file, documentTo(url), { mode: 0o600, flag: 'wx' });
  const remover = spawn(process.execPath, ['-e', REMOVER, folder, String(lifetimeMs)], {
    stdio: 'ignore',
    detached: true,
    cwd: dirname(folder),
    windowsHide: true,
  });
  remover.once('error', () => undefined); // gone-with-its-code: the next call removes it
  remover.unref();
  return file;
}

/** A user without a home of their own, such as one of a service, has only the folder for temporary files. */
async function newFolder([first = tmpdir(), ...others]: readonly string[]): Promise<string> {
  try {
    return await mkdtemp(join(first, PREFIX));
  } catch (error) {
    if (others.length === 0) throw error;
    return newFolder(others);
  }
}

/** Removes what earlier calls have left, and nothing that another user or program may have put under such a name. */
async function removeOld(place: string): Promise<void> {
  const names = (await readdir(place).catch(undefinedIfRefused)) ?? [];
  for (const name of names.filter((one) => one.startsWith(PREFIX))) {
    const folder = join(place, name);
    const found = await lstat(folder).catch(undefinedIfRefused);
    if (found?.isDirectory() !== true || found.uid !== (process.geteuid?.() ?? found.uid) || Date.now() - found.mtimeMs < LIFETIME_MS) continue;
    await unlink(join(folder, FILE)).catch(undefinedIfRefused);
    await rmdir(folder).catch(undefinedIfRefused); // one with another file in it stays
  }
}

/** For `catch` on a promise: what can't be removed or read now does not stand in the way. */
function undefinedIfRefused(error: unknown): undefined {
  if (errorCodeOf(error) === undefined) throw error;
  return undefined;
}
