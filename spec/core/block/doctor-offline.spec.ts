import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createCore } from '../../../core/index.ts';
import { startCore } from '../../support/blocks.ts';

t.test('a workspace that another core holds is checked without its lock, and stays as it is', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.create('torn');
  writeFileSync(join(one.folder('torn'), 'memory.json'), '{');
  writeFileSync(join(one.folder('torn'), 'costs.json'), '{');
  const lock = readFileSync(join(one.workspace, '.lock'), 'utf8');
  const before = readdirSync(one.folder('torn'));
  const other = createCore({ workspace: one.workspace, adapters: [] });
  t.teardown(() => other.close());
  t.match(await other.check(), { ok: false, checked: { blocks: 2 }, findings: [{ severity: 'error', place: 'blocks/torn', problem: /memory\.json/ }] });
  t.same(readdirSync(one.folder('torn')), before);
  t.equal(readFileSync(join(one.folder('torn'), 'costs.json'), 'utf8'), '{');
  t.equal(readFileSync(join(one.workspace, '.lock'), 'utf8'), lock);
});

t.test('a folder that is not there is an error', async (t) => {
  const core = createCore({ workspace: join(t.testdir(), 'none'), adapters: [] });
  t.teardown(() => core.close());
  await t.rejects(core.check(), { code: 'ENOENT' });
  await t.rejects(async () => createCore({ adapters: [] }).check(), /workspace/);
});
