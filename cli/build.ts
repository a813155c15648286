// Bundles the program into dist/cli: main.js is what `blockhouse` runs, and compose.js what `node transports/http` runs. Node takes about a third of a
// millisecond for each file that it loads, so a server of four hundred files took longer to load than to do everything else of its start. Programs
// that import Blockhouse get the doors of the package beside it, which share their modules in dist/parts.
//
// kept-apart: packages that only some requests need stay in node_modules, and are loaded with the first of these.
// readable: nothing of our own is shortened, so that a stack trace names the functions of the source. A large package for one command is (SHORTENED).
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin, transform } from 'esbuild';
import { licencesOf } from '../transports/dashboard/licences.ts';
import { shortenSchemas } from './shorten-schemas.ts';
import { fromVendor, writeVendored } from './vendor.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = resolve(process.argv[2] ?? join(ROOT, 'dist/cli'));
const KEPT_APART = ['@aws-sdk/*', '@opentelemetry/*', '@pydantic/genai-prices', 'ajv', 'chokidar', 'modern-tar', 'pg', 'ws'];
/** The folders that programs import from. */
const ROOMS = ['core', 'adapters', 'transports'];
/** `node transports/http`. It is a program, and no door of programs. */
const SERVER = resolve(OUT, '../transports/http/main.js');
/** CommonJS packages load the modules of Node with `require`. */
const BANNER = "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

const AS_IS = { format: 'esm', target: 'node20.19', charset: 'utf8', legalComments: 'none' } as const;

/** A line ends after about so many characters: an error that nobody catches is printed with its line. */
const LINE = 120;

/** Packages that a single command loads: the module that the bundler can leave parts out of, and what is used of it. */
const SHORTENED: Readonly<Record<string, { readonly module: string; readonly uses: string }>> = {
  yaml: { module: join(ROOT, 'node_modules/yaml/browser/index.js'), uses: 'isNode, parseDocument, visit' },
};

function exactly(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}

/** readable: makes one short module of each of those packages. */
const shorten: Plugin = {
  name: 'shorten',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(?:${Object.keys(SHORTENED).join('|')})$`) }, ({ path }) => ({ path: SHORTENED[path]?.module ?? path }));
    for (const { module, uses } of Object.values(SHORTENED))
      onLoad({ filter: exactly(module) }, async () => {
        const stdin = { contents: `export { ${uses} } from ${JSON.stringify(module)};`, resolveDir: ROOT };
        const { outputFiles } = await build({ stdin, bundle: true, minify: true, write: false, format: 'esm', target: 'node20.19' });
        return { contents: outputFiles[0]?.text ?? '', loader: 'js' };
      });
  },
};

/** What is loaded with the first message of a block with tools, the first use of a server of tools, and the first target of notifications. */
const LATER = ['core/block/reply/run/parts.ts', 'adapters/tools/index.ts', 'core/notify/parts.ts'].map((file) => join(ROOT, file));
/** What a start loads, by a name of each. */
const START = { FileStore: 'core/store/files/file-store.ts', createWorkspaceBlocks: 'core/workspace-parts.ts', createCore: 'core/index.ts' };

/**
 * The bundler puts what two entries share into a file of its own. An entry that shares all of a start adds no such file, so this one names all of it; by the time that
 * it is loaded, the start is over.
 */
const withTheStart: Plugin = {
  name: 'with-the-start',
  setup({ onLoad }) {
    for (const later of LATER)
      onLoad({ filter: exactly(later) }, () => ({
        contents: [
          readFileSync(later, 'utf8'),
          ...Object.entries(START).map(([name, file]) => `export { ${name} } from ${JSON.stringify(join(ROOT, file))};`),
        ].join('\n'),
        loader: 'ts',
        resolveDir: dirname(later),
      }));
  },
};

rmSync(OUT, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [join(ROOT, 'cli/main.ts'), join(ROOT, 'cli/compose.ts')],
  absWorkingDir: ROOT,
  outdir: OUT,
  // One folder below, as the commands are in the source: what a module finds by its own place is found.
  chunkNames: 'parts/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: KEPT_APART,
  plugins: [shorten, withTheStart, fromVendor],
  banner: { js: BANNER },
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
});
await Promise.all(
  Object.entries(metafile.outputs).map(async ([path, { inputs }]) => {
    const isShort = Object.values(SHORTENED).some(({ module }) => Object.hasOwn(inputs, relative(ROOT, module)));
    const file = join(ROOT, path);
    // The bundler prints what the plugin has shortened in full lines again.
    if (isShort) writeFileSync(file, (await transform(readFileSync(file, 'utf8'), { ...AS_IS, minify: true })).code);
    else await withoutComments(file);
  }),
);
writeFileSync(join(OUT, 'licences.txt'), licencesOf(metafile));
process.stdout.write(`${relative(process.cwd(), OUT)}: ${Object.keys(metafile.outputs).length} files\n`);

await buildLibrary();
shortenSchemas(resolve(OUT, '../core/schemas'));

/** What programs import. The compiler has written the types; what it has made of the modules is taken away. */
async function buildLibrary(): Promise<void> {
  const dist = resolve(OUT, '..');
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: Record<string, string | Record<string, string>> };
  const files = Object.values(exports).flatMap((door) => (typeof door === 'string' ? [] : Object.values(door)));
  const types = typesReachedFrom(files.map((file) => join(dist, '..', file)));
  for (const room of ROOMS) {
    for (const name of readdirSync(join(dist, room), { recursive: true, encoding: 'utf8' })) {
      const file = join(dist, room, name);
      if ((file.endsWith('.js') && file !== SERVER) || (file.endsWith('.d.ts') && !types.has(file))) rmSync(file);
    }
  }
  rmSync(join(dist, 'parts'), { recursive: true, force: true });
  const doors = files.filter((file) => file.endsWith('.js')).map((file) => file.replace('./dist/', ''));
  const { metafile: made } = await build({
    entryPoints: doors.map((door) => join(ROOT, door.replace(/js$/, 'ts'))),
    outbase: ROOT,
    outdir: dist,
    absWorkingDir: ROOT,
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    ...AS_IS,
    platform: 'node',
    metafile: true,
    logLevel: 'warning',
  });
  const modules = Object.keys(made.outputs).map((path) => join(ROOT, path));
  await Promise.all([SERVER, ...modules].map(withoutComments));
  await writeVendored(dist, modules);
}

/** A type that no door of the package leads to is one of what programs can't import. */
function typesReachedFrom(doors: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const follow = (file: string): void => {
    if (!file.endsWith('.d.ts') || reached.has(file) || !existsSync(file)) return;
    reached.add(file);
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+?)(?:\.[tj]s)['"]/g))
      follow(resolve(file, '..', `${target}.d.ts`));
  };
  for (const door of doors) follow(door);
  return reached;
}

/** The docstrings are in the types, and the reasons in the source. Blanks go with them, a seventh of all; names stay (readable), and so do lines that a terminal can show. */
async function withoutComments(file: string): Promise<void> {
  const { code } = await transform(readFileSync(file, 'utf8'), { ...AS_IS, minifyWhitespace: true, lineLimit: LINE });
  writeFileSync(file, code);
}
