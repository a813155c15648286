// The bundled program: what a start loads, and what the bundle holds.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { run, serve } from '../cli/run.ts';
import { BUILDERS, TYPES } from '../support/build-for-tests.ts';
import { testFolder } from '../support/test-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'dist/cli');
/** What the program and the library have in their own modules. */
const TAKEN_IN = ['xstate', 'p-queue', 'croner'];
/** Packages that the first request loads which needs them. */
const LATER = ['@pydantic/genai-prices', 'ajv', 'chokidar', 'modern-tar', 'ws'];
/** Each costs a third of a millisecond (STEPS in cli/build.ts). */
const MAX_FILES = 13;

function watchLoads(t: Test): { readonly env: Record<string, string>; loaded(): string[] } {
  const file = join(testFolder(t), 'loaded');
  const env = { NODE_OPTIONS: `--import=${join(ROOT, 'spec/support/load-watch.mjs')}`, LOAD_WATCH: file };
  return { env, loaded: () => readFileSync(file, 'utf8').split('\n') };
}

t.test('before the server says that it listens, it has loaded few files, and no package that only some requests need', async (t) => {
  const { env, loaded } = watchLoads(t);
  const workspace = testFolder(t);
  const { child, url } = await serve(t, workspace, env);
  const all = loaded();
  // Files before it belong to a watcher of the process, such as the recorder of coverage.
  const begin = all.findIndex((file) => file.endsWith('/dist/cli/main.js'));
  t.not(begin, -1);
  const before = all.slice(begin, all.indexOf('announced'));
  t.ok(before.length <= MAX_FILES, `${before.length} files`);
  t.strictSame(
    before.filter((file) => file.includes('/node_modules/')),
    [],
    'nothing from node_modules',
  );
  t.strictSame(
    before.filter((file) => /\/(openapi|asyncapi|completion)-\w+\.js$/.test(file)),
    [],
    'no text that only some requests answer with',
  );
  t.match(await (await fetch(`${url}/ui/`)).text(), /<!doctype html>/i, 'wherever the bundle puts its modules, the page is found');
  const headers = { authorization: `Bearer ${readFileSync(join(workspace, '.api-token'), 'utf8').trim()}`, 'content-type': 'application/json' };
  t.match(await (await fetch(`${url}/v1/chat`, { method: 'POST', headers, body: '{}' })).json(), { error: 'adapter is required.' });
  t.strictSame(
    loaded().filter((file) => /\/node_modules\/ajv\//.test(file)),
    [],
    'the checks of requests are those that the build has made',
  );
  child.kill('SIGTERM');
  t.match(await once(child, 'exit'), [0], 'also while it still loads what the first requests need');
});

t.test('a command that asks the server loads nothing of it, and of the core what it asks with', async (t) => {
  const { env, loaded } = watchLoads(t);
  t.match(await run(t, ['ls', '--workspace', testFolder(t)], { env }), { code: 6 });
  const names = loaded().map((file) => file.split('/').at(-1) ?? '');
  t.ok(names.includes('client.js'));
  t.strictSame(
    names.filter((name) => /^(?:blocks|core|server)\.js$|^(?:compose|http|ws|adapters|workspace-parts)\b/.test(name)),
    [],
  );
});

t.test('the bundle has the packages of every start with their licences, and leaves the others in node_modules', async (t) => {
  const texts = readdirSync(PROGRAM, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(PROGRAM, name), 'utf8'));
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/(?:^(?:import|export|\})[^"\n]* from |\bimport\()"([^".][^"]*)"/gm)].map(([, name = '']) => name),
  );
  const packages = new Set(imported);
  t.ok(packages.has('node:http'), 'the names are found');
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  t.strictSame(
    [...packages].filter(
      (name) => ![...LATER, '@aws-sdk/credential-provider-node', 'pg'].includes(name) && !name.startsWith('@opentelemetry/') && !isBuiltin(name),
    ),
    [],
  );
  const licences = readFileSync(join(PROGRAM, 'licences.txt'), 'utf8');
  for (const name of [...Object.keys(dependencies).filter((name) => !LATER.includes(name)), ...TAKEN_IN])
    t.match(licences, new RegExp(`^${name} \\d`, 'm'), name);
});

t.test('a test run builds with the steps of `npm run build`', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly scripts: Record<string, string> };
  const steps = [`tsc ${TYPES.join(' ')}`, ...BUILDERS.map((builder) => `node --import=tsx ${builder}`)];
  t.strictSame(scripts['build']?.split(' && ').slice(0, -1), steps, 'and the last one makes the program executable');
});
