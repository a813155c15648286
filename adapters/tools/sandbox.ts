// Puts a program into a sandbox of bubblewrap: no home, no network unless it is asked for, and a file system of which little may be written. Linux alone.
//
// never-without: a program for which a sandbox was asked is not started where there is none.
// no-home: a program in the sandbox never sees the home or the workspace, where the keys are. Of a command that lies directly in one of them, or in a folder above them, it sees that file alone.
// no-way-out: what lies in a folder that the program may write comes with that folder alone. The program could put a link in its place, and the sandbox would follow that at the next start.
import { existsSync, realpathSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Program } from './supervisor.ts';

/** What is shown of the system, where it is there. */
const SYSTEM = ['/usr', '/bin', '/lib', '/lib64', '/sbin', '/etc/ssl', '/etc/pki', '/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/alternatives'];

/** The program that starts `program` in a sandbox. Rejects with an error whose code is ENOSANDBOX (never-without). */
export async function sandboxed(program: Program, kind: 'bwrap' | 'bwrap+net'): Promise<Program> {
  const path = program.env['PATH'] ?? '';
  const bwrap = await commandOf('bwrap', path);
  if (bwrap === undefined) throw noSandbox('bwrap is not installed, and it never runs without the sandbox that was asked for');
  const command = isAbsolute(program.command) ? program.command : await commandOf(program.command, path);
  if (command === undefined) throw noSandbox(`there is no command ${program.command}`);
  return { ...program, command: bwrap, args: [...sandboxArguments({ ...program, command }, kind), command, ...program.args] };
}

/** The arguments of bubblewrap. The folder of the command (no-home) and the packages of a script are shown read-only, other paths in its arguments may be written. */
export function sandboxArguments({ command, args, env, cwd }: Program, kind: 'bwrap' | 'bwrap+net'): readonly string[] {
  const home = env['HOME'] ?? '/root';
  const given = args.filter((one) => isAbsolute(one));
  const packages = given.flatMap((one) => packagesOf(one) ?? []);
  const paths = given.filter((one) => packagesOf(one) === undefined).map((one) => resolve(one));
  const writable = [...new Set([cwd, ...paths])];
  const homes = [...new Set([home, homedir()])]; // its entry may give it another one
  const hidden = [...homes, cwd].flatMap((each) => [each, realOf(each)]);
  const commands = [command, realOf(command)].map((one) => shownOf(one, hidden));
  return [
    ...['--die-with-parent', '--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    ...(kind === 'bwrap' ? ['--unshare-net'] : []),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', home],
    ...SYSTEM.flatMap((each) => ['--ro-bind-try', each, each]),
    ...[...homes, dirname(dirname(cwd))].flatMap(placesInSystem).flatMap((each) => ['--tmpfs', each]),
    ...[...new Set([...commands, ...packages])].flatMap((each) => ['--ro-bind', each, each]),
    ...writable.flatMap((each) => shownAs(each, writable)),
    ...['--chdir', cwd, '--'],
  ];
}

/** Where a folder is seen among what is shown of the system (no-home). */
function placesInSystem(folder: string): readonly string[] {
  const real = realOf(folder);
  if (!existsSync(real) || SYSTEM.some((each) => realOf(each) === real)) return [];
  return SYSTEM.filter((each) => holds(realOf(each), real)).map((each) => join(each, relative(realOf(each), real)));
}

/** no-way-out. By another name of its folder it is there as a link, which is followed within the sandbox. */
function shownAs(path: string, writable: readonly string[]): readonly string[] {
  for (const above of foldersAbove(path)) {
    const folder = writable.find((each) => each !== path && realOf(each) === realOf(above));
    if (folder === undefined) continue;
    const place = join(folder, relative(above, path));
    return place === path ? [] : ['--symlink', place, path];
  }
  return ['--bind', path, path];
}

/** The outermost first. */
function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersAbove(folder), folder];
}

/** The outermost node_modules of a script in there, which it imports its packages from. */
function packagesOf(path: string): string | undefined {
  return /^.*?\/node_modules(?=\/)/.exec(path)?.[0];
}

/** no-home. What is shown of a command: the most that is not above one of `hidden`. */
function shownOf(command: string, hidden: readonly string[]): string {
  const folder = dirname(command);
  return [environmentOf(folder), folder].find((one) => !hidden.some((each) => holds(one, each))) ?? command;
}

/** True for the place itself, too. */
function holds(folder: string, place: string): boolean {
  const way = relative(folder, place);
  return way !== '..' && !way.startsWith('../');
}

/** The folder of a command, or the whole virtual environment of Python that it is in. */
function environmentOf(folder: string): string {
  return existsSync(join(folder, '..', 'pyvenv.cfg')) ? dirname(folder) : folder;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it can't be started, and says so then
  }
}

async function commandOf(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) if (await mayRun(join(folder, name))) return join(folder, name);
  return undefined;
}

async function mayRun(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function noSandbox(why: string): Error {
  return Object.assign(new Error(why), { code: 'ENOSANDBOX' });
}
