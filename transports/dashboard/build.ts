// Builds the page into dist/dashboard: bundled scripts and styles, whose names carry a hash of their content, the fonts, index.html, the licences of what
// is bundled, and manifest.json, which lists every file that the server may serve. Two builds of the same source are equal byte for byte.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { licencesOf } from './licences.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCE = import.meta.dirname;
const OUT = resolve(process.argv[2] ?? join(ROOT, 'dist/dashboard'));
/** Shorter files gain nothing from compression. */
const MIN_BROTLI_BYTES = 1024;
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
};
/** Compressed already, or also for people who look into the package. */
const AS_IT_IS = ['woff2', 'txt'];

/** One file that the server may serve. */
interface Asset {
  /** Below `/ui/`. */
  readonly path: string;
  readonly type: string;
  /** True if the file is there compressed, as `.br`, and only so. */
  readonly br: boolean;
}

const MAIN = join(relative(ROOT, SOURCE), 'app/main.tsx');
const OPTIONS = {
  entryPoints: { main: join(ROOT, MAIN), style: join(SOURCE, 'style/style.css') },
  absWorkingDir: ROOT,
  outdir: join(OUT, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  metafile: true,
  write: false,
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.woff2': 'file' },
  publicPath: '/ui/assets',
  plugins: [lexerAlone()],
} satisfies BuildOptions;

rmSync(OUT, { recursive: true, force: true });
mkdirSync(join(OUT, 'assets'), { recursive: true });
const { outputFiles, metafile } = await build({ ...OPTIONS, plugins: [lexerAlone(), oneSharedChunk((await build(OPTIONS)).metafile)] });

const assets: Asset[] = [];
const names = outputFiles.map(({ path, contents }) => {
  put(`assets/${basename(path)}`, Buffer.from(contents));
  return basename(path);
});
const icon = readFileSync(join(SOURCE, 'icon.svg'));
names.push(`icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8).toUpperCase()}.svg`);
put(`assets/${names.at(-1)}`, icon);
put('licences.txt', Buffer.from(licencesOf(metafile)));
put('index.html', Buffer.from(indexPage()));
const manifest = { index: 'index.html', assets: assets.toSorted((one, other) => (one.path < other.path ? -1 : 1)) };
writeFileSync(join(OUT, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);

function put(path: string, bytes: Buffer): void {
  const extension = path.split('.').at(-1) ?? '';
  const br = bytes.length >= MIN_BROTLI_BYTES && !AS_IT_IS.includes(extension);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  if (br) writeFileSync(join(OUT, `${path}.br`), brotliCompressSync(bytes, { params }));
  else writeFileSync(join(OUT, path), bytes);
  assets.push({ path, type: TYPES[extension] ?? 'application/octet-stream', br });
}

function named(pattern: RegExp): string {
  const name = names.find((each) => pattern.test(each));
  if (name === undefined) throw new Error(`The build has no file ${pattern}.`);
  return `/ui/assets/${name}`;
}

/** The fonts are asked for at once, and not when the styles have come. */
function indexPage(): string {
  const fonts = names
    .filter((name) => name.endsWith('.woff2'))
    .map((name) => `<link rel="preload" as="font" type="font/woff2" href="/ui/assets/${name}" crossorigin>`);
  const values = { icon: named(/^icon-.*\.svg$/), preloads: fonts.join('\n'), style: named(/^style-.*\.css$/), script: named(/^main-.*\.js$/) };
  return readFileSync(join(SOURCE, 'index.html'), 'utf8').replace(/\{\{(\w+)\}\}/g, (_whole, name: keyof typeof values) => values[name]);
}

/**
 * Takes the lexer of marked alone. Its bundle is one file, of which nothing can be left out because it makes a parser and a renderer when it is loaded: a quarter of it
 * that the page never uses. The source of each of its files is in its source map.
 */
function lexerAlone(): Plugin {
  const folder = 'node_modules/marked/src';
  const { sources, sourcesContent } = JSON.parse(readFileSync(join(ROOT, 'node_modules/marked/lib/marked.esm.js.map'), 'utf8')) as {
    readonly sources: readonly string[];
    readonly sourcesContent: readonly string[];
  };
  const files = new Map(sources.map((source, index) => [`${folder}/${basename(source)}`, sourcesContent[index]]));
  files.set(`${folder}/index.ts`, "export { _Lexer as Lexer } from './Lexer.ts';\nexport { _Tokenizer as Tokenizer } from './Tokenizer.ts';");
  return {
    name: 'lexer-alone',
    setup(bundle) {
      bundle.onResolve({ filter: /^marked$/ }, () => ({ path: `${folder}/index.ts`, namespace: 'source' }));
      bundle.onResolve({ filter: /^\.\/\w+\.ts$/, namespace: 'source' }, ({ path }) => ({ path: `${folder}/${path.slice(2)}`, namespace: 'source' }));
      bundle.onLoad({ filter: /./, namespace: 'source' }, ({ path }) => {
        const contents = files.get(path);
        if (contents === undefined) throw new Error(`The source map of marked has no ${path}.`);
        return { contents, loader: 'ts' };
      });
    },
  };
}

/**
 * Makes one file of all that the first page needs or that several pages have in common: a first visit needs two scripts. Without it, esbuild makes a file
 * for each set of pages that shares something.
 */
function oneSharedChunk({ inputs }: Metafile): Plugin {
  const imported = (path: string, isLater: boolean): string[] =>
    (inputs[path]?.imports ?? []).flatMap((each) => (!each.external && isLater === (each.kind === 'dynamic-import') ? [each.path] : []));
  const reached = (path: string, known = new Set<string>()): ReadonlySet<string> => {
    if (known.has(path) || path.includes('node_modules')) return known;
    known.add(path);
    for (const next of imported(path, false)) reached(next, known);
    return known;
  };
  const first = reached(MAIN);
  const pages = [...first].flatMap((path) => imported(path, true)).filter((path) => path.startsWith(dirname(dirname(MAIN))));
  const later = pages.flatMap((path) => [...reached(path)]);
  const shared = new Set([...first, ...later.filter((path, index) => later.indexOf(path) !== index)].filter((path) => path !== MAIN));
  return {
    name: 'one-shared-chunk',
    setup(bundle) {
      bundle.onResolve({ filter: /^one-shared-chunk$/ }, ({ path }) => ({ path, namespace: path }));
      bundle.onLoad({ filter: /./, namespace: 'one-shared-chunk' }, () => ({
        contents: [...shared].map((path) => `import './${path}';`).join('\n'),
        resolveDir: ROOT,
      }));
      bundle.onLoad({ filter: /\.tsx$/ }, ({ path }) =>
        [MAIN, ...pages].includes(relative(ROOT, path)) ? { contents: `import 'one-shared-chunk';\n${readFileSync(path, 'utf8')}`, loader: 'tsx' } : undefined,
      );
    },
  };
}

process.stdout.write(`${relative(process.cwd(), OUT)}: ${assets.length} files\n`);
