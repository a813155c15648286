import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDesk } from '../run.ts';

t.test('doctor is 0 when all is well, and 1 with what is wrong and its cure otherwise', async (t) => {
  const { on, workspace } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama']);
  t.match(await on(['doctor']), { code: 0, stdout: '', stderr: /^Checked 1 block, .*: nothing wrong\.\n$/ });
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

t.test('the kill switch is set and released', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['halt', 'wrong\x1b[2J prompt']), {
    code: 0,
    stdout: '',
    stderr: /^Halted .*: wrong prompt; no monitor calls a model, and replies that are being written end\. `.* unhalt .*` releases it\.\n$/,
  });
  t.match(JSON.parse((await on(['halt', '--json'])).stdout), { halted: true });
  t.match(await on(['unhalt']), { code: 0, stderr: /^Released/ });
  t.same(JSON.parse((await on(['unhalt', '--json'])).stdout).halted, false);
});

t.test('while it is set, the list says so beside the blocks that wait for it', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  t.notMatch((await on(['ls'])).stderr, 'halted');
  await on(['halt']);
  let seen = '';
  for (let tries = 0; tries < 20 && !seen.includes('paused'); tries += 1) seen = (await on(['ls'])).stderr;
  t.match(seen, /All blocks are halted; `.* unhalt.*` lets them go on\.\n! one: paused/);
});
