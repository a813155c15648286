// `npm run check:container`: runs the steps of the Dockerfile one after the other in a plain folder, since not every machine has a container runtime. Then it
// starts the server as the image would, asks the health check, and ends the server as a runtime does.
//
// in-a-folder: the folders of the image lie below the folder, and what is installed globally is installed there. What needs root or another system is left out, with the reason.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { instructionsOf, variablesOf } from './dockerfile.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDERS = ['/build', '/package', '/data'];
const LEFT_OUT: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^apt-get /, 'installs a package of the system'],
  [/^rm -rf \/var\//, 'removes lists of the system'],
  [/^chown /, 'needs root and the user of the image'],
];
const HEALTHY_WITHIN_MS = 20_000;

const place = mkdtempSync(join(tmpdir(), 'blockhouse-container-'));
const here = (text: string): string =>
  FOLDERS.reduce((now, folder) => now.replaceAll(new RegExp(`(?<=^|[\\s=])${folder}(?=$|[\\s/])`, 'g'), join(place, folder)), text);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const isIgnored = (path: string): boolean =>
  ignored.some((pattern) => new RegExp(`^${pattern.replace('**/', '').replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(path));
const prefix = join(place, 'usr');
/** Of this machine come the ways to the registry; the settings of a server do not. */
const outer = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(BLOCKHOUSE_|npm_)/.test(name)));
const env: NodeJS.ProcessEnv = { ...outer, PATH: `${join(prefix, 'bin')}:${process.env['PATH']}`, npm_config_prefix: prefix };

/** Copies what an instruction of the first stage copies. */
function copy(text: string, cwd: string): void {
  const words = text.split(/\s+/).filter((word) => !word.startsWith('--'));
  const to = resolve(cwd, here(words.pop() ?? '.'));
  for (const word of words.filter((one) => !one.startsWith('/'))) {
    const names = word === '.' ? readdirSync(ROOT).filter((name) => !isIgnored(name)) : [word];
    for (const name of names) cpSync(join(ROOT, name), join(to, name), { recursive: true });
  }
}

function runStep(command: string, cwd: string): void {
  for (const part of command.split(' && ')) {
    const reason = LEFT_OUT.find(([pattern]) => pattern.test(part))?.[1];
    if (reason !== undefined) {
      say(`  left out: ${part} (${reason})`);
      continue;
    }
    say(`  ${part}`);
    const { status, stderr } = spawnSync('sh', ['-c', here(part)], { cwd, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    if (status !== 0) throw new Error(`${part} ended with ${status}:\n${stderr}`);
  }
}

/** Starts the server, waits until it is healthy, and ends it. */
async function serve(words: readonly string[], health: readonly string[], variables: Record<string, string>): Promise<void> {
  const own = { ...env, ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, here(value)])), BLOCKHOUSE_PORT: '0' };
  const [program = '', ...args] = words.slice(words.indexOf('--') + 1); // tini is a package of the system
  const server = spawn(program, args, { env: own, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<number | null>((done) => server.once('exit', done));
  const isHealthy = (): boolean => spawnSync(health[0] ?? '', health.slice(1), { env: own }).status === 0;
  for (let waited = 0; !isHealthy(); waited += 500) {
    if (waited > HEALTHY_WITHIN_MS) throw new Error('the health check does not pass');
    await delay(500);
  }
  say(`  healthy: ${health.join(' ')}`);
  server.kill('SIGTERM');
  const code = await ended;
  if (code !== 0) throw new Error(`the server ended with ${code} after SIGTERM`);
  if (isHealthy()) throw new Error('the health check passes without a server');
  if ((statSync(join(place, 'data')).mode & 0o77) !== 0) throw new Error('others may read the workspace');
  say('  ended with 0 after SIGTERM, and is not healthy then');
}

try {
  const all = instructionsOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  for (const folder of ['usr', 'package']) mkdirSync(join(place, folder), { recursive: true });
  let cwd = place;
  for (const { name, text } of all) {
    if (!['WORKDIR', 'COPY', 'RUN'].includes(name)) continue;
    say(`${name} ${text}`);
    if (name === 'WORKDIR') {
      cwd = here(text);
      mkdirSync(cwd, { recursive: true });
    }
    if (name === 'COPY' && !text.startsWith('--from=')) copy(text, cwd);
    if (name === 'RUN') runStep(text, cwd);
  }
  const [entry, command, health] = ['ENTRYPOINT', 'CMD', 'HEALTHCHECK'].map((name) => all.find((one) => one.name === name)?.words ?? []);
  say(`${[...(entry ?? []), ...(command ?? [])].join(' ')}`);
  await serve([...(entry ?? []), ...(command ?? [])], health ?? [], variablesOf(all));
  say(`The steps of the Dockerfile ran on Node ${process.versions.node}. The image itself was not built.`);
} finally {
  rmSync(place, { recursive: true, force: true });
}
