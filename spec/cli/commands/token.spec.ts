import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startServer } from '../../../cli/compose.ts';
import { ask, noPostgres, postgresStore } from '../../support/postgres.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { runHere, serve } from '../run.ts';

const TOKEN_LINE = /^bh_[A-Za-z0-9_-]{43}\n$/;

t.test('stdout is the token and a newline, and the file is for its owner alone', async (t) => {
  const workspace = join(testFolder(t), 'new', 'place');
  const first = await runHere(t, ['token', '--workspace', workspace]);
  t.match(first.stdout, TOKEN_LINE);
  t.equal(first.stderr, '');
  t.equal(first.code, 0);
  const file = join(workspace, '.api-token');
  t.equal(readFileSync(file, 'utf8'), first.stdout);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same(await runHere(t, ['token', '--workspace', workspace]), first);
  t.same(JSON.parse((await runHere(t, ['token', '--json', '--workspace', workspace])).stdout), { token: first.stdout.trim() });
});

t.test('a token that is a file is the one of the workspace, at each start, and only that file renews it', async (t) => {
  const folder = testFolder(t);
  const workspace = join(folder, 'workspace');
  const file = join(folder, 'token');
  const env = { BLOCKHOUSE_TOKEN_FILE: file };
  const token = (...more: string[]) => runHere(t, ['token', '--workspace', workspace, ...more], { env });
  t.match(await token(), { code: 5, stderr: /BLOCKHOUSE_TOKEN_FILE names .*\/token, which does not exist\.\n$/ });
  writeFileSync(file, 'a password\n');
  t.match(await token(), { code: 5, stderr: /The file of BLOCKHOUSE_TOKEN_FILE must have a token: bh_ and 43 characters/ });
  await runHere(t, ['token', '--workspace', workspace]);
  for (const letter of ['A', 'B']) {
    const given = `bh_${letter.repeat(43)}`;
    writeFileSync(file, `${given}\n`);
    const server = await startServer({ port: '0', workspace }, { ...env, BLOCKHOUSE_LOG_LEVEL: 'silent' });
    t.equal((await fetch(`${server.url}/v1/adapters`, { headers: { authorization: `Bearer ${given}` } })).status, 200, letter);
    t.equal((await token()).stdout, `${given}\n`);
    t.equal((await runHere(t, ['key', 'ls', '--workspace', workspace])).code, 0, 'commands know it without the variable');
    await server.close();
  }
  t.match(await token('--new-token'), { code: 2, stderr: /The token comes from the file that BLOCKHOUSE_TOKEN_FILE names\./ });
});

t.test('a running server takes a new token up and refuses the old one', async (t) => {
  const workspace = testFolder(t);
  const { url, close } = await startServer({ port: '0', workspace }, { BLOCKHOUSE_LOG_LEVEL: 'silent' });
  t.teardown(close);
  const accepts = async (line: string): Promise<boolean> =>
    (await fetch(`${url}/v1/adapters`, { headers: { authorization: `Bearer ${line.trim()}` } })).status === 200;
  const old = (await runHere(t, ['token', '--workspace', workspace])).stdout;
  t.equal(await accepts(old), true);
  const renewed = (await runHere(t, ['token', '--new-token', '--workspace', workspace])).stdout;
  t.match(renewed, TOKEN_LINE);
  t.not(renewed, old);
  let isTaken = false;
  void (async () => {
    while (!isTaken) isTaken = await accepts(renewed);
  })();
  await until('the new token is taken up', () => isTaken);
  t.equal(await accepts(old), false);
});

t.test('a new token of a database ends the old one for all its servers', { skip: noPostgres }, async (t) => {
  const store = await postgresStore(t);
  const [workspace, env] = [testFolder(t), { BLOCKHOUSE_STORE: store }];
  const renewed = await runHere(t, ['token', '--new-token', '--workspace', workspace], { env });
  t.match(renewed, { code: 0, stdout: TOKEN_LINE, stderr: '' });
  t.equal(readFileSync(join(workspace, '.api-token'), 'utf8'), renewed.stdout, 'its text stays here');
  const [row] = await ask(store, "select value, rev::int from bh.setting where key = 'token'");
  t.same(row, { value: createHash('sha256').update(renewed.stdout.trim()).digest('hex'), rev: 1 });
  const again = await runHere(t, ['token', '--new-token', '--workspace', workspace], { env });
  t.not(again.stdout, renewed.stdout);
  t.match(await ask(store, "select rev::int from bh.setting where key = 'token'"), [{ rev: 2 }]);
});

t.test('a shell without the address of the database makes no token for a server that has one', { skip: noPostgres }, async (t) => {
  const workspace = testFolder(t);
  const server = await serve(t, workspace, { BLOCKHOUSE_STORE: await postgresStore(t) });
  const before = readFileSync(join(workspace, '.api-token'), 'utf8');
  const refused = await runHere(t, ['token', '--new-token', '--workspace', workspace]);
  t.match(refused, { code: 5, stdout: '', stderr: /BLOCKHOUSE_STORE/ });
  t.equal(readFileSync(join(workspace, '.api-token'), 'utf8'), before, 'the server still takes it');
  t.equal((await runHere(t, ['token', '--workspace', workspace])).stdout, before, 'and it can be printed');
  server.child.kill('SIGTERM');
  await server.ended;
});

t.test('a damaged token file is reported with its cure, and not echoed', async (t) => {
  const workspace = t.testdir({ '.api-token': 'some-secret-text\n' });
  const { code, stdout, stderr } = await runHere(t, ['token', '--workspace', workspace]);
  t.equal(code, 5);
  t.equal(stdout, '');
  t.match(stderr, /^blockhouse: .*--new-token.*\n$/);
  t.notMatch(stderr, 'some-secret-text');
});

t.test('a workspace that is no folder is exit code 5', async (t) => {
  const file = join(testFolder(t), 'file');
  writeFileSync(file, '');
  chmodSync(file, 0o600);
  const { code, stderr } = await runHere(t, ['token', '--workspace', file]);
  t.equal(code, 5);
  t.match(stderr, /^blockhouse: .*\n$/);
});
