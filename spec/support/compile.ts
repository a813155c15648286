// The whole source as JavaScript in `.tap/compiled`, so that a process of the test run needs no loader: with one, its start costs three times as much, and
// each file that it imports goes through a second thread.
//
// unchanged-stays: a file is compiled again when its source, this file or the compiler is another one, or when somebody has touched what was made of it.
// same-place: a compiled file still says of itself that it lies where its source lies, for specs read files beside them and start servers by path.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDERS = ['core', 'adapters', 'transports', 'cli', 'spec', 'bench', 'docs'];
const RELATIVE_IMPORT = /\b((?:from|import)\s*\(?\s*")(\.[^"\n]*)\.tsx?"/g;
/** What is JavaScript already is not compiled, and stays where it is. */
const PLAIN_IMPORT = /\b((?:from|import)\s*\(?\s*")(\.[^"\n]*\.mjs)"/g;
/** What depends on the place of the source: the properties of `import.meta`. */
const PLACES: Readonly<Record<string, (path: string) => string>> = {
  dirname,
  filename: (path) => path,
  url: (path) => pathToFileURL(path).href,
};
/** A name that no source has, this one neither. */
const nameOf = (property: string): string => ['', '', 'source', property].join('_');
const DEFINE = Object.fromEntries(Object.keys(PLACES).map((property) => [`import.meta.${property}`, nameOf(property)]));
const PLACE = new RegExp(`\\b${nameOf(`(${Object.keys(PLACES).join('|')})`)}\\b`, 'g');

/** Where the compiled form of a source file lies; both are paths from the root of the repository. */
export function compiledPath(source: string): string {
  return join('.tap/compiled', source.replace(/\.tsx?$/, '.js'));
}

/** What lies in `.tap/compiled`. */
interface Notes {
  /** Which compiler made it, and how. */
  readonly maker: string;
  /** By source file: what it held, and when its compiled form was written. */
  readonly files: Readonly<Record<string, readonly [hash: string, writtenMs: number]>>;
}

const COMPILED = join(ROOT, '.tap/compiled');
const NOTES = join(COMPILED, 'notes.json');

/** Compiles every source file whose compiled form is not there yet (unchanged-stays). */
export async function compileAll(): Promise<void> {
  const { version } = await import('esbuild');
  const maker = `${version} ${hashOf(import.meta.filename)}`;
  const noted: Notes | undefined = existsSync(NOTES) ? (JSON.parse(readFileSync(NOTES, 'utf8')) as Notes) : undefined;
  const kept = noted?.maker === maker ? noted.files : {};
  rmSync(NOTES, { force: true }); // what breaks off in between leaves nothing that counts
  if (kept !== noted?.files) rmSync(COMPILED, { recursive: true, force: true });
  const hashes = new Map(FOLDERS.flatMap(sourcesBelow).map((source) => [source, hashOf(join(ROOT, source))]));
  for (const source of Object.keys(kept)) if (!hashes.has(source)) rmSync(join(ROOT, compiledPath(source)), { force: true });
  const isAsNoted = (source: string, hash: string): boolean => kept[source]?.[0] === hash && kept[source]?.[1] === writtenMs(source);
  await compile([...hashes].filter((each) => !isAsNoted(...each)).map(([source]) => source));
  const files = Object.fromEntries([...hashes].map(([source, hash]) => [source, [hash, writtenMs(source)] as const]));
  writeFileSync(NOTES, JSON.stringify({ maker, files } satisfies Record<keyof Notes, unknown>));
}

const hashOf = (path: string): string => createHash('sha1').update(readFileSync(path)).digest('base64');

/** When the compiled form of a source file was written; 0 where there is none. */
const writtenMs = (source: string): number => statSync(join(ROOT, compiledPath(source)), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Compiles one source file, a path from the root of the repository. */
export async function compileOne(source: string): Promise<void> {
  await compile([source]);
}

/** All in one call of the compiler: a call for each file costs twice as much. */
async function compile(sources: readonly string[]): Promise<void> {
  if (sources.length === 0) return;
  const { build } = await import('esbuild'); // a process that only asks for a path needs none
  const { outputFiles } = await build({
    entryPoints: [...sources],
    absWorkingDir: ROOT,
    outbase: ROOT,
    outdir: join(ROOT, '.tap/compiled'),
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'error',
    define: DEFINE,
  });
  const sourceOf = new Map(sources.map((source) => [join(ROOT, compiledPath(source)), join(ROOT, source)]));
  for (const folder of new Set(outputFiles.map(({ path }) => dirname(path)))) mkdirSync(folder, { recursive: true });
  for (const { path, text } of outputFiles) {
    const source = sourceOf.get(path);
    if (source === undefined) throw new Error(`The compiler has made ${path}, which belongs to no source.`);
    const placed = text.replace(PLACE, (_, property: string) => JSON.stringify(PLACES[property]?.(source))); // same-place
    const toPlain = (_: string, before: string, to: string): string => `${before}${pathToFileURL(resolve(dirname(source), to)).href}"`;
    writeFileSync(path, placed.replace(RELATIVE_IMPORT, '$1$2.js"').replace(PLAIN_IMPORT, toPlain));
  }
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.d)\.tsx?$/.test(path))
    .map((path) => join(folder, path));
}
