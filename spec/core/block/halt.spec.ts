import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { HaltSwitch } from '../../../core/block/halt.ts';
import { createBus } from '../../../core/bus.ts';
import { openSettings } from '../../../core/store/open.ts';
import { AT } from '../../support/block-files.ts';
import { testFolder } from '../../support/test-folder.ts';

interface Opened {
  readonly halt: HaltSwitch;
  readonly path: string;
  readonly told: unknown[];
  /** Lets the time pass after which the file is looked at again. */
  later(): void;
}

/** In a `folder` that is a link to nowhere, no file can be written. */
function open(t: Test, files: Parameters<Test['testdir']>[0] = {}, folder = '.'): Opened {
  const workspace = join(testFolder(t, files), folder);
  const bus = createBus();
  const told: unknown[] = [];
  bus.on('workspace.halted', (fact) => void told.push(fact));
  let now = 0;
  const halt = new HaltSwitch(
    openSettings(workspace, () => now),
    bus,
    () => Date.parse(AT),
  );
  const later = (): void => {
    now += 250;
  };
  return { halt, path: join(workspace, 'halted.json'), told, later };
}

t.test('the switch is released until it is set, and outlives the process', async (t) => {
  const { halt, path, told } = open(t);
  t.same(halt.state(), { halted: false, since: null, reason: null });
  t.same(await halt.set({ reason: 'too dear' }), { halted: true, since: AT, reason: 'too dear' });
  t.same(halt.state(), { halted: true, since: AT, reason: 'too dear' });
  t.equal(statSync(path).mode & 0o777, 0o600);
  const next = new HaltSwitch(openSettings(join(path, '..')), createBus(), () => 0);
  t.same(next.state(), { halted: true, since: AT, reason: 'too dear' });
  t.same(await halt.release(), { halted: false, since: null, reason: null });
  t.same(await halt.release(), { halted: false, since: null, reason: null }, 'again');
  t.same(told, [
    { halted: true, reason: 'too dear' },
    { halted: false, reason: null },
  ]);
});

t.test('a switch that is set again keeps its first reason', async (t) => {
  const workspace = testFolder(t, {});
  let now = Date.parse(AT);
  const halt = new HaltSwitch(openSettings(workspace), createBus(), () => now);
  const first = { halted: true, since: AT, reason: 'first' };
  t.same(await halt.set({ reason: 'first' }), first);
  now += 60_000;
  t.same(await halt.set({ reason: 'second' }), first);
  t.same(await halt.set({}), first);
  t.same(new HaltSwitch(openSettings(workspace), createBus(), () => now).state(), first, 'in the file, too');
  await halt.release();
  t.same(await halt.set({ reason: 'third' }), { halted: true, since: new Date(now).toISOString(), reason: 'third' });
});

t.test('a switch that was set before the start is reported', (t) => {
  const { halt, told } = open(t, { 'halted.json': '{"reason":"r","since":5}' });
  t.same(halt.state(), { halted: true, since: null, reason: 'r' });
  t.same(told, [{ halted: true, reason: 'r' }]);
  t.end();
});

t.test('any file with the name sets the switch, and removing it releases the switch', async (t) => {
  const { halt, path, told, later } = open(t);
  t.equal(halt.state().halted, false);
  for (const content of ['', 'not JSON', 'null', '{"reason":"mine"}']) {
    writeFileSync(path, content);
    later();
    t.match(halt.state(), { halted: true, reason: content.includes('mine') ? 'mine' : null });
    rmSync(path);
    later();
    t.equal(halt.state().halted, false);
  }
  mkdirSync(path);
  later();
  t.equal(halt.state().halted, true, 'even by a folder');
  await t.rejects(halt.set({}), { code: 'STORAGE_FAILED' });
  await t.rejects(halt.release(), { code: 'STORAGE_FAILED', message: /^halted\.json can't be written or removed \(E/ });
  t.equal(told.length, 9);
});

t.test('the blocks are halted even if the disk takes no file, until the switch is released', async (t) => {
  const { halt, told, later } = open(t, { gone: t.fixture('symlink', 'nowhere/at/all') }, 'gone');
  await t.rejects(halt.set({ reason: 'runaway' }), { code: 'STORAGE_FAILED', message: /^All blocks are halted, but halted\.json can't be written/ });
  await t.rejects(halt.set({ reason: 'second' }), { code: 'STORAGE_FAILED' });
  t.same(halt.state(), { halted: true, since: AT, reason: 'runaway' });
  later();
  t.equal(halt.state().halted, true, 'it stays, though there is no file');
  t.same(await halt.release(), { halted: false, since: null, reason: null });
  t.equal(halt.state().halted, false);
  t.equal(told.length, 2);
});

t.test('a body of the wrong form changes nothing', async (t) => {
  const { halt, path } = open(t);
  for (const body of [null, [], { reason: 5 }, { until: 'x' }, { reason: 'x'.repeat(501) }]) await t.rejects(halt.set(body), { code: 'INVALID_REQUEST' });
  t.throws(() => readFileSync(path), { code: 'ENOENT' });
});

t.test('releases at the moment in which the switch is set find no fault', async (t) => {
  const { halt } = open(t);
  for (let round = 0; round < 20; round += 1) {
    let isSet = false;
    const setting = halt.set({}).then(() => {
      isSet = true;
    });
    while (!isSet) await Promise.all(Array.from({ length: 64 }, () => halt.release()));
    await setting;
  }
  t.equal((await halt.release()).halted, false);
});
