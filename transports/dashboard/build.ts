// Builds the page into dist/dashboard: bundled scripts and styles, whose names carry a hash of their content, the fonts, index.html, the licences of what
// is bundled, and manifest.json, which lists every file that the server may serve. Two builds of the same source are equal byte for byte.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { minify } from 'terser';
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
/** Markdown and its lexer: only pages that show answers need them, and the first page does not. */
const WITH_ANSWERS = join(relative(ROOT, SOURCE), 'parts/markdown/');
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

/** Small pages, which come together: each alone would compress worse by a fifth. */
const TOGETHER = ['archive', 'events', 'first-run', 'inbox', 'search', 'settings', 'tools'];

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
} satisfies BuildOptions;

rmSync(OUT, { recursive: true, force: true });
mkdirSync(join(OUT, 'assets'), { recursive: true });
const { outputFiles, metafile } = await build({ ...OPTIONS, plugins: [oneSharedChunk((await build(OPTIONS)).metafile), together(), lexerAlone()] });

const assets: Asset[] = [];
const names = outputFiles.map(({ path }) => basename(path));
for (const { path, contents, text } of outputFiles) put(`assets/${basename(path)}`, path.endsWith('.js') ? await renamed(text) : Buffer.from(contents));
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

/** A script whose local names are given again, by terser: it repeats names where esbuild spreads them, and the scripts travel 2 % shorter. */
async function renamed(script: string): Promise<Buffer> {
  const { code = '' } = await minify(script, { module: true, ecma: 2020, compress: false });
  return Buffer.from(code);
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

/** Makes one file of the pages that come together. */
function together(): Plugin {
  const pathOf = (id: string): string => `../pages/${id}/${id}.tsx`;
  return {
    name: 'together',
    setup(bundle) {
      bundle.onResolve({ filter: /^together$/ }, ({ path }) => ({ path, namespace: path }));
      bundle.onLoad({ filter: /./, namespace: 'together' }, () => ({
        contents: TOGETHER.map((id, index) => `export { default as page${index} } from '${pathOf(id)}';`).join('\n'),
        resolveDir: join(SOURCE, 'app'),
      }));
      bundle.onLoad({ filter: /app\/pages\.ts$/ }, ({ path }) => {
        const load = (text: string, id: string, index: number): string => {
          if (!text.includes(`import('${pathOf(id)}')`)) throw new Error(`transports/dashboard/app/pages.ts does not load the page ${id}.`);
          return text.replace(`import('${pathOf(id)}')`, `import('together').then((all) => ({ default: all.page${index} }))`);
        };
        return { contents: TOGETHER.reduce(load, readFileSync(path, 'utf8')), loader: 'ts' };
      });
    },
  };
}

/** Of marked, the page has the lexer alone: what makes HTML would come with it, because its file makes one such thing as it is loaded. */
function lexerAlone(): Plugin {
  return {
    name: 'lexer-alone',
    setup(bundle) {
      bundle.onLoad({ filter: /marked\.esm\.js$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const [, begin, names] =
          /^([\s\S]*;)var (\w+)=new \w+;function \w+\(\w+,\w+\)\{return \2\.parse\([\s\S]*export\{([^}]*)\};/
            .exec(text)
            ?.filter((_each, index) => index !== 2) ?? [];
        const kept = names?.split(',').filter((name) => / as (Lexer|Tokenizer)$/.test(name)) ?? [];
        if (kept.length !== 2)
          throw new Error(`${path} is made in another way than the build of the page expects: see lexerAlone in transports/dashboard/build.ts.`);
        return { contents: `${begin}export{${kept.join(',')}};`, loader: 'js' };
      });
    },
  };
}

/**
 * Makes one file of all that the first page needs or that several pages have in common, except what shows answers: a first visit needs two scripts. Without it, esbuild makes a file
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
  const reachedAlso = (known: ReadonlySet<string>, path: string): ReadonlySet<string> => reached(path, new Set(known));
  const first = reached(MAIN);
  const pages = [...first].flatMap((path) => imported(path, true)).filter((path) => path.startsWith(dirname(dirname(MAIN))));
  const isTogether = (path: string): boolean => TOGETHER.some((id) => path.endsWith(`/pages/${id}/${id}.tsx`));
  const later = [...pages.filter((path) => !isTogether(path)).map((path) => reached(path)), pages.filter(isTogether).reduce(reachedAlso, new Set())].flatMap(
    (all) => [...all],
  );
  const isShared = (path: string, index: number): boolean => later.indexOf(path) !== index && !path.startsWith(WITH_ANSWERS);
  const shared = new Set([...first, ...later.filter(isShared)].filter((path) => path !== MAIN));
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
