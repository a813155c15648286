import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import t, { type Test } from 'tap';
import { FolderWatches } from '../../../../core/store/files/watch.ts';
import { until } from '../../../support/until.ts';

function open(t: Test): { watches: FolderWatches; faults: string[] } {
  const faults: string[] = [];
  const watches = new FolderWatches({ onFault: (folder, error) => faults.push(`${folder}: ${error.message}`) });
  t.teardown(() => watches.close());
  return { watches, faults };
}

t.test('each listener gets the changes of its own folder only', async (t) => {
  const folder = t.testdir({ a: {}, b: {} });
  const { watches, faults } = open(t);
  const told: string[][] = [[], [], []];
  const [first, second, other] = told;
  watches.watch(join(folder, 'a'), (name) => first?.push(name));
  watches.watch(join(folder, 'a'), (name) => second?.push(name));
  watches.watch(join(folder, 'b'), (name) => other?.push(name));
  t.equal(watches.size, 2);
  writeFileSync(join(folder, 'a', 'config.json'), '{}');
  await until('both are told', () => told.slice(0, 2).every((names) => names.includes('config.json')));
  t.strictSame(other, []);
  t.strictSame(faults, []);
});

t.test('the same folder under other spellings is watched once', async (t) => {
  const folder = t.testdir({});
  const { watches } = open(t);
  for (const spelling of [folder, `${folder}/`, relative(process.cwd(), folder), join(folder, 'x', '..')]) watches.watch(spelling, () => undefined);
  t.equal(watches.size, 1);
});

t.test('a watch ends with its last listener, and a removed listener gets nothing', async (t) => {
  const folder = t.testdir({});
  const { watches } = open(t);
  const told: string[] = [];
  const listener = (name: string): void => {
    told.push(name);
  };
  const [leaveOne, leaveTwo] = [watches.watch(folder, listener), watches.watch(folder, listener)];
  leaveOne();
  leaveOne();
  t.equal(watches.size, 1, 'leaving twice is leaving once');
  writeFileSync(join(folder, 'one'), '');
  await until('the second one is told', () => told.includes('one'));
  leaveTwo();
  t.equal(watches.size, 0);
  const again: string[] = [];
  watches.watch(folder, (name) => again.push(name));
  t.equal(watches.size, 1);
  writeFileSync(join(folder, 'two'), '');
  await until('the new one is told', () => again.includes('two'));
  t.notOk(told.includes('two'));
});

t.test('a listener that throws does not affect the others', async (t) => {
  const folder = t.testdir({});
  const { watches, faults } = open(t);
  const told: string[] = [];
  watches.watch(folder, () => {
    throw new Error('a bad listener');
  });
  watches.watch(folder, (name) => told.push(name));
  writeFileSync(join(folder, 'one'), '');
  await until('the other one is told', () => told.includes('one'));
  await until('the fault is told', () => faults.length > 0);
  t.strictSame(faults, [`${folder}: a bad listener`]);
});

t.test('after close() nothing is watched, and watch() does nothing', async (t) => {
  const folder = t.testdir({});
  const { watches } = open(t);
  const told: string[] = [];
  const leave = watches.watch(folder, (name) => told.push(name));
  writeFileSync(join(folder, 'one'), '');
  await watches.close();
  t.equal(watches.size, 0);
  watches.watch(folder, (name) => told.push(name))();
  t.equal(watches.size, 0);
  writeFileSync(join(folder, 'two'), '');
  leave();
  await watches.close();
  const after = open(t);
  const others: string[] = [];
  after.watches.watch(folder, (name) => others.push(name));
  writeFileSync(join(folder, 'three'), '');
  await until('another one is told', () => others.includes('three'));
  t.notOk(told.includes('two'));
});

t.test('a hundred folders that come and go leave nothing behind', async (t) => {
  const folder = t.testdir({});
  const { watches, faults } = open(t);
  for (let n = 0; n < 100; n += 1) {
    mkdirSync(join(folder, `b${n}`));
    watches.watch(join(folder, `b${n}`), () => undefined)();
    rmSync(join(folder, `b${n}`), { recursive: true });
  }
  t.equal(watches.size, 0);
  await watches.close();
  t.strictSame(faults, []);
});
