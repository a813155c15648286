// Packages of which the product uses a little: each becomes one short module in `dist/adapters/tools/vendor/`, which is loaded with the first use. The package itself stays
// a development dependency, because an install would get twenty times as much.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { licencesOf } from '../transports/dashboard/licences.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = 'adapters/tools/vendor';

interface Vendored {
  readonly module: string;
  /** What is used of the package. */
  readonly uses: string;
}

/** By package. */
const VENDORED: Readonly<Record<string, Vendored>> = {
  '@modelcontextprotocol/client': { module: 'mcp-client.js', uses: 'Client, ProtocolError, StreamableHTTPClientTransport' },
};

/** Nothing of what a foreign server writes is validated with a schema that it has written, so the validator of the package is left out: a third of it. */
const withoutValidator: Plugin = {
  name: 'without-validator',
  setup({ onLoad }) {
    onLoad({ filter: /shimsNode\.mjs$/ }, () => ({
      contents:
        'export const CORS_IS_POSSIBLE = false; export class DefaultJsonSchemaValidator { getValidator() { return (data) => ({ valid: true, data }); } }',
      loader: 'js',
    }));
  },
};

/** In the bundle of the program, what would be bundled is loaded from the folder. Parts of the bundle lie in `dist/cli/parts/`. */
export const fromVendor: Plugin = {
  name: 'from-vendor',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^(?:${Object.keys(VENDORED).join('|')})$`) }, ({ path }) => ({
      path: `../../${FOLDER}/${VENDORED[path]?.module}`,
      external: true,
    }));
  },
};

/** Writes the modules and their licences into `dist`, and makes `users`, modules in it, load them. */
export async function writeVendored(dist: string, users: readonly string[]): Promise<void> {
  const folder = join(dist, FOLDER);
  mkdirSync(folder, { recursive: true });
  const inputs: Metafile['inputs'] = {};
  for (const [name, { module, uses }] of Object.entries(VENDORED)) {
    const { metafile } = await build({
      stdin: { contents: `export { ${uses} } from ${JSON.stringify(name)};`, resolveDir: ROOT },
      absWorkingDir: ROOT,
      outfile: join(folder, module),
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      legalComments: 'none',
      plugins: [withoutValidator],
      metafile: true,
    });
    Object.assign(inputs, metafile.inputs);
  }
  writeFileSync(join(folder, 'licences.txt'), licencesOf({ inputs, outputs: {} }));
  for (const file of users) {
    const text = readFileSync(file, 'utf8');
    const place = relative(dirname(file), folder).replaceAll('\\', '/');
    const own = Object.entries(VENDORED).reduce((all, [name, { module }]) => all.replaceAll(`"${name}"`, `"./${place}/${module}"`), text);
    if (own !== text) writeFileSync(file, own);
  }
}
