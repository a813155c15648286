import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { inTurn, type LockHolder, readLock, WorkspaceLock } from '../../../../core/store/files/lock.ts';
import { processStart } from '../../../../core/store/files/lock-holder.ts';
import { argsForFile } from '../../../support/node-args.ts';
import { sweep } from '../../../support/sweep.ts';
import { until } from '../../../support/until.ts';

// Many processes, files or looks: more than a busy machine does in the usual time.
const hasProc = (await processStart(process.pid)) !== null;

class Racer {
  readonly #child: ChildProcess;
  #said: string[] = [];

  constructor() {
    this.#child = spawn(process.execPath, argsForFile('spec/support/lock-racer.ts'), { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#said.push(...chunk.toString().trim().split('\n'));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The next thing that it says; undefined while it has said nothing. */
  get saying(): string | undefined {
    return this.#said[0];
  }

  async hear(): Promise<string> {
    await until('the racer says something', () => this.saying !== undefined, 120_000);
    return this.#said.shift() ?? '';
  }

  /** Takes the lock of a workspace, or gives it back. */
  say(workspace = ''): void {
    this.#child.stdin?.write(`${workspace}\n`);
  }

  async kill(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}

const racers = Array.from({ length: sweep(20, 8) }, () => new Racer());
t.teardown(() => Promise.all(racers.map((racer) => racer.kill())));
for (const racer of racers) await racer.hear();

/** Processes that try at the same moment, those who got the lock first. */
async function race(workspace: string): Promise<{ winners: Racer[]; excuses: string[] }> {
  for (const racer of racers) racer.say(workspace);
  const outcomes = await Promise.all(racers.map((racer) => racer.hear()));
  return { winners: racers.filter((_, at) => outcomes[at] === 'taken'), excuses: outcomes.filter((outcome) => outcome !== 'taken') };
}

function holderOf(workspace: string): LockHolder {
  return JSON.parse(readFileSync(join(workspace, '.lock'), 'utf8')) as LockHolder;
}

const GONE: LockHolder = { pid: 2 ** 30, startedAt: '2026-11-20T14:03:22.123Z', processStart: '1', url: 'http://127.0.0.1:1', version: '0.0.1' };

t.test('of many processes exactly one gets a free lock, and the others learn its name', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const workspace = t.testdir({});
    const { winners, excuses } = await race(workspace);
    t.equal(winners.length, 1);
    t.equal(excuses.length, racers.length - 1);
    for (const excuse of excuses) t.match(excuse, `WORKSPACE_BUSY The workspace ${workspace} is in use by process ${winners[0]?.pid} since 2`);
    t.strictSame(readdirSync(workspace), ['.lock'], 'nothing is left beside it');
    winners[0]?.say();
    t.equal(await winners[0]?.hear(), 'released');
    t.strictSame(readdirSync(workspace), []);
  }
});

t.test('of many processes exactly one takes over from a process that is gone', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const workspace = t.testdir({ '.lock': JSON.stringify(GONE) });
    const { winners } = await race(workspace);
    t.equal(winners.length, 1);
    t.equal(holderOf(workspace).pid, winners[0]?.pid);
    t.strictSame(readdirSync(workspace), ['.lock']);
    winners[0]?.say();
    t.equal(await winners[0]?.hear(), 'released');
  }
});

t.test('the lock of a process that was killed is taken over', async (t) => {
  const workspace = t.testdir({});
  const racer = new Racer();
  await racer.hear();
  racer.say(workspace);
  t.equal(await racer.hear(), 'taken');
  t.equal((await readLock(workspace))?.pid, racer.pid);
  await t.rejects(WorkspaceLock.acquire(workspace), { code: 'WORKSPACE_BUSY', message: new RegExp(`process ${racer.pid} `) });
  await racer.kill();
  t.equal(await readLock(workspace), undefined);
  const lock = await WorkspaceLock.acquire(workspace);
  t.equal((await readLock(workspace))?.pid, process.pid);
  await lock.release();
});

