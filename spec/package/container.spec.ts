// The rules of the image that matter, and those of both compose files. `npm run check:container` runs the steps of the Dockerfile in a plain folder.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { instructionsOf, variablesOf } from '../support/dockerfile.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const all = instructionsOf(read('Dockerfile'));
const last = all.filter(({ stage }) => stage === Math.max(...all.map((one) => one.stage)));
const textsOf = (name: string, of = last): string[] => of.filter((one) => one.name === name).map(({ text }) => text);

t.test('the image is that of a maintained Node, and what built it is not in it', (t) => {
  for (const text of textsOf('FROM', all)) t.match(text, /^node:24-slim( AS build)?$/);
  t.ok(all.length > last.length, 'there is a stage that builds');
  t.same(textsOf('COPY'), ['--from=build /package/*.tgz /package/']);
  t.match(
    textsOf('RUN')
      .find((text) => text.includes('npm install'))
      ?.includes('--omit=dev'),
    true,
  );
  t.end();
});

t.test('the server is not root, owns nothing but its workspace, and is the child of tini', (t) => {
  const user = last.findIndex(({ name }) => name === 'USER');
  t.equal(last[user]?.text, 'node');
  t.same(last.slice(user).filter(({ name }) => ['RUN', 'COPY', 'ADD', 'USER'].includes(name)).length, 1, 'nothing is written after it');
  t.match(
    textsOf('RUN').find((text) => text.includes('/data')),
    /^mkdir \/data && chown node:node \/data && chmod 700 \/data$/,
  );
  t.same(textsOf('VOLUME'), ['/data']);
  t.same(last.find(({ name }) => name === 'ENTRYPOINT')?.words, ['tini', '--', 'blockhouse'], 'no shell, which would keep signals');
  t.same(last.find(({ name }) => name === 'CMD')?.words, ['serve']);
  t.same(last.find(({ name }) => name === 'HEALTHCHECK')?.words, ['blockhouse', 'status']);
  t.same(variablesOf(last), {
    NODE_ENV: 'production',
    BLOCKHOUSE_WORKSPACE: '/data',
    BLOCKHOUSE_HOST: '0.0.0.0',
    BLOCKHOUSE_PORT: '8420',
    BLOCKHOUSE_ALLOW_REMOTE: '1',
  });
  t.same(textsOf('EXPOSE'), ['8420']);
  t.end();
});

t.test('no secret gets into the image', (t) => {
  t.same(textsOf('ARG', all), []);
  t.notMatch(read('Dockerfile'), /_KEY|TOKEN|SECRET|PASSWORD/i);
  const ignored = read('.dockerignore').split('\n');
  for (const path of ['.git', 'node_modules', '**/.env*', '**/secrets', '**/auth.json', '**/.api-token']) t.ok(ignored.includes(path), path);
  t.end();
});

interface Compose {
  readonly services: Record<
    string,
    {
      readonly build?: string;
      readonly ports?: string[];
      readonly volumes?: string[];
      readonly secrets?: string[];
      readonly environment?: Record<string, string>;
    }
  >;
  readonly volumes: Record<string, null>;
  readonly secrets?: Record<string, { readonly file: string }>;
}

t.test('each compose file builds the one Dockerfile, publishes on loopback alone, keeps each workspace in a volume, and names no secret that it lacks', (t) => {
  for (const [path, servers] of [
    ['compose.yaml', ['server']],
    ['docs/examples/cluster/compose.yml', ['one', 'two', 'three']],
  ] as const) {
    const { services, volumes, secrets = {} } = parse(read(path), { merge: true }) as Compose;
    for (const [name, { ports = [], volumes: used = [], environment = {}, secrets: given = [] }] of Object.entries(services)) {
      for (const port of ports) t.match(port, /^127\.0\.0\.1:/, `${path}: ${name}`);
      for (const volume of used.filter((one) => !one.startsWith('.'))) t.ok((volume.split(':')[0] ?? '') in volumes, `${path}: ${volume}`);
      for (const secret of given) t.ok(secret in secrets, `${path}: ${secret}`);
      for (const [variable, value] of Object.entries(environment).filter(([variable]) => variable.endsWith('_FILE')))
        t.ok(given.includes(value.replace('/run/secrets/', '')), `${path}: ${variable}`);
    }
    const built = Object.entries(services).filter(([, { build }]) => build !== undefined);
    t.same(
      built.map(([name]) => name),
      servers,
    );
    for (const [name, { build = '', volumes: used = [] }] of built) {
      t.equal(resolve(ROOT, dirname(path), build), ROOT, `${path}: ${name}`);
      t.ok(
        used.some((volume) => volume.endsWith(':/data')),
        `${path}: ${name}`,
      );
    }
  }
  t.ok(existsSync(join(ROOT, 'docs/examples/cluster/nginx.conf')));
  const commented = read('compose.yaml').replaceAll(/^( *)# (?=ANTHROPIC|secrets:| {2}anthropic| {4}file:)/gm, '$1');
  const { services, secrets } = parse(commented) as Compose;
  t.match(
    { services, secrets },
    { services: { server: { secrets: ['anthropic_api_key'] } }, secrets: { anthropic_api_key: { file: './secrets/anthropic_api_key' } } },
  );
  t.end();
});
