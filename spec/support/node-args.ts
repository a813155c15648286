// How a spec starts a Node that runs our source: the compiled files in a whole test run, and elsewhere the files themselves through a loader.
import { join, resolve } from 'node:path';
import { env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { compiledPath } from './compile.ts';

/** Set to 1 by the runner, which has compiled everything. */
export const IS_COMPILED = 'BLOCKHOUSE_TEST_COMPILED';

const ROOT = resolve(import.meta.dirname, '../..');
const isCompiled = env[IS_COMPILED] === '1';
const loader = isCompiled ? [] : ['--import=tsx'];
const placeOf = (source: string): string => join(ROOT, isCompiled ? compiledPath(source) : source);

/** The address by which a spec imports a source file whose name it only finds at run time, a path from the root of the repository. */
export function addressOf(source: string): string {
  return pathToFileURL(placeOf(source)).href;
}

/** Arguments that run a source file, a path from the root of the repository. */
export function argsForFile(source: string): string[] {
  return [...loader, placeOf(source)];
}

/** Arguments that run the text of a module, whose imports from us are paths from the root of the repository: `'./core/index.ts'`. */
export function argsForText(module: string): string[] {
  const text = module.replace(/'\.\/([^'\n]+\.ts)'/g, (_, source: string) => `'${addressOf(source)}'`);
  return [...loader, '--input-type=module', '--eval', text];
}