t.test('the lock names its holder and is private, and its folder is made', async (t) => {
  const workspace = join(t.testdir({}), 'a', 'b');
  const lock = await WorkspaceLock.acquire(workspace, { now: () => 0 });
  const path = join(workspace, '.lock');
  t.equal(lstatSync(path).mode & 0o777, 0o600);
  t.match(holderOf(workspace), {
    pid: process.pid,
    startedAt: '1970-01-01T00:00:00.000Z',
    processStart: await processStart(process.pid),
    url: null,
    version: /^\d/,
  });
  await t.rejects(WorkspaceLock.acquire(workspace), {
    code: 'WORKSPACE_BUSY',
    message: new RegExp(`process ${process.pid} since 1970-01-01T00:00:00.000Z; stop that server, or`),
  });
  await lock.announce('http://127.0.0.1:8420');
  t.equal(lstatSync(path).mode & 0o777, 0o600);
  t.strictSame(await readLock(workspace), holderOf(workspace));
  await t.rejects(WorkspaceLock.acquire(workspace), {
    code: 'WORKSPACE_BUSY',
    message: / at http:\/\/127\.0\.0\.1:8420; stop that server, or choose another folder with --workspace\.$/,
  });
  await lock.release();
  t.strictSame(readdirSync(workspace), []);
});

t.test('a second release does nothing, even at the same time', async (t) => {
  const workspace = t.testdir({});
  const lock = await WorkspaceLock.acquire(workspace);
  await Promise.all([lock.announce('http://a'), lock.release(), lock.release()]);
  t.strictSame(readdirSync(workspace), []);
  const next = await WorkspaceLock.acquire(workspace);
  await lock.release();
  t.strictSame(readdirSync(workspace), ['.lock'], 'the lock of the next one stays');
  await t.rejects(lock.announce('http://b'), { code: 'WORKSPACE_BUSY' });
  t.equal(holderOf(workspace).url, null);
  await next.release();
});

t.test('a lock that was removed or names another process is not touched', async (t) => {
  const workspace = t.testdir({});
  const lock = await WorkspaceLock.acquire(workspace);
  writeFileSync(join(workspace, '.lock'), JSON.stringify(GONE));
  await t.rejects(lock.announce('http://a'), { code: 'WORKSPACE_BUSY', message: /has lost the lock/ });
  await lock.release();
  t.strictSame(holderOf(workspace), GONE);
  unlinkSync(join(workspace, '.lock'));
  await t.rejects(lock.announce('http://a'), { code: 'WORKSPACE_BUSY' });
  await lock.release();
  t.strictSame(readdirSync(workspace), []);
});

t.test('a lock is taken over if its pid belongs to another process now', { skip: !hasProc && 'needs /proc' }, async (t) => {
  const workspace = t.testdir({ '.lock': JSON.stringify({ ...GONE, pid: process.ppid }) });
  t.equal(await readLock(workspace), undefined);
  const lock = await WorkspaceLock.acquire(workspace);
  t.equal(holderOf(workspace).pid, process.pid);
  await lock.release();
});

t.test('a damaged lock is respected for some seconds and then taken over', async (t) => {
  const folder = t.testdir({});
  const texts = ['', '{"pid":', 'null', 'x'.repeat(100_000)];
  await Promise.all(
    texts.map(async (text, n) => {
      const workspace = join(folder, String(n));
      const path = join(workspace, '.lock');
      mkdirSync(workspace);
      writeFileSync(path, text);
      utimesSync(path, 1000, 1000);
      t.equal(await readLock(workspace), undefined);
      await t.rejects(WorkspaceLock.acquire(workspace, { now: () => 1_001_000 }), { code: 'WORKSPACE_BUSY', message: /being written by another process/ });
      t.equal(readFileSync(path, 'utf8'), text);
      const lock = await WorkspaceLock.acquire(workspace, { now: () => 1_010_000 });
      t.equal(holderOf(workspace).pid, process.pid);
      await lock.release();
    }),
  );
});

