import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AddressInfo, createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { CLI, ROOT, run, runHere } from '../run.ts';
import { sweep } from '../../support/sweep.ts';
import { testFolder } from '../../support/test-folder.ts';

const SIGNALS = (['SIGINT', 'SIGTERM'] as const).slice(0, sweep(2, 1));

/** As in a terminal of so many columns. */
const COLUMNS = 70;
const IN_TERMINAL = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`process.stdout.isTTY = true; process.stdout.columns = ${COLUMNS};`)}`,
  NO_COLOR: '1',
};

function startDemo(t: Test, args: string[], settings: Readonly<Record<string, string>> = {}) {
  const folder = testFolder(t);
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, ...settings };
  const child = spawn(process.execPath, [CLI, 'demo', ...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, leftovers: () => leftIn(folder) };
}

const leftIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('blockhouse-demo'));

async function served(stdout: Readable): Promise<{ readonly shown: string; readonly url: string | undefined }> {
  let shown = '';
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    shown += String(chunk);
    if (shown.includes('Serving until Ctrl-C.')) break;
  }
  return { shown, url: /curl -s (\S+)\/v1\/chat/.exec(shown)?.[1] };
}

/** `npm run demo`, as a process group. */
function startByNpm(t: Test) {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { demo: string } };
  const script = scripts.demo.replace('npm run --silent build', 'true'); // the build is there, and other tests use it
  const folder = testFolder(t);
  const env = { PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`, HOME: folder, TMPDIR: folder, npm_lifecycle_event: 'demo' };
  const shell = spawn('sh', ['-c', script], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  t.teardown(() => endGroup(shell.pid));
  return { shell, leftovers: () => leftIn(folder) };
}

t.test('a demo', async (t) => {
  // Beside each other: the echo writes one word after the other, and so a demo mostly waits.
  const tour = startDemo(t, ['--once'], IN_TERMINAL);
  const lasting = SIGNALS.map((signal) => ({ signal, ...startDemo(t, []) }));
  const byNpm = startByNpm(t);

  await t.test('--once shows two answers of the gateway and one of a block, each plainly from no model, and leaves nothing behind', async (t) => {
    const { child, leftovers } = tour;
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    t.equal(stderr, '');
    t.equal(child.exitCode, 0);
    t.match(stdout, /serves on .*http:\/\/127\.0\.0\.1:\d+/);
    for (const said of ['Hello?', 'Stream something to me.', 'Who are you?'])
      t.match(stdout.replaceAll(/\n +/g, ' '), `No model has answered: this is the echo provider of this server. You wrote: “${said}”.`);
    const sentences = stdout.split('\n').slice(
      0,
      stdout.split('\n').findIndex((line) => line.includes('Everything of it')),
    );
    t.same(
      sentences.filter((line) => line.length > COLUMNS && !line.includes('No key is needed')),
      [],
      'answers are broken between words',
    );
    t.match(stdout, 'ada: No model has answered');
    t.match(stdout, /\/ui\/#code=\S+/);
    t.notMatch(stdout, 'bh_');
    t.same(leftovers(), []);
  });

  for (const { signal, child, leftovers } of lasting) {
    await t.test(`it serves until ${signal}, then ends with 0 and leaves nothing behind`, async (t) => {
      const { shown, url } = await served(child.stdout);
      t.equal((await fetch(`${url}/v1/health`)).status, 200);
      t.match(shown, 'auth set');
      child.kill(signal);
      await once(child, 'exit');
      t.equal(child.exitCode, 0);
      await t.rejects(fetch(`${url}/v1/health`));
      t.same(leftovers(), []);
    });
  }

  await t.test('a SIGTERM to npm, which ends only the shell of the script, ends the demo and its server', async (t) => {
    const { shell, leftovers } = byNpm;
    const { url } = await served(shell.stdout);
    t.equal((await fetch(`${url}/v1/health`)).status, 200);
    shell.stdout.resume();
    const closed = once(shell.stdout, 'close'); // when the last process has ended that writes to it
    shell.kill('SIGTERM');
    await closed;
    await t.rejects(fetch(`${url}/v1/health`));
    t.same(leftovers(), []);
  });
});

t.test('a port that somebody has chosen is used, or said to be taken; the usual one makes way for a free one', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const port = String((taken.address() as AddressInfo).port);
  t.match(await runHere(t, ['demo', '--once', '--port', port]), { code: 5, stderr: /is in use/ });
  t.match(await runHere(t, ['demo', '--once'], { env: { BLOCKHOUSE_PORT: port } }), { code: 5, stderr: /is in use/ });
  const file = join(testFolder(t), 'a-file');
  writeFileSync(file, '');
  t.match(await run(t, ['demo'], { env: { TMPDIR: file } }), { code: 5, stderr: /^blockhouse: The demo needs a temporary folder: / });
  t.match(await runHere(t, ['demo', '--json']), { code: 2, stderr: /has no JSON output/ });
});

/** What a failed test has left of the processes that it started. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
