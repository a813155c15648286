// Signing in to a server of tools with commands: a server and commands in processes, an authorization server over loopback, and a browser that is a short program.
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { authorizationServer, guardedTools, ROBOT_SECRET } from '../../support/tools/authorization-server.ts';
import { testFolder } from '../../support/test-folder.ts';
import { openDeskOfProcess } from '../run.ts';

const ON_LINUX = { skip: process.platform !== 'linux' && 'only Linux opens a browser with xdg-open, which the test replaces' };
const desk = await openDeskOfProcess(t);
const stand = await authorizationServer(t);
const tools = await guardedTools(t, stand);
const auth = (): { oauth?: Record<string, Record<string, unknown>> } => JSON.parse(readFileSync(join(desk.workspace, 'auth.json'), 'utf8'));

/** A browser that opens what stands in the file, and goes where it is led. Below a folder of this package it is a module, elsewhere none. */
const BROWSER = `#!${process.execPath}
import('node:fs').then(async ({ readFileSync, writeFileSync }) => {
  const file = readFileSync(process.argv[2], 'utf8');
  const url = JSON.parse(/location\\.replace\\((".*?")\\)/.exec(file)[1]);
  writeFileSync(process.argv[1] + '.args', JSON.stringify(process.argv.slice(2)));
  const answer = await fetch(url);
  writeFileSync(process.argv[1] + '.page', answer.status + ' ' + (await answer.text()));
});
`;

t.test('an address that wants a sign-in says what to do, and the browser signs in', ON_LINUX, async (t) => {
  const { on, begin } = desk;
  await on(['tools', 'add', 'crm', '--url', tools.url]);
  t.match(await on(['tools', 'test', 'crm']), { code: 1, stderr: /crm can't be used: it wants a sign-in \(HTTP 401\); sign in: `blockhouse tools login crm`/ });
  const folder = testFolder(t);
  for (const name of ['home', 'bin']) mkdirSync(join(folder, name));
  const program = join(folder, 'bin/xdg-open');
  writeFileSync(program, BROWSER);
  chmodSync(program, 0o755);
  const env = { HOME: join(folder, 'home'), PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };
  const done = await begin(['tools', 'login', 'crm', '--client-id', 'person', '--issuer', stand.issuer], { env }).ended;
  t.equal(done.code, 0, done.stderr);
  t.match(done.stderr, new RegExp(`crm signs in at ${stand.issuer}\\. The page in the browser must be of ${stand.origin}\\.`));
  t.match(done.stderr, /crm is signed in at http:.*\n.*To see its tools: `.* tools test crm/);
  t.notMatch(done.stdout + done.stderr + readFileSync(`${program}.args`, 'utf8'), /state=|\bat-\w{20}|\brt-\w{20}/, 'no link, and no token');
  t.match(readFileSync(`${program}.page`, 'utf8'), /^200 .*The answer has arrived/s);
  t.match(auth().oauth?.['crm']?.[stand.issuer], { grant: 'authorization_code', accessToken: /^at-/ });
  t.match(await on(['tools', 'test', 'crm']), { code: 0, stdout: /echo/ });
  const listed = await on(['tools', 'ls', '--json']);
  t.match(JSON.parse(listed.stdout), { servers: [{ name: 'crm', signIn: { state: 'signed-in', issuer: stand.issuer } }] });
  t.notMatch(listed.stdout, /\bat-\w{20}|\brt-\w{20}/);
});

t.test('without a browser, the link is printed, and what a browser elsewhere ended at is taken later', async (t) => {
  const { on, begin } = desk;
  const waiting = begin(['tools', 'login', 'crm', '--client-id', 'person', '--issuer', stand.issuer, '--print']);
  let said = '';
  const link = await new Promise<string>((resolve) => {
    waiting.child.stderr.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      const [found] = /http:\/\/\S+\/authorize\?\S+/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const answer = await fetch(link, { redirect: 'manual' });
  const location = answer.headers.get('location') ?? '';
  for (const wrong of [location.replace(/state=[^&]+/, 'state=x'), location.replace('/callback', '/other'), location.replace(/\?.*/, '')])
    t.equal((await fetch(wrong)).status, 400, 'another answer, and the wait goes on');
  waiting.child.kill('SIGINT');
  await waiting.ended;
  t.match(await on(['tools', 'login', 'crm', '--answer'], { input: 'nothing\n' }), { code: 2, stderr: /Give the whole address/ });
  t.match(await on(['tools', 'login', 'crm', '--answer'], { input: `${location}\n` }), { code: 0, stderr: /is signed in at/ });
  t.match(await on(['tools', 'login', 'crm', '--answer'], { input: `${location}\n` }), { code: 2, stderr: /no answer to a sign-in that has begun/ });
  t.match(await on(['tools', 'logout', 'crm']), { code: 0, stderr: 'The tokens are deleted.\n' });
  t.strictSame(auth().oauth, undefined);
  t.ok(stand.revoked.length >= 2);
});

t.test('a program signs in without a browser, with a secret from standard input', async (t) => {
  const { on } = desk;
  const settings = { oauth: { grant: 'client_credentials', clientId: 'robot', issuer: stand.issuer } };
  const file = join(desk.workspace, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { crm: { type: 'http', url: tools.url } }, blockhouse: { crm: settings } }));
  t.match(await on(['tools', 'login', 'crm', '--client-secret'], { input: `${ROBOT_SECRET}\n` }), { code: 0, stderr: /^crm is signed in at http/ });
  const shown = await on(['tools', 'ls']);
  t.notMatch(shown.stdout + shown.stderr, /robot\+secret|\bat-\w{20}/);
});

t.test('what can not be is refused before anything begins', async (t) => {
  const { on } = desk;
  for (const args of [
    ['--port', '0'],
    ['--port', '70000'],
    ['--port', 'x'],
    ['--answer', '--client-secret'],
  ])
    t.match(await on(['tools', 'login', 'crm', ...args], { input: 'x' }), { code: 2 }, args.join(' '));
  t.match(await on(['tools', 'login', 'gone']), { code: 2, stderr: /no server of tools named "gone"/ });
  t.match(await on(['tools', 'logout', 'gone']), { code: 2 });
});

t.test('no file of the workspace has a token or a secret but auth.json', async (t) => {
  const { on, workspace } = desk;
  await on(['tools', 'test', 'crm']);
  const secrets = [...stand.tokens.keys(), ...stand.refresh.keys(), ...stand.codes.keys(), ROBOT_SECRET];
  t.ok(secrets.length > 3);
  for (const name of readdirSync(workspace, { recursive: true, encoding: 'utf8' })) {
    const path = join(workspace, name);
    if (name === 'auth.json' || !statSync(path).isFile()) continue;
    const text = readFileSync(path, 'utf8');
    t.notOk(
      secrets.some((secret) => text.includes(secret)),
      name,
    );
  }
});
