// The whole source as JavaScript in `.tap/compiled`, so that a process of the test run needs no loader: with one, its start costs three times as much, and
// each file that it imports goes through a second thread.
//
// same-place: a compiled file still says of itself that it lies where its source lies, for specs read files beside them and start servers by path.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TransformOptions, TransformResult } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDERS = ['core', 'adapters', 'transports', 'cli', 'spec', 'bench', 'docs'];
const RELATIVE_IMPORT = /\b((?:from|import)\s*\(?\s*")(\.[^"\n]*)\.tsx?"/g;

/** Where the compiled form of a source file lies; both are paths from the root of the repository. */
export function compiledPath(source: string): string {
  return join('.tap/compiled', source.replace(/\.tsx?$/, '.js'));
}

/** Compiles every source file. Takes about a second. */
export async function compileAll(): Promise<void> {
  rmSync(join(ROOT, '.tap/compiled'), { recursive: true, force: true });
  await Promise.all(FOLDERS.flatMap(sourcesBelow).map(compileOne));
}

/** Compiles one source file, a path from the root of the repository. */
export async function compileOne(source: string): Promise<void> {
  const { transform } = await import('esbuild'); // a process that only asks for a path needs none
  write(source, await transform(textOf(source), optionsOf(source)));
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.d)\.tsx?$/.test(path))
    .map((path) => join(folder, path));
}

function textOf(source: string): string {
  return readFileSync(join(ROOT, source), 'utf8');
}

function optionsOf(source: string): TransformOptions {
  const path = join(ROOT, source);
  return {
    loader: source.endsWith('x') ? 'tsx' : 'ts',
    format: 'esm',
    target: 'node20',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: 'inline',
    sourcesContent: false,
    sourcefile: path,
    // same-place
    define: {
      'import.meta.dirname': JSON.stringify(dirname(path)),
      'import.meta.filename': JSON.stringify(path),
      'import.meta.url': JSON.stringify(pathToFileURL(path).href),
    },
  };
}

function write(source: string, { code }: TransformResult): void {
  const target = join(ROOT, compiledPath(source));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code.replace(RELATIVE_IMPORT, '$1$2.js"'));
}
