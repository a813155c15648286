// What a killed program has left: the next one ends it, and nothing else.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { MARK, RunningBook } from '../../../adapters/tools/leftovers.ts';
import { startTimeOf } from '../../../adapters/tools/supervisor.ts';
import { testFolder } from '../../support/test-folder.ts';
import { runs } from '../../support/tools/sessions-rig.ts';
import { until } from '../../support/until.ts';

const LINUX = process.platform === 'linux' ? false : 'marks are read on Linux';
const DEAF = "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000); process.stdout.write('ready');";

/** A process as a killed program leaves it. */
async function left(t: Test, env: Record<string, string>): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', DEAF], { detached: true, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => child.kill('SIGKILL'));
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child as ChildProcess & { readonly pid: number };
}

t.test('processes with the mark of the workspace are ended, and a foreign one with a number that is written down lives', { skip: LINUX }, async (t) => {
  const workspace = testFolder(t, {});
  const mark = await new RunningBook(workspace).open();
  t.match(mark, /^[0-9a-f]{32}$/);
  const [one, two, foreign, other] = await Promise.all([
    left(t, { [MARK]: mark }),
    left(t, { [MARK]: mark }),
    left(t, {}),
    left(t, { [MARK]: 'f'.repeat(32) }),
  ]);
  const servers = [
    { server: 'files', pid: one.pid, startedAt: '1' },
    { server: 'files', pid: foreign.pid, startedAt: (await startTimeOf(foreign.pid)) ?? '' },
  ];
  writeFileSync(join(workspace, '.servers.json'), JSON.stringify({ mark, servers }));
  t.equal(await new RunningBook(workspace).open(), mark, 'the mark stays');
  await until('both are gone', () => !runs(one.pid) && !runs(two.pid));
  t.strictSame([foreign.pid, other.pid].map(runs), [true, true]);
});

t.test('the file names what runs, for its owner alone', async (t) => {
  const workspace = testFolder(t, {});
  const book = new RunningBook(workspace);
  await book.open();
  const read = () => JSON.parse(readFileSync(join(workspace, '.servers.json'), 'utf8'));
  await book.add('files', process.pid);
  await Promise.all([book.add('gone', 2 ** 22 + 1), book.add('gone too', 2 ** 22 + 2)]);
  await book.remove(2 ** 22 + 2);
  t.match(read().servers, [
    { server: 'files', pid: process.pid, startedAt: await startTimeOf(process.pid) },
    { server: 'gone', startedAt: '' },
  ]);
  await book.remove(process.pid);
  t.match(read().servers, [{ server: 'gone' }]);
  t.equal(statSync(join(workspace, '.servers.json')).mode & 0o777, 0o600);
});

t.test('a file that is damaged is written again, and a workspace that is not there is an error', async (t) => {
  const workspace = testFolder(t);
  for (const text of ['', '{', '[]', '{"mark":"x","servers":"no"}']) {
    writeFileSync(join(workspace, '.servers.json'), text);
    t.match(await new RunningBook(workspace).open(), /^[0-9a-f]{32}$/, text);
  }
  const gone = join(realpathSync(mkdtempSync(join(tmpdir(), 'gone-'))), 'nowhere');
  await t.rejects(new RunningBook(gone).open(), { code: 'ENOENT' });
});
