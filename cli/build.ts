// Bundles the program into dist/cli: main.js is what `blockhouse` runs, and compose.js what `node transports/http` runs. Node takes about a third of a
// millisecond for each file that it loads, so a server of four hundred files took longer to load than to do everything else of its start. Programs
// that import Blockhouse get the doors of the package beside it, which share their modules in dist/parts.
//
// kept-apart: packages that only some requests need stay in node_modules, and are loaded with the first of these.
// readable: nothing of our own is shortened, so that a stack trace names the functions of the source. A large package for one command is (SHORTENED).
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { build, type Metafile, type Plugin, transform } from 'esbuild';
import { licencesOf } from '../transports/dashboard/licences.ts';
import { shortenSchemas } from './shorten-schemas.ts';
import { fromVendor, writeVendored } from './vendor.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = resolve(process.argv[2] ?? join(ROOT, 'dist/cli'));
const KEPT_APART = ['@aws-sdk/*', '@opentelemetry/*', '@pydantic/genai-prices', 'ajv', 'chokidar', 'modern-tar', 'pg', 'ws'];
/** What the library has in its own parts: whole packages that take more place than what is used of them, with what they need. */
const TAKEN_IN = /^(?:xstate|p-queue|eventemitter3|p-timeout|croner)(?:$|\/)/;
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

/** All packages but those of `TAKEN_IN` stay in `node_modules`. */
const keptApart: Plugin = {
  name: 'kept-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ path, kind }) =>
      kind === 'entry-point' || isAbsolute(path) || TAKEN_IN.test(path) ? undefined : { path, external: true },
    );
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

/** What a start loads, in the order in which commands need it: the program itself and the entry that has it, what a command needs that asks the server, the core, and the rest of the server. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  light: ['cli/main.ts', 'cli/commands/serve.ts'],
  client: ['core/client-parts.ts', 'cli/serve/place.ts'],
  core: [START.createCore],
  blocks: [START.FileStore, START.createWorkspaceBlocks],
  server: ['cli/compose.ts', 'adapters/index.ts', 'cli/server-parts.ts'],
};
/** Of a module that every command may load. */
const LIGHT_BYTES = 32 * 1024;

/**
 * The bundler makes a file of each set of modules that the same entries share, which for a start are four dozen. Here they become one for each of STEPS, as far as no earlier
 * step has them. Of the modules of later steps, the first step has the small ones that lead to no larger one, since commands use one or the other: to load all of them
 * takes less time than another file. Resolves with the files that are no more.
 */
async function joinSteps({ outputs }: Metafile): Promise<ReadonlySet<string>> {
  const shared = (path: string): string[] =>
    outputs[path]?.imports.flatMap((one) => (one.kind === 'import-statement' && !one.external ? [one.path] : [])) ?? [];
  const reached = Object.entries(STEPS).map(([, entries]) => {
    const all = new Set(Object.keys(outputs).filter((path) => entries.includes(outputs[path]?.entryPoint ?? '')));
    for (const path of all) for (const next of shared(path)) all.add(next);
    return [...all].filter((path) => outputs[path]?.entryPoint === undefined);
  });
  const isSmall = (path: string): boolean => (outputs[path]?.bytes ?? 0) < LIGHT_BYTES;
  const light = new Set(reached[0]);
  for (let before = -1; before !== light.size; ) {
    before = light.size;
    for (const path of reached.flat()) if (isSmall(path) && shared(path).every((next) => light.has(next))) light.add(path);
  }
  const steps = new Map<string, string>([...light].map((path) => [path, 'light']));
  for (const [index, step] of Object.keys(STEPS).entries()) for (const path of reached[index] ?? []) if (!steps.has(path)) steps.set(path, step);
  for (const step of Object.keys(STEPS))
    await joinFiles(
      step,
      [...steps.keys()].filter((path) => steps.get(path) === step),
      outputs,
    );
  const names = new RegExp(`\\b(${[...steps.keys()].map((path) => basename(path, '.js')).join('|')})\\.js\\b`, 'g');
  const stepOf = new Map([...steps].map(([path, step]) => [basename(path, '.js'), step]));
  const files = [...Object.keys(outputs).filter((path) => !steps.has(path)), ...Object.keys(STEPS).map((step) => join(OUT, 'parts', `${step}.js`))];
  for (const path of files.map((path) => resolve(ROOT, path)))
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(names, (_whole, name: string) => `${stepOf.get(name)}.js`),
    );
  for (const path of steps.keys()) rmSync(join(ROOT, path));
  return new Set(steps.keys());
}

