// The package as a program gets it: what the compiler of the program reads of it. spec/e2e/packed.spec.ts looks at what is packed.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import { reportOf, tscPath } from '../support/api-report.ts';
import { schemaTypes } from '../support/schema-types.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CONFIG = { target: 'es2023', module: 'nodenext', lib: ['es2023'], types: ['node'], strict: true, skipLibCheck: false, noEmit: true };
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** A program's folder with the package and the package's own dependencies, and nothing else but the types of Node. */
function program(folder: string): { readonly folder: string; readonly installed: string } {
  const modules = join(folder, 'node_modules');
  const installed = join(modules, 'blockhouse');
  cpSync(join(ROOT, 'dist'), join(installed, 'dist'), { recursive: true });
  for (const path of ['package.json', 'spec/openapi.json', 'spec/asyncapi.json', 'transports/http/package.json', 'CHANGELOG.md', 'README.md', 'LICENSE'])
    cpSync(join(ROOT, path), join(installed, path));
  for (const name of [...Object.keys(dependencies), '@types/node'].filter((name) => existsSync(join(ROOT, 'node_modules', name)))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: CONFIG, files: ['uses.ts'] }));
  cpSync(join(import.meta.dirname, 'uses.ts'), join(folder, 'uses.ts'));
  return { folder, installed };
}

const { folder, installed } = program(t.testdir());

t.test(
  'a program with strict and without skipLibCheck compiles good uses, and no mistakes; of the dependencies, only the types of the bus are read',
  async (t) => {
    const args = [tscPath(), '-p', '.', '--pretty', 'false', '--checkers', '1', '--listFiles', '--extendedDiagnostics'];
    const { status, stdout: report } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    t.strictSame(report.match(/^.*error TS.*$/gm) ?? [], []);
    t.equal(status, 0);
    const count = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(report)?.[1]);
    const files = report.split('\n').filter((line) => line.endsWith('.ts'));
    const packages = files
      .map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? '')
      .filter((name) => !/^$|typescript|^@types\/node$|^undici-types$/.test(name));
    t.strictSame([...new Set(packages)].sort(), ['blockhouse', 'mitt']);
    t.ok(packages.length <= 130, `${packages.length} files`);
    // The types of Node alone are 30,000 types and 20,000 instantiations.
    t.ok(count('Types') < 60_000, `${count('Types')} types`);
    t.ok(count('Instantiations') < 60_000, `${count('Instantiations')} instantiations`);
  },
);

t.test('every entry of the package compiles for such a program, and an editor shows what the schemas say of a field', (t) => {
  const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { exports: Record<string, unknown> };
  const names = Object.keys(exports).map((name) => `blockhouse${name.slice(1)}`);
  const imports = names.map((name, index) => `import * as e${index} from '${name}'${name.endsWith('.json') ? " with { type: 'json' }" : ''};`);
  writeFileSync(join(folder, 'every.ts'), `${imports.join('\n')}\nexport const all = [${names.map((_, index) => `e${index}`).join(', ')}];\n`);
  writeFileSync(join(folder, 'every.json'), JSON.stringify({ compilerOptions: { ...CONFIG, resolveJsonModule: true }, files: ['every.ts'] }));
  t.equal(run(process.execPath, [tscPath(), '-p', 'every.json', '--pretty', 'false', '--checkers', '1'], folder), '');
  const types = readFileSync(join(installed, 'dist/core/types.d.ts'), 'utf8');
  t.match(types, /interface ChatRequest \{\n +\/\*\* Provider id \*\/\n +readonly adapter: /);
  t.ok((types.match(/\/\*\* /g) ?? []).length > 500);
  t.end();
});

t.test('core/types.ts says what the schemas say, and spec/api.txt what the declarations of the build say', async (t) => {
  const cases: [path: string, fresh: string][] = [
    ['core/types.ts', await schemaTypes()],
    ['spec/api.txt', reportOf(join(ROOT, 'dist'))],
  ];
  // Not `t.equal`, which would print both texts.
  for (const [path, fresh] of cases) t.ok(readFileSync(join(ROOT, path), 'utf8') === fresh, `${path} is fresh, else run \`npm run generate\``);
});
