import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryUsage } from 'node:process';
import t, { type Test } from 'tap';
import { DEBUG_FILE, DebugFile } from '../../../../core/store/files/debug-file.ts';
import type { DebuggedBodies } from '../../../../core/types.ts';

const EMPTY = { text: '', bytes: 0, cut: false };

function bodies(requestId: string, key = 'app', text = ''): DebuggedBodies {
  return { requestId, at: '2026-11-28T10:00:00.000Z', key, path: '/v1/chat', status: 200, request: { ...EMPTY, text }, answer: EMPTY };
}

function fileIn(t: Test, options: { readonly maxBytes?: number } = {}) {
  const folder = t.testdir({});
  const faults: string[] = [];
  const file = new DebugFile(folder, { ...options, onFault: (error) => void faults.push(error) });
  return { file, folder, faults, path: join(folder, DEBUG_FILE) };
}

t.test('what is added is found by its request, in a file that only its owner reads', async (t) => {
  const { file, path } = fileIn(t);
  t.same(await file.of('one'), []);
  for (const id of ['one', 'two', 'one']) file.add(bodies(id));
  t.same(await file.of('one'), [bodies('one'), bodies('one')]);
  t.same(await file.of('on'), []);
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test('of a full file, the newest half stays, and nothing stands beside it', async (t) => {
  const maxBytes = 4000;
  const { file, path, folder } = fileIn(t, { maxBytes });
  for (let index = 0; index < 100; index += 1) {
    file.add(bodies(`r${index}`, 'app', 'x'.repeat(100)));
    await file.of('none');
    t.ok(statSync(path).size <= maxBytes);
  }
  t.same(await file.of('r0'), []);
  for (const last of ['r99', 'r98', 'r97']) t.same(await file.of(last), [bodies(last, 'app', 'x'.repeat(100))]);
  t.same(readdirSync(folder), [DEBUG_FILE]);
});

t.test('the bodies of some keys are deleted, or all of them with the file', async (t) => {
  const { file, path } = fileIn(t);
  file.add(bodies('one', 'a', 'SECRET-A'));
  file.add(bodies('two', 'b'));
  await file.keepOnly(['b']);
  t.notMatch(readFileSync(path, 'utf8'), 'SECRET-A');
  t.same(await file.of('two'), [bodies('two', 'b')]);
  await file.keepOnly([]);
  t.notOk(existsSync(path));
  await file.remove();
  await file.keepOnly(['b']);
  file.add(bodies('three'));
  t.same(await file.of('three'), [bodies('three')], 'and another file is begun');
});

t.test('a torn line is passed over', async (t) => {
  const { file, path } = fileIn(t);
  writeFileSync(path, `{"requestId":"one","ke\n${JSON.stringify(bodies('one'))}\n`);
  t.same(await file.of('one'), [bodies('one')]);
});

t.test('a link in its place is neither written through nor read, and that is told', async (t) => {
  const { file, path, folder, faults } = fileIn(t);
  const other = join(folder, 'other');
  writeFileSync(other, '');
  symlinkSync(other, path);
  file.add(bodies('one'));
  t.same(await file.of('one'), []);
  t.equal(readFileSync(other, 'utf8'), '');
  t.ok(faults.length > 0);
});

t.test('who asks for one request holds none of the others, however many ask at once', async (t) => {
  const { file, path } = fileIn(t);
  writeFileSync(path, Array.from({ length: 30 }, (_, index) => `${JSON.stringify(bodies(`r${index}`, 'app', 'x'.repeat(50_000)))}\n`).join(''));
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, memoryUsage().heapUsed);
  }, 1);
  t.teardown(() => clearInterval(look));
  const before = memoryUsage().heapUsed;
  const found = await Promise.all(Array.from({ length: 60 }, (_, index) => file.of(`r${index}`)));
  t.equal(found.filter(({ length }) => length === 1).length, 30);
  t.ok(Math.max(most, memoryUsage().heapUsed) - before < 50_000_000);
});

t.test('while the disk is slower than the requests, some are left out and the memory is bounded', async (t) => {
  const { file } = fileIn(t);
  const text = 'x'.repeat(1024 * 1024);
  for (let index = 0; index < 8; index += 1) file.add(bodies(`r${index}`, 'app', text));
  t.equal((await file.of('r0')).length, 1);
  t.equal((await file.of('r7')).length, 0);
  file.add(bodies('later'));
  t.equal((await file.of('later')).length, 1, 'and taken again afterwards');
});