/** Makes one module of these, which exports what each of them does. */
async function joinFiles(name: string, paths: readonly string[], outputs: Metafile['outputs']): Promise<void> {
  const twice = paths.flatMap((path) => outputs[path]?.exports ?? []).find((exported, index, all) => all.indexOf(exported) !== index);
  if (twice !== undefined) throw new Error(`two modules that become one file export ${twice}`);
  const contents = paths.map((path) => `export * from './${basename(path)}';`).join('\n');
  const bare: Plugin = {
    name: 'bare',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path }) => (paths.some((one) => basename(one) === basename(path)) ? undefined : { path, external: true }));
      onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: readFileSync(path, 'utf8').replace(BANNER, '') }));
    },
  };
  const stdin = { contents, resolveDir: join(OUT, 'parts') };
  await build({
    ...AS_IS,
    stdin,
    outfile: join(OUT, 'parts', `${name}.js`),
    bundle: true,
    packages: 'external',
    platform: 'node',
    banner: { js: BANNER },
    plugins: [bare],
  });
}

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
const joined = await joinSteps(metafile);
for (const step of Object.keys(STEPS)) await withoutComments(join(OUT, 'parts', `${step}.js`));
await Promise.all(
  Object.entries(metafile.outputs).map(async ([path, { inputs }]) => {
    if (joined.has(path)) return;
    const isShort = Object.values(SHORTENED).some(({ module }) => Object.hasOwn(inputs, relative(ROOT, module)));
    const file = join(ROOT, path);
    // The bundler prints what the plugin has shortened in full lines again.
    if (isShort) writeFileSync(file, (await transform(readFileSync(file, 'utf8'), { ...AS_IS, minify: true })).code);
    else await withoutComments(file);
  }),
);
writeFileSync(join(OUT, 'licences.txt'), licencesOf(metafile));
process.stdout.write(`${relative(process.cwd(), OUT)}: ${Object.keys(metafile.outputs).length - joined.size + Object.keys(STEPS).length} files\n`);

await buildLibrary();
shortenSchemas(resolve(OUT, '../core/schemas'));

/** What programs import. The compiler has written the types of all modules. */
async function buildLibrary(): Promise<void> {
  const dist = resolve(OUT, '..');
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: Record<string, string | Record<string, string>> };
  const files = Object.values(exports).flatMap((door) => (typeof door === 'string' ? [] : Object.values(door)));
  const types = typesReachedFrom(files.map((file) => join(dist, '..', file)));
  for (const room of ROOMS) {
    for (const name of readdirSync(join(dist, room), { recursive: true, encoding: 'utf8' })) {
      const file = join(dist, room, name);
      if (file.endsWith('.js') || (file.endsWith('.d.ts') && !types.has(file))) rmSync(file);
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
    plugins: [keptApart],
    ...AS_IS,
    platform: 'node',
    metafile: true,
    logLevel: 'warning',
  });
  const modules = Object.keys(made.outputs).map((path) => join(ROOT, path));
  await Promise.all(modules.map(withoutComments));
  await writeServer();
  await writeVendored(dist, modules);
}

/** It imports the program, which is in a bundle already. */
async function writeServer(): Promise<void> {
  const source = readFileSync(join(ROOT, 'transports/http/main.ts'), 'utf8');
  const { code } = await transform(source, { ...AS_IS, loader: 'ts', minifyWhitespace: true, lineLimit: LINE });
  writeFileSync(SERVER, code.replace(/(?<=from"\.[^"]*\.)ts(?=")/g, 'js'));
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
