import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testFolder } from '../../support/test-folder.ts';
import { openDesk, openDeskOfProcess, runHere } from '../run.ts';

const ON_LINUX = { skip: process.platform !== 'linux' && 'only Linux opens a browser with xdg-open, which the test replaces' };

const LINK = /^(http:\/\/127\.0\.0\.1:\d+)\/ui\/#code=([A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{22})\n$/;

const desk = await openDeskOfProcess(t);
/** Those of the links so far. */
const codes: string[] = [];

t.test('a printed link has a code that signs in once', async (t) => {
  const { on, server } = desk;
  const printed = await on(['open', '--print']);
  const [, origin, code = ''] = LINK.exec(printed.stdout) ?? [];
  t.equal(origin, server.url);
  t.strictSame([printed.code, printed.stderr], [0, '']);
  const signIn = async (): Promise<number> =>
    (await fetch(`${server.url}/api/session`, { method: 'POST', body: JSON.stringify({ code }), headers: { 'content-type': 'application/json' } })).status;
  t.equal(await signIn(), 200);
  t.equal(await signIn(), 401);
  const json = JSON.parse((await on(['open', '--json'])).stdout) as Record<string, unknown>;
  t.match(json, { url: /\/ui\/#code=/, expiresAt: /^\d{4}-/ });
  codes.push(code);
});

t.test('the browser gets a file of mode 0600 that leads to the page, and no argument and no terminal shows the code', ON_LINUX, async (t) => {
  const { begin } = desk;
  const folder = testFolder(t);
  const [home, program, seen] = [join(folder, 'home'), join(folder, 'bin/xdg-open'), join(folder, 'seen')];
  for (const name of ['home', 'bin']) mkdirSync(join(folder, name));
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${seen}'\ncat "$1" > '${seen}.html'\n`);
  chmodSync(program, 0o755);
  const opened = await begin(['open'], { env: { HOME: home, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` } }).ended;
  const file = readFileSync(seen, 'utf8').trimEnd();
  t.match(file, new RegExp(`^${home}/blockhouse-sign-in-[A-Za-z0-9]{6}/sign-in\\.html$`), 'in a folder that is not hidden, for browsers in a sandbox');
  t.strictSame([statSync(file).mode & 0o777, statSync(join(file, '..')).mode & 0o777], [0o600, 0o700]);
  const code = /#code=([A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{22})/.exec(readFileSync(`${seen}.html`, 'utf8'))?.[1] ?? 'none';
  t.notMatch(file + opened.stdout + opened.stderr, code);
  t.equal(opened.stdout, '');
  t.match(opened.stderr, /is open in the browser: http:\/\/127\.0\.0\.1:\d+\/ui\/\n.*open --print/);
});

t.test('without a place for the file, the link is printed', ON_LINUX, async (t) => {
  const { begin } = desk;
  const nowhere = join(testFolder(t), 'file');
  writeFileSync(nowhere, '');
  const { stdout, stderr } = await begin(['open'], { env: { HOME: nowhere, TMPDIR: nowhere } }).ended;
  t.match(stdout, LINK);
  t.match(stderr, /note: the file for the browser can't be written: .*\nNo browser could be opened\./);
});

t.test('a browser that can not be opened leaves the link', ON_LINUX, async (t) => {
  const { begin } = desk;
  const folder = testFolder(t);
  const none = await begin(['open'], { env: { PATH: folder } }).ended;
  t.match(none.stdout, LINK);
  t.match(none.stderr, 'No browser could be opened.');
  const program = join(folder, 'xdg-open');
  writeFileSync(program, '#!/bin/sh\nexit 3\n');
  chmodSync(program, 0o755);
  t.match((await begin(['open'], { env: { PATH: folder } }).ended).stdout, LINK, 'a program that fails');
});

t.test('no code is in the log', async (t) => {
  desk.server.child.kill('SIGTERM');
  const { stdout, stderr } = await desk.server.ended;
  t.ok(codes.length > 0);
  for (const code of ['#code=', ...codes]) t.notMatch(stdout + stderr, code);
});

t.test('without a server, it says how to start one', async (t) => {
  const { code, stdout, stderr } = await runHere(t, ['open', '--print', '--workspace', t.testdir()]);
  t.not(code, 0);
  t.equal(stdout, '');
  t.match(stderr, /No server is running .*start one with .* serve/);
});

t.test('behind a proxy, the link has the public origin', async (t) => {
  const dashboard = new URL('../../../dist/dashboard/', import.meta.url);
  const { on } = await openDesk(t, undefined, { publicOrigin: 'https://blocks.example', dashboard });
  t.match((await on(['open', '--print'])).stdout, /^https:\/\/blocks\.example\/ui\/#code=/);
});

t.test('of a server without a page, it says that there is none', async (t) => {
  const { on } = await openDesk(t);
  const { code, stdout, stderr } = await on(['open', '--print']);
  t.not(code, 0);
  t.equal(stdout, '');
  t.match(stderr, /This server has no dashboard/);
});