/** The claim on what `.lock`, or a claim, is now. */
function claimOn(workspace: string, name: string): string {
  const { dev, ino, mtimeNs, size } = statSync(join(workspace, name), { bigint: true });
  const text = readFileSync(join(workspace, name), 'utf8');
  const hash = createHash('sha256').update(`${name}:${dev}:${ino}:${mtimeNs}:${size}:${text}`).digest('hex');
  return `..lock.${hash.slice(0, 16)}.tmp`;
}

t.test('a process that died during a takeover blocks nobody', async (t) => {
  const workspace = t.testdir({ '.lock': JSON.stringify(GONE) });
  const claim = claimOn(workspace, '.lock');
  writeFileSync(join(workspace, claim), JSON.stringify(GONE));
  writeFileSync(join(workspace, claimOn(workspace, claim)), JSON.stringify(GONE));
  const lock = await WorkspaceLock.acquire(workspace);
  t.equal(holderOf(workspace).pid, process.pid);
  t.strictSame(readdirSync(workspace), ['.lock']);
  await lock.release();
});

t.test('a takeover that is under way is waited for', async (t) => {
  const workspace = t.testdir({ '.lock': JSON.stringify(GONE) });
  const claim = join(workspace, claimOn(workspace, '.lock'));
  writeFileSync(claim, JSON.stringify({ ...GONE, pid: process.ppid, processStart: await processStart(process.ppid) }));
  await t.rejects(WorkspaceLock.acquire(workspace), { code: 'WORKSPACE_BUSY', message: /being written by another process/ });
  t.strictSame(holderOf(workspace), GONE);
  unlinkSync(claim);
  const lock = await WorkspaceLock.acquire(workspace);
  await lock.release();
  t.strictSame(readdirSync(workspace), []);
});

t.test('a link, a folder or a pipe in place of the lock is an error and is not touched', async (t) => {
  const folder = t.testdir({ victim: 'untouched' });
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  for (const target of ['victim', 'nowhere']) {
    symlinkSync(join(folder, target), join(workspace, '.lock'));
    await t.rejects(WorkspaceLock.acquire(workspace), { message: /\.lock is not a regular file.*Remove it/ });
    await t.rejects(readLock(workspace), { message: /not a regular file/ });
    t.ok(lstatSync(join(workspace, '.lock')).isSymbolicLink());
    unlinkSync(join(workspace, '.lock'));
  }
  t.equal(readFileSync(join(folder, 'victim'), 'utf8'), 'untouched');
  mkdirSync(join(workspace, '.lock'));
  await t.rejects(WorkspaceLock.acquire(workspace), { message: /not a regular file/ });
  t.strictSame(readdirSync(workspace), ['.lock'], 'and nothing is left beside it');
});

t.test('an unusable folder is an error, not a free workspace', async (t) => {
  const folder = t.testdir({ file: '' });
  await t.rejects(WorkspaceLock.acquire(join(folder, 'file')), { code: 'ENOTDIR' });
  await t.rejects(readLock(join(folder, 'file')), { code: 'ENOTDIR' });
  t.equal(await readLock(join(folder, 'missing')), undefined);
});

/** Replaces functions of node:fs/promises, also where they were imported by name, until the test ends. */
function replaceFileCalls(t: Test, calls: Partial<typeof fsPromises>): void {
  const originals = { ...fsPromises };
  const put = (these: Partial<typeof fsPromises>): void => {
    Object.assign(fsPromises, these);
    syncBuiltinESMExports();
  };
  put(calls);
  t.teardown(() => put(originals));
}

