// Keeps servers of tools away from the workspace: one that reads files there would read auth.json, and one that writes there would approve itself.
//
// no-workspace: no argument and no variable of a server names the workspace, a folder above it or anything in it, besides the working folders in `tools/`.
//   Links are followed, each time before the server is started.
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { realPathOf } from '../../core/index.ts';

/** Where servers work, each in a folder of its own. */
const FOLDERS = 'tools';

/** The working folder of a server. */
export function folderOf(workspace: string, server: string): string {
  return join(workspace, FOLDERS, server);
}

/** Why these texts, with the references in them followed, can't be given to a server; undefined if they can (no-workspace). */
export async function workspaceFault(
  workspace: string,
  server: string,
  texts: readonly (readonly [place: string, text: string])[],
): Promise<string | undefined> {
  const home = (await realPathOf(workspace)) ?? resolve(workspace);
  const cwd = folderOf(home, server);
  for (const [place, text] of texts) {
    for (const path of pathsIn(text, cwd)) {
      const real = (await realPathOf(path)) ?? path;
      const kind = whereIs(real, home);
      if (kind !== undefined) return `${place} is ${kind}, where a server could read the keys and change what is approved; give it another folder`;
    }
  }
  return undefined;
}

/** The paths that a text may stand for: as a whole, after `=`, and as a part of a list. A bare word is a path only as a whole. */
function pathsIn(text: string, cwd: string): string[] {
  const parts = [text, ...[text.slice(text.indexOf('=') + 1), ...text.split(/[=,:;|\s]/)].filter((part) => /[/~]|^\.\.$/.test(part))];
  return [...new Set(parts)].filter((part) => part !== '' && !part.includes('\0')).map((part) => resolve(cwd, pathOf(part)));
}

function pathOf(text: string): string {
  if (/^~(?:\/|$)/.test(text)) return join(homedir(), text.slice(1)); // the server may know `~`, too
  if (!/^file:\/\//i.test(text)) return text;
  try {
    return fileURLToPath(text);
  } catch {
    return text; // no path of this machine
  }
}

function whereIs(path: string, workspace: string): string | undefined {
  if (path === workspace) return 'the workspace';
  if (isWithin(workspace, path)) return 'a folder above the workspace';
  if (!isWithin(path, workspace)) return undefined;
  return isWithin(path, join(workspace, FOLDERS)) ? undefined : 'in the workspace';
}

/** True for what lies below a folder. */
function isWithin(path: string, folder: string): boolean {
  if (dirname(path) === path) return false;
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith('../') && !way.startsWith('..\\') && !isAbsolute(way);
}
