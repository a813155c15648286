import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { holderIn, isAlive, type LockHolder, processStart } from '../../../../core/store/files/lock-holder.ts';
import { until } from '../../../support/until.ts';

const HOLDER: LockHolder = { pid: process.pid, startedAt: '2026-11-20T14:03:22.123Z', processStart: null, url: null, version: '1.2.3' };
const hasProc = (await processStart(process.pid)) !== null;

t.test('a holder is read back as it was written, without unknown fields', async (t) => {
  const whole = { ...HOLDER, url: 'http://127.0.0.1:8420', processStart: '42' };
  t.strictSame(holderIn(JSON.stringify({ ...whole, later: true })), whole);
});

t.test('damaged text names no holder', async (t) => {
  const damaged = ['', '{', 'null', '[]', '"x"', '{}', ...[0, -1, 1.5, '1', 2 ** 60, null].map((pid) => JSON.stringify({ ...HOLDER, pid }))];
  for (const field of Object.keys(HOLDER)) damaged.push(JSON.stringify({ ...HOLDER, [field]: undefined }), JSON.stringify({ ...HOLDER, [field]: {} }));
  for (const text of damaged) t.equal(holderIn(text), undefined, text);
});

t.test('a process is alive until it ends', async (t) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  const holder = { ...HOLDER, pid: child.pid ?? 0, processStart: await processStart(child.pid ?? 0) };
  t.ok(await isAlive(holder));
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.notOk(await isAlive(holder));
  t.notOk(await isAlive({ ...HOLDER, pid: 2 ** 40 }), 'a number that no process can have');
});

t.test('another process with the same pid is recognised by its start time', { skip: !hasProc && 'needs /proc' }, async (t) => {
  t.ok(await isAlive({ ...HOLDER, processStart: await processStart(process.pid) }));
  t.notOk(await isAlive({ ...HOLDER, processStart: '1' }));
  t.ok(await isAlive(HOLDER), 'a lock that does not say goes by the number alone');
});

t.test('a zombie process is not alive', { skip: !hasProc && 'needs /proc' }, async (t) => {
  // The shell starts a child and becomes a program that never asks for its exit code.
  const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => parent.kill('SIGKILL'));
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
  const holder = { ...HOLDER, pid: Number(chunk.toString()) };
  // A child that ends while its parent still is the shell is asked for its exit code.
  await until('the parent is no shell any more', () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
  process.kill(holder.pid, 'SIGKILL');
  let alive = true;
  await until('the child has ended', () => {
    void isAlive(holder).then((answer) => {
      alive = answer;
    });
    return !alive;
  });
  t.doesNotThrow(() => process.kill(holder.pid, 0), 'the system still knows its number');
});

t.test('a process that does not exist has no start time', async (t) => {
  t.equal(await processStart(2 ** 30), null);
});
