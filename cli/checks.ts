// Writes the checks of all schemas into `dist/checks`, a file for each, so that the program and programs that import it compile none (made-ahead in core/schemas/checks.ts).
import { createRequire } from 'node:module';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { inParts, nameOf, newAjv, notedSchemas } from '../core/schemas/checks.ts';

/** What leads to every module that makes a validator, by its path. Written out, so that the compiled form of this file finds the compiled ones. */
const LOADERS = {
  'core/index.ts': () => import('../core/index.ts'),
  'core/workspace-parts.ts': () => import('../core/workspace-parts.ts'),
  'core/store/files/file-store.ts': () => import('../core/store/files/file-store.ts'),
  'core/block/reply/run/parts.ts': () => import('../core/block/reply/run/parts.ts'),
  'core/notify/parts.ts': () => import('../core/notify/parts.ts'),
  'adapters/index.ts': () => import('../adapters/index.ts'),
  'adapters/tools/index.ts': () => import('../adapters/tools/index.ts'),
  'transports/http/index.ts': () => import('../transports/http/index.ts'),
  'transports/ws/index.ts': () => import('../transports/ws/index.ts'),
};
export const MODULES = Object.keys(LOADERS);
const load = createRequire(import.meta.url);

/** Resolves with the number of files. */
export async function writeChecks(folder: string): Promise<number> {
  await Promise.all(Object.values(LOADERS).map((one) => one()));
  const standalone = (load('ajv/dist/standalone/index.js') as typeof import('ajv/dist/standalone/index.js')).default;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const sources = new Map<string, string>();
  for (const schema of notedSchemas()) {
    const ajv = newAjv({ source: true, optimize: true });
    sources.set(nameOf(schema), standalone(ajv, ajv.compile(inParts(schema))));
  }
  writeFileSync(join(folder, 'names.cjs'), `module.exports=${JSON.stringify([...sources.keys()])};\n`);
  // In one call: a call of the compiler for each file takes longer.
  await build({
    entryPoints: Object.fromEntries([...sources.keys()].map((name) => [name, `check:${name}`])),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
    plugins: [
      {
        name: 'checks',
        setup: ({ onResolve, onLoad }) => {
          onResolve({ filter: /^check:/ }, ({ path }) => ({ path: path.slice('check:'.length), namespace: 'checks' }));
          onLoad({ filter: /.*/, namespace: 'checks' }, ({ path }) => ({ contents: sources.get(path) ?? '', loader: 'js', resolveDir: import.meta.dirname }));
        },
      },
    ],
  });
  return sources.size;
}
