// What a server is started with, and when it is ended.
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { RunningBook } from '../../../adapters/tools/leftovers.ts';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import type { StdioStart } from '../../../adapters/tools/server.ts';
import { startStdio } from '../../../adapters/tools/stdio-server.ts';
import { sweep, swept } from '../../support/sweep.ts';
import { runs, sessionsRig, textOf } from '../../support/tools/sessions-rig.ts';
import { until } from '../../support/until.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const sdk = await loadSdk();

t.test('a server that has stopped answering is ended, and starts again with the next call', async (t) => {
  const { hostile, call, pids, sessions } = sessionsRig(t, { deafMs: 100 });
  const server = hostile();
  await t.rejects(call(server, 'stop', {}, { timeoutMs: 100 }), { code: 'TOOL_OUTCOME_UNKNOWN' });
  await until('it is ended', () => sessions.stateOf('hostile').problem === 'hostile has stopped answering.');
  t.equal(textOf(await call(server, 'echo', { text: 'again' })), 'again');
  t.equal(pids().length, 2);
});

t.test('a hundred lines in a minute that are no messages end a server', async (t) => {
  const { hostile, call, sessions } = sessionsRig(t);
  await t.rejects(call(hostile(), 'garbage', { lines: 200 }), {
    code: 'TOOL_OUTCOME_UNKNOWN',
    message: 'hostile has written 100 lines within a minute that are no messages.',
  });
  await until('it is ended', () => sessions.stateOf('hostile').state === 'idle');
});

t.test('a server gets few variables, a folder of its own, and no key', async (t) => {
  const env = { ...process.env, OPENAI_API_KEY: 'sk-canary', LANG: 'C.UTF-8', HTTPS_PROXY: 'http://proxy.example:3128' };
  const { hostile, call, workspace } = sessionsRig(t, { env });
  const server = hostile();
  const start = { ...server.start, env: { GREETING: 'hello' } } as typeof server.start;
  const seen = JSON.parse(textOf(await call({ ...server, start }, 'env')));
  t.match(seen.env, { GREETING: 'hello', LANG: 'C.UTF-8', HTTPS_PROXY: 'http://proxy.example:3128', BLOCKHOUSE_SERVER: /^[0-9a-f]{32}$/ });
  t.strictSame(
    Object.keys(seen.env).filter(
      (name) =>
        !/^(?:HOME|PATH|SHELL|TERM|LANG|TZ|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE|(?:HTTPS?|ALL|NO)_PROXY|(?:https?|all|no)_proxy|GREETING|BLOCKHOUSE_SERVER(?:_PROCESS)?|_TAPJS_.*|NODE_OPTIONS)$/.test(
          name,
        ),
    ),
    [],
  );
  t.equal(seen.cwd, join(workspace, 'tools', 'hostile'));
  t.equal(statSync(seen.cwd).mode & 0o777, 0o700);
});

t.test('standard error goes to a log that is bounded and masked', async (t) => {
  const { hostile, call, workspace } = sessionsRig(t);
  const server = { ...hostile(), secrets: ['correct-horse-battery'] };
  await call(server, 'complain', { words: 'The key correct-horse-battery\u0007 is wrong.' });
  await call(server, 'flood', { bytes: sweep(5_000_000, 1_500_000) });
  const path = join(workspace, 'logs/tools/hostile.log');
  await until('the flood is written', () => existsSync(`${path}.1`));
  await call(server, 'exit').catch(() => undefined);
  const all = `${readFileSync(`${path}.1`, 'utf8')}${readFileSync(path, 'utf8')}`;
  t.notMatch(all, 'correct-horse');
  t.ok(all.length < 3_000_000);
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test('a program that may download its server first is not ended after the first seconds of a greeting', async (t) => {
  const { hostile, workspace } = sessionsRig(t);
  const npx = join(workspace, 'npx');
  symlinkSync(process.execPath, npx);
  const asked: unknown[] = [];
  class Client {
    constructor(_own: unknown, options: { readonly versionNegotiation: { readonly probe: { readonly timeoutMs: number } } }) {
      asked.push(options.versionNegotiation.probe.timeoutMs);
    }
    connect(): Promise<void> {
      return Promise.reject(new Error('enough'));
    }
  }
  const surroundings = { sdk: { ...sdk, Client } as never, workspace, env: process.env, book: new RunningBook(workspace), deafMs: 5000, listMs: 1000 };
  for (const command of [process.execPath, npx]) {
    const server = hostile({ atStart: 'silent' }, { startTimeoutMs: 90_000 });
    const start = { ...server.start, command } as StdioStart;
    await t.rejects(startStdio({ server: { ...server, start }, era: 'modern', signal: new AbortController().signal }, surroundings), /enough/);
  }
  t.strictSame(asked, [5000, 90_000]);
});

t.test('a secret in the words with which a server refuses its greeting is masked', async (t) => {
  const { hostile, call } = sessionsRig(t);
  const server = { ...hostile({ atStart: 'refuse' }), secrets: ['correct-horse-battery'] };
  const start = { ...server.start, env: { TOKEN: 'correct-horse-battery' } } as typeof server.start;
  await t.rejects(call({ ...server, start }, 'echo'), { code: 'TOOL_NOT_BEGUN', message: /it refused the greeting \(The token \[redacted\] is wrong/ });
});

const POURED = [
  ['progress', 0],
  ['changed', 0],
  ['log', 4_000_000],
  ['log', 0],
  ['form', 0],
  ['task', 0],
  ['foreign', 0],
] as const;
/** What is kept of so many bytes would be seen below. */
const UNASKED = { messages: sweep(100_000, 5000), bytes: sweep(256, 96) * 2 ** 20 };
for (const index of swept(POURED.length, 2)) {
  const [kind, bytes] = POURED[index] ?? POURED[0];
  t.test(
    `a server that pours out ${kind}${bytes === 0 ? '' : ' in large pieces'} without an end is ended, others are served meanwhile, and nothing of it is kept`,
    async (t) => {
      const { hostile, call, sessions, pids } = sessionsRig(t, { unasked: UNASKED });
      const other = hostile({}, {}, { name: 'other', definition: 'other' });
      t.equal(textOf(await call(other, 'echo', { text: 'before' })), 'before');
      collectGarbage();
      const before = process.memoryUsage();
      const poured = call(hostile(), 'pour', { kind, bytes }).then(
        () => 'a result',
        (error: { code?: string; message?: string }) => `${error.code} ${error.message}`,
      );
      let turns = 0;
      let served = 0;
      let isOver = false;
      void poured.then(() => (isOver = true));
      while (!isOver) {
        turns += 1;
        if (textOf(await call(other, 'echo', { text: 'beside' })) === 'beside') served += 1;
      }
      t.match(await poured, /^TOOL_OUTCOME_UNKNOWN hostile has sent 100,000 messages, or 256 MiB of them/);
      t.equal(served, turns);
      t.ok(served >= 1, `${served} calls of another server`);
      await until('its process is gone', () => !pids().slice(1).some(runs));
      t.equal(sessions.stateOf('other').state, 'ready');
      collectGarbage();
      const after = process.memoryUsage();
      const grown = Math.round((after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20);
      t.ok(grown < 64, `${grown} MiB more`);
    },
  );
}
