// Finds a Chromium: the named one, one of this machine, or that of the package `@sparticuz/chromium`, which runs on Linux on x64 only.
//
// whole-or-absent: the specs of several processes unpack it at the same time, so each does it in a folder of its own and gives that its name when it is whole.
// brings-its-own: a machine without a browser has neither the libraries of one nor fonts. The package has both, for the functions of a cloud.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PACKAGE = resolve(import.meta.dirname, '../../node_modules/@sparticuz/chromium/package.json');
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/blockhouse');
const UNPACK = "import('@sparticuz/chromium').then(({ default: packed }) => packed.executablePath())";

/** What a browser is started with. */
export interface Startable {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A Chromium of this machine, or the one that comes as a package; undefined without any. */
export async function findChromium(): Promise<Startable | undefined> {
  const named = process.env['BLOCKHOUSE_CHROMIUM'];
  if (named !== undefined && named !== '') return { executablePath: named, env: {} };
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of NAMES) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return { executablePath: path, env: {} };
      } catch {
        // not here
      }
    }
  }
  return packedChromium();
}

/** Undefined on a machine for which the package has none. */
async function packedChromium(): Promise<Startable | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !existsSync(PACKAGE)) return undefined;
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string };
  const folder = join(CACHE, `chromium-${version}`);
  if (!existsSync(folder)) await unpack(folder);
  return {
    executablePath: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') }, // brings-its-own
  };
}

/** whole-or-absent. */
async function unpack(folder: string): Promise<void> {
  const own = `${folder}.${process.pid}`;
  mkdirSync(own, { recursive: true });
  try {
    // The package unpacks its libraries only where it finds the name of such a function.
    const env = { ...process.env, TMPDIR: own, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };
    await promisify(execFile)(process.execPath, ['-e', UNPACK], { cwd: import.meta.dirname, env });
    const fonts = `<include ignore_missing="yes">/etc/fonts/fonts.conf</include><dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'font-cache')}</cachedir>`;
    writeFileSync(join(own, 'fonts.conf'), `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${fonts}</fontconfig>\n`);
    renameSync(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
