// One block at run time: what a change of its files leads to, and what is said of it.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { RUNNABLE, startCore } from '../../support/blocks.ts';
import { pulseIn } from '../../support/held-daemon.ts';
import { until } from '../../support/until.ts';

t.test('a change of a file is reported to the list, to followers and to the monitor', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  let changes = 0;
  const leave = one.blocks.follow('ada', {
    onChange: () => {
      changes += 1;
    },
  });
  await one.blocks.updateConfig('ada', { description: 'new' });
  t.ok(changes > 0);
  t.match(one.factsOf('block.changed'), [{ block: 'ada', file: 'config' }]);
  t.equal((await one.blocks.list())[0]?.config.description, 'new');
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), description: 'by hand' });
  await until('the edit is told', () => one.factsOf('block.changed').length === 2);
  t.equal((await one.blocks.list())[0]?.config.description, 'by hand');
  leave();
});

t.test('the state that another process left in pulse.json is not shown', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'pulse', { status: 'BUSY', state: 'working', attention: true, error: 'x', currentTask: null });
  t.match((await one.blocks.details('ada')).pulse, { state: 'stopped', status: 'SLEEPING', attention: false, error: null, desired: 'stopped' });
  await one.blocks.updateConfig('ada', { adapter: null });
  t.match((await one.blocks.details('ada')).pulse, { state: 'unconfigured' });
});

t.test('a running monitor is shown as running, whatever happens to pulse.json', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.inState('ada', 'idle');
  const says = async () => [(await one.blocks.details('ada')).pulse.state, (await one.blocks.list())[0]?.state, (await one.blocks.explain('ada')).state];
  rmSync(one.folder('ada', 'pulse.json'));
  t.same(await says(), ['idle', 'idle', 'idle']);
  one.write('ada', 'pulse', '{"half');
  await one.told('block.rebuilt', { block: 'ada', file: 'pulse' });
  t.same(await says(), ['idle', 'idle', 'idle']);
  await one.blocks.reset('ada');
  await one.inState('ada', 'idle');
  t.same(await says(), ['idle', 'idle', 'idle']);
});

t.test('the heartbeat follows config.json', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, pulse: { intervalSeconds: 3600 } });
  await one.blocks.start('ada');
  await one.blocks.updateConfig('ada', { pulse: { intervalSeconds: 5 }, logs: { maxFileBytes: 1024 } });
  await one.told('block.transitioned', { to: 'idle' });
  t.equal((await one.blocks.details('ada')).config.pulse.intervalSeconds, 5);
});

t.test('a block with a damaged chat can be stopped, and is shown as stopped', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  one.write('ada', 'chat', '{');
  await pulseIn(one, 'ada', 'failed');
  t.match(await one.blocks.stop('ada'), { pulse: { state: 'stopped', desired: 'stopped' } });
  t.match(one.factsOf('block.damaged'), [{ block: 'ada', file: 'chat', copy: /^chat\.json\.corrupt-/ }]);
});

t.test('a config that is damaged while the monitor runs stops it, and its repair starts it', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  const config = one.readText('ada', 'config');
  one.write('ada', 'config', '{');
  await one.told('block.transitioned', { to: 'failed', cause: 'BLOCK_DAMAGED' });
  one.write('ada', 'config', config);
  await one.told('block.transitioned', { from: 'failed', to: 'starting' });
  await one.told('block.transitioned', { from: 'starting', to: 'idle', cause: 'recovered' });
  t.match(await one.ask('ada', 'hi'), { status: 'done' });
});

t.test('a folder that disappears while the monitor runs is an error until it comes back', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  const away = `${one.workspace}/away`;
  renameSync(one.folder('ada'), away);
  await one.told('block.transitioned', { to: 'failed' });
  renameSync(away, one.folder('ada'));
  await one.told('block.transitioned', { from: 'failed', to: 'starting' });
  t.match(await one.ask('ada', 'hi'), { status: 'done' });
});

t.test("a log that can't be written is reported, and the work goes on", async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  rmSync(one.folder('ada', 'logs'), { recursive: true, force: true });
  writeFileSync(one.folder('ada', 'logs'), 'no folder');
  await one.blocks.start('ada');
  t.match(await one.ask('ada', 'hi'), { status: 'done' });
  await one.told('workspace.fault', { block: 'ada', what: 'log' });
  t.equal(readFileSync(one.folder('ada', 'logs'), 'utf8'), 'no folder');
});

t.test("a block that can't be moved stays, and its monitor runs again", async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  let gone = 0;
  one.blocks.follow('ada', {
    onGone: () => {
      gone += 1;
    },
  });
  rmSync(`${one.workspace}/archive`, { recursive: true });
  writeFileSync(`${one.workspace}/archive`, 'no folder');
  await t.rejects(one.blocks.archive('ada'));
  t.equal(gone, 0);
  await one.blocks.start('ada');
  t.match(await one.ask('ada', 'hi'), { status: 'done' });
  rmSync(`${one.workspace}/archive`);
  mkdirSync(`${one.workspace}/archive`);
  await one.blocks.archive('ada');
  t.equal(gone, 1);
});