t.test('without hard links, exactly one process gets the lock', async (t) => {
  const folder = t.testdir({ stale: { '.lock': JSON.stringify(GONE) }, free: {} });
  replaceFileCalls(t, { link: () => Promise.reject(Object.assign(new Error('no links here'), { code: 'EPERM' })) });
  for (const name of ['free', 'stale']) {
    const workspace = join(folder, name);
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => WorkspaceLock.acquire(workspace)));
    const [lock, ...more] = outcomes.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value);
    t.same(more, []);
    t.equal(holderOf(workspace).pid, process.pid);
    t.equal(lstatSync(join(workspace, '.lock')).mode & 0o777, 0o600);
    t.strictSame(readdirSync(workspace), ['.lock']);
    await lock?.release();
    t.strictSame(readdirSync(workspace), []);
  }
  replaceFileCalls(t, { copyFile: () => Promise.reject(Object.assign(new Error('bad disk'), { code: 'EIO' })) });
  await t.rejects(WorkspaceLock.acquire(join(folder, 'free')), { code: 'EIO' });
  t.strictSame(readdirSync(join(folder, 'free')), [], 'nothing is left');
});

t.test('an edited lock that still names this process is restored', async (t) => {
  const workspace = t.testdir({});
  const lock = await WorkspaceLock.acquire(workspace);
  const before = readFileSync(join(workspace, '.lock'), 'utf8');
  await lock.announce('http://127.0.0.1:8420');
  const ours = readFileSync(join(workspace, '.lock'), 'utf8');
  for (const text of [before, JSON.stringify(JSON.parse(ours), undefined, 2)]) {
    writeFileSync(join(workspace, '.lock'), text);
    t.equal(await lock.keep(), undefined);
    t.equal(readFileSync(join(workspace, '.lock'), 'utf8'), ours);
  }
  rmSync(join(workspace, '.lock'));
  t.equal(await lock.keep(), undefined);
  t.equal(readFileSync(join(workspace, '.lock'), 'utf8'), ours);
  await lock.release();
  t.equal(await lock.keep(), undefined);
  t.strictSame(readdirSync(workspace), [], 'what was given back is not taken again');
});

t.test('a lock of a later process is respected even if it does not seem alive, and an older one is taken back', async (t) => {
  const workspace = t.testdir({});
  const path = join(workspace, '.lock');
  const lock = await WorkspaceLock.acquire(workspace, { now: () => Date.parse('2026-11-20T15:00:00.000Z') });
  const ours = readFileSync(path, 'utf8');
  for (const old of [JSON.stringify(GONE), 'no lock']) {
    writeFileSync(path, old);
    utimesSync(path, 0, 0);
    t.equal(await lock.keep(), undefined);
    t.equal(readFileSync(path, 'utf8'), ours);
  }
  const later = { ...GONE, startedAt: '2026-11-20T15:00:00.001Z' };
  writeFileSync(path, JSON.stringify(later));
  t.match(await lock.keep(), later);
  await lock.release();
  t.match(JSON.parse(readFileSync(path, 'utf8')), later, 'and stays');
});

t.test('work in turn is done one after the other, also after work that has failed, and by many that find what a dead process has left', async (t) => {
  const workspace = t.testdir({});
  let [running, most] = [0, 0];
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await fsPromises.stat(workspace);
    running -= 1;
  };
  await t.rejects(
    inTurn(workspace, '.turn', () => Promise.reject(new Error('bad'))),
    { message: 'bad' },
  );
  for (let round = 0; round < sweep(20, 6); round += 1) {
    writeFileSync(join(workspace, '.turn'), JSON.stringify(GONE));
    await Promise.all(Array.from({ length: 4 }, () => inTurn(workspace, '.turn', work)));
  }
  t.equal(most, 1);
  t.strictSame(readdirSync(workspace), [], 'nothing is left');
});

t.test('a process that lives keeps its turn, and what another one holds by then is not removed', async (t) => {
  const workspace = t.testdir({});
  const path = join(workspace, '.turn');
  let isDone = false;
  await inTurn(workspace, '.turn', async () => {
    const waiting = inTurn(workspace, '.turn', async () => {
      isDone = true;
    });
    await until('the other has tried', () => readdirSync(workspace).some((name) => name.endsWith('.tmp')));
    t.notOk(isDone);
    unlinkSync(path);
    await waiting;
    writeFileSync(path, JSON.stringify(GONE));
  });
  t.ok(isDone);
  t.match(JSON.parse(readFileSync(path, 'utf8')), GONE);
});
