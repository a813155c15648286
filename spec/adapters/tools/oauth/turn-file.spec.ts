import { spawnSync } from 'node:child_process';
import { existsSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { inTurn } from '../../../../adapters/tools/oauth/turn-file.ts';

t.test('work with one file is done one after the other, also after work that has failed', async (t) => {
  const path = join(t.testdir(), '.lock');
  let running = 0;
  const work = async (): Promise<void> => {
    running += 1;
    t.equal(running, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
  };
  await t.rejects(
    inTurn(path, 60_000, async () => {
      throw new Error('bad');
    }),
    { message: 'bad' },
  );
  await Promise.all([inTurn(path, 60_000, work), inTurn(path, 60_000, work), inTurn(path, 60_000, work)]);
  t.notOk(existsSync(path));
});

t.test('what a process that died has left does not stand in the way for ever', async (t) => {
  const path = join(t.testdir(), '.lock');
  writeFileSync(path, '');
  utimesSync(path, new Date(1), new Date(1));
  t.equal(await inTurn(path, 60_000, async () => 'done'), 'done');
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  writeFileSync(path, JSON.stringify({ host: hostname(), pid: dead }));
  t.equal(await inTurn(path, 6_000_000, async () => 'at once'), 'at once');
  for (const living of [JSON.stringify({ host: hostname(), pid: process.pid }), JSON.stringify({ host: 'another', pid: dead }), '{']) {
    writeFileSync(path, living);
    let isDone = false;
    const work = inTurn(path, 60_000, async () => {
      isDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 150));
    t.notOk(isDone, living);
    unlinkSync(path);
    await work;
  }
  await t.rejects(
    inTurn(join(path, 'nowhere', 'x'), 60_000, async () => 'done'),
    { code: 'ENOENT' },
  );
});
