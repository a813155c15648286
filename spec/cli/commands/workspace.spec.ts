import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sendJson } from '../../support/upstream.ts';
import { openDesk, runHere } from '../run.ts';

// AWS's chain reads the environment of the process, and must look at no folder and no service of this machine.
Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' });
for (const name of Object.keys(process.env).filter((one) => /^AWS_(?!EC2)/.test(one))) delete process.env[name];

t.test('doctor is 0 when all is well, and 1 with what is wrong and its cure otherwise', async (t) => {
  const { on, workspace } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama']);
  t.match(await on(['doctor']), { code: 0, stdout: '', stderr: /^note: checked by the running server.*\nChecked 1 block, .*: nothing wrong\.\n$/ });
  mkdirSync(join(workspace, 'blocks', 'torn'));
  writeFileSync(join(workspace, 'blocks', 'torn', 'config.json'), '{bad');
  const sick = await on(['doctor']);
  t.match(sick, { code: 1, stdout: /^error +blocks\/torn: config\.json .*\n +fix: .*\n/m, stderr: /finding/ });
  const json = await on(['doctor', '--json']);
  t.equal(json.code, 1);
  const report = JSON.parse(json.stdout) as { ok: boolean; findings: { severity: string }[] };
  t.equal(report.ok, false);
  t.ok(report.findings.some(({ severity }) => severity === 'error'));
});

t.test('without a server, doctor reads the files itself and changes none', async (t) => {
  const workspace = t.testdir({ blocks: { torn: { 'config.json': '{bad', 'memory.json': '{worse' } } });
  const sick = await runHere(t, ['doctor', '--workspace', workspace]);
  t.match(sick, {
    code: 1,
    stdout: /^error +blocks\/torn: config\.json .*\n +fix: .*\n$/,
    stderr: /^note: no server is running.*\nChecked 1 block, .*: 1 finding\.\n$/,
  });
  t.same(readdirSync(workspace), ['blocks'], 'no lock, and no folder was made');
  t.same(readdirSync(join(workspace, 'blocks', 'torn')), ['config.json', 'memory.json'], 'no copy was made');
  const fresh = t.testdir();
  t.match(await runHere(t, ['doctor', '--workspace', fresh]), { code: 0, stderr: /Checked 0 blocks/ });
  t.match(await runHere(t, ['doctor', '--workspace', join(fresh, 'none')]), { code: 5, stderr: /^blockhouse: There is no workspace .*serve/ });
});

t.test('without a server, doctor looks at the database that keeps the workspace, too', async (t) => {
  const env = { BLOCKHOUSE_STORE: 'postgres://me:secret@127.0.0.1:1/db' };
  const away = await runHere(t, ['doctor', '--workspace', t.testdir()], { env });
  t.match(away, { code: 1, stdout: /^error +database .*ECONNREFUSED.*\n +fix: .*BLOCKHOUSE_STORE.*\n$/, stderr: /0 blocks.*1 finding/ });
  t.notMatch(away.stdout + away.stderr, 'secret');
  t.match(JSON.parse((await runHere(t, ['doctor', '--json', '--workspace', t.testdir()], { env })).stdout), { ok: false, findings: [{ severity: 'error' }] });
});

t.test('doctor --online tries what is configured, with a server and without', async (t) => {
  let status = 200;
  const { on, upstream } = await openDesk(t, (_request, res) => sendJson(res, status === 200 ? { models: [{ name: 'a' }] } : { error: 'broken' }, status));
  t.match(await on(['doctor', '--online']), { code: 0, stdout: /^ok +ollama: The daemon .* 1 model is available\.\n$/, stderr: /, 1 provider: nothing wrong/ });
  const env = { OLLAMA_BASE_URL: upstream.url, OPENAI_API_KEY: 'key-0123456789abcdef', OPENAI_BASE_URL: upstream.url };
  const shell = await runHere(t, ['doctor', '--online', '--json', '--workspace', t.testdir()], { env });
  t.match(JSON.parse(shell.stdout), { providers: [{ provider: 'openai' }, { provider: 'ollama', ok: true }] });
  status = 401;
  const refused = await runHere(t, ['doctor', '--online', '--workspace', t.testdir()], { env });
  t.match(refused, { code: 1, stdout: /error +openai: / });
});

t.test('nodes lists the server of the workspace', async (t) => {
  const { on } = await openDesk(t);
  const { stdout, ...rest } = await on(['nodes']);
  t.match(rest, { code: 0, stderr: '' });
  t.match(stdout, /^SERVER .*BLOCKS.*\n[0-9a-f-]{36} \* .* now .*\n$/);
  const json = await on(['nodes', '--json']);
  t.match(JSON.parse(json.stdout), { nodes: [{ self: true, alive: true, draining: false, blocks: 0 }] });
  const { id } = JSON.parse(json.stdout).nodes[0];
  t.match(await on(['nodes', '--drain', id.slice(0, 6)]), { code: 2, stdout: '', stderr: /kept in a folder.* Stop the server instead\.\n$/ });
  t.match(await on(['nodes', '--undrain', 'nobody']), { code: 2, stderr: 'No server is called "nobody".\n' });
  t.match(await on(['nodes', '--drain', id, '--undrain', id]), { code: 2, stderr: /not both\.\n$/ });
});

t.test('the kill switch is set and released', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['halt', 'wrong\x1b[2J prompt']), {
    code: 0,
    stdout: '',
    stderr: /^Halted .*: wrong prompt; no monitor calls a model, and replies in progress are ended\. `.* unhalt .*` releases it\.\n$/,
  });
  t.match(JSON.parse((await on(['halt', '--json'])).stdout), { halted: true });
  t.match(await on(['unhalt']), { code: 0, stderr: /^The kill switch is released/ });
  t.same(JSON.parse((await on(['unhalt', '--json'])).stdout).halted, false);
});

t.test('while it is set, the list says so beside the blocks that wait for it', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  t.notMatch((await on(['ls'])).stderr, 'halted');
  await on(['halt']);
  let seen = '';
  for (let tries = 0; tries < 20 && !seen.includes('paused'); tries += 1) seen = (await on(['ls'])).stderr;
  t.match(seen, /All blocks are halted; `.* unhalt.*` lets them continue\.\n! one: paused/);
});
