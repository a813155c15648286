// The package as a user has it: packed by npm, unpacked into a folder of its own, beside links to the packages that it declares and no
// others. Blockhouse itself is no link, and the folder is outside the repository, so Node looks for packages only there.
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { parseJson } from '../../core/base/json.ts';
import { ROOT } from '../cli/run.ts';

interface Manifest {
  readonly dependencies?: Record<string, string>;
}

export interface Packed {
  /** A program in it can import `blockhouse`. */
  readonly folder: string;
  /** The unpacked package. */
  readonly root: string;
  readonly manifest: Manifest;
  /** The paths of all files of the package. */
  readonly files: readonly string[];
  /** Links one more package of the repository, as if the user had installed it. */
  add(name: string): void;
}

const run = promisify(execFile);
const readManifest = (folder: string): Manifest => parseJson(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Takes `dist` as it is; it must be built before. */
export async function packed(t: Test): Promise<Packed> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'blockhouse-packed-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { stdout } = await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT });
  const modules = join(folder, 'node_modules');
  const root = join(modules, 'blockhouse');
  mkdirSync(root, { recursive: true });
  await run('tar', ['-xzf', join(folder, stdout.trim()), '-C', root, '--strip-components=1']);
  const add = (name: string): void => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
  };
  const manifest = readManifest(root);
  for (const name of Object.keys(manifest.dependencies ?? {})) add(name);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => lstatSync(join(root, path)).isFile());
  return { folder, root, manifest, files: files.map((path) => path.replaceAll('\\', '/')), add };
}

/** The folders of all packages that these names bring, as npm has installed them for the repository. */
export function installedFor(names: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const folder = lookUp(name, from);
    if (found.has(folder)) return;
    found.add(folder);
    for (const next of Object.keys(readManifest(folder).dependencies ?? {})) visit(next, folder);
  };
  for (const name of names) visit(name, ROOT);
  return [...found];
}

function lookUp(name: string, from: string): string {
  const folder = join(from, 'node_modules', name);
  if (existsSync(folder)) return folder;
  if (dirname(from) === from) throw new Error(`${name} is not installed.`);
  return lookUp(name, dirname(from));
}

/** What `du` counts on a usual disk: whole blocks of 4096 bytes. Packages inside a package are not counted. */
export function diskBytes(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules');
  const sizes = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? diskBytes(path) : Math.ceil(lstatSync(path).size / 4096) * 4096;
  });
  return sizes.reduce((sum, size) => sum + size, 4096);
}
