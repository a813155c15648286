import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { damagedEntry, entryOf } from '../../../../../core/block/status/list-entry.ts';
import type { BlockEntry } from '../../../../../core/schemas/block-api.ts';
import { BlockIndex, sweep } from '../../../../../core/store/files/block/block-index.ts';
import { pageOfEntries } from '../../../../../core/store/files/block/entry-page.ts';
import { openFiles } from '../../../../../core/store/files/block/files.ts';
import type { BlockContents } from '../../../../../core/store/port.ts';
import { AT } from '../../../../support/block-files.ts';
import { until } from '../../../../support/until.ts';

interface Opened {
  readonly folder: string;
  readonly index: BlockIndex;
  readonly open: Set<string>;
  readonly reads: string[];
  readonly faults: string[];
  now: number;
  /** Milliseconds that each comparison of a block seems to take. */
  lookMs: number;
  /** Comparisons of blocks. */
  looks: number;
}

function openCatalog(t: Test, blocks: readonly string[] = [], onRead?: (name: string) => Promise<void> | void): Opened {
  const folder = join(t.testdir({ blocks: Object.fromEntries(blocks.map((name) => [name, { 'config.json': JSON.stringify({ name }) }])) }), 'blocks');
  const opened: Omit<Opened, 'index'> = { folder, open: new Set(), reads: [], faults: [], now: Date.parse(AT), lookMs: 0, looks: 0 };
  let elapsed = 0;
  const read = async (name: string): Promise<BlockContents> => {
    opened.reads.push(name);
    await onRead?.(name);
    const files = openFiles(join(folder, name), name, { onChanged: () => undefined, onDamaged: () => undefined, onRebuilt: () => undefined }, () => AT);
    const [config, memory, costs, chat, pulse] = [files.config.read(), files.memory.read(), files.costs.read(), files.chat.read(), files.pulse.read()];
    return { config: await config, memory: await memory, costs: await costs, chat: await chat, pulse: await pulse };
  };
  const index = new BlockIndex({
    folder,
    read,
    entryOf,
    damagedEntry,
    asItStands: (contents) => contents,
    running: () => 0,
    isOpen: (name) => {
      opened.looks += 1;
      elapsed += opened.lookMs;
      return opened.open.has(name);
    },
    now: () => opened.now,
    elapsed: () => elapsed,
    onFault: (what, error) => void opened.faults.push(`${what}: ${(error as NodeJS.ErrnoException).code}`),
  });
  return Object.assign(opened, { index });
}

const namesOf = (entries: readonly BlockEntry[]) => entries.map(({ name }) => name);

function edit(folder: string, name: string, fields: object): void {
  writeFileSync(join(folder, name, 'config.json'), JSON.stringify({ name, ...fields }));
}

/** Lists until an edit by hand has been seen in the background, as it is by the list after the next one. */
async function listUntil(opened: Opened, condition: (entries: readonly BlockEntry[]) => boolean): Promise<readonly BlockEntry[]> {
  let entries: readonly BlockEntry[] = [];
  await until('the list shows it', () => {
    opened.now += 2001;
    void opened.index.list().then((found) => {
      entries = found;
    });
    return condition(entries);
  });
  return entries;
}

t.test('folders with the name of a block are blocks, sorted by name, and nothing else is', async (t) => {
  const { index, folder } = openCatalog(t, ['bob', 'ada', 'a-1', 'con', 'UPPER', '_x', '.new.0123456789abcdef.tmp']);
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, '..', 'outside'));
  writeFileSync(join(folder, '..', 'outside', 'config.json'), '{"name":"evil"}');
  symlinkSync(join(folder, '..', 'outside'), join(folder, 'evil'));
  t.same(namesOf(await index.list()), ['a-1', 'ada', 'bob']);
  t.equal((await index.counts()).blocks, 3);
  for (const name of ['ada', 'bob']) t.equal(index.find(name) !== undefined, true);
  for (const name of ['evil', 'file', 'con', 'UPPER', '..', '', '../blocks/ada', 'ada/', 'nobody', '__proto__', 'x'.repeat(9999)])
    t.equal(index.find(name) !== undefined, false, name);
});

t.test('a thousand blocks are read once, and a second list gives the same frozen entries', async (t) => {
  const { index, reads } = openCatalog(
    t,
    Array.from({ length: 1000 }, (_, n) => `b${n}`),
  );
  const first = await index.list();
  t.equal(first.length, 1000);
  t.equal(reads.length, 1000);
  const second = await index.list();
  t.equal(second, first);
  t.equal(reads.length, 1000);
  t.ok(first.every((entry) => Object.isFrozen(entry) && Object.isFrozen(entry.config)));
  index.markStale('b7');
  const third = await index.list();
  t.same(
    third.filter((entry, index) => entry !== first[index]).map(({ name }) => name),
    ['b7'],
  );
});

t.test('lists that are asked for together read the blocks once', async (t) => {
  const { index, reads } = openCatalog(t, ['a', 'b', 'c']);
  const [one, two] = await Promise.all([index.list(), index.list()]);
  t.equal(one, two);
  t.equal(reads.length, 3);
});

t.test('the event loop runs other work while many blocks are read', async (t) => {
  const { index, reads } = openCatalog(
    t,
    Array.from({ length: 300 }, (_, n) => `b${n}`),
  );
  const seen: number[] = [];
  let isOver = false;
  const list = index.list().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    seen.push(reads.length);
    await new Promise(setImmediate);
  }
  await list;
  t.ok(new Set(seen).size >= 4, `${[...new Set(seen)]}`);
});

t.test('a block that is always out of date does not hold up the list', async (t) => {
  const opened: Opened = openCatalog(t, ['busy', 'calm'], (name) => {
    if (name === 'busy') setImmediate(() => opened.index.markStale(name));
    return new Promise((resolve) => void setImmediate(resolve));
  });
  t.same(namesOf(await opened.index.list()), ['busy', 'calm']);
  const both = await Promise.all([opened.index.list(), opened.index.list()]);
  t.same(both.map(namesOf), [
    ['busy', 'calm'],
    ['busy', 'calm'],
  ]);
});

t.test('a block that changes while it is read is read again for a later list', async (t) => {
  let isFirst = true;
  const opened: Opened = openCatalog(t, ['a'], async () => {
    if (!isFirst) return;
    isFirst = false;
    await new Promise(setImmediate);
  });
  const first = opened.index.list();
  await new Promise((resolve) => process.nextTick(resolve));
  edit(opened.folder, 'a', { description: 'new' });
  opened.index.markStale('a');
  const [entry] = await opened.index.list();
  t.equal(entry?.config.description, 'new');
  await first;
});

t.test('blocks can be added and removed by hand', async (t) => {
  const { index, folder } = openCatalog(t, ['a', 'b']);
  await index.list();
  mkdirSync(join(folder, 'made'));
  writeFileSync(join(folder, 'made', 'config.json'), '{"name":"made"}');
  rmSync(join(folder, 'a'), { recursive: true });
  renameSync(join(folder, 'b'), join(folder, 'c'));
  t.equal(index.find('a') !== undefined, false);
  const entries = await index.list();
  t.same(namesOf(entries), ['c', 'made']);
  t.match(entries, [{ configError: /name must be "c", the name of its folder/ }, { state: 'stopped', queue: 0 }]);
});

t.test('blocks can be added and removed by hand even if the folder of all blocks is a link', async (t) => {
  const { index, folder } = openCatalog(t, ['a', 'b']);
  renameSync(folder, `${folder}.elsewhere`);
  symlinkSync(`${folder}.elsewhere`, folder);
  t.same(namesOf(await index.list()), ['a', 'b']);
  mkdirSync(join(folder, 'made'));
  writeFileSync(join(folder, 'made', 'config.json'), '{"name":"made"}');
  rmSync(join(folder, 'a'), { recursive: true });
  t.same(namesOf(await index.list()), ['b', 'made']);
  t.equal((await index.counts()).blocks, 2);
});

t.test('an edit by hand of a block that is not open is in a later list', async (t) => {
  const opened = openCatalog(t, ['a', 'b']);
  const [a] = await opened.index.list();
  edit(opened.folder, 'b', { description: 'by hand' });
  const entries = await listUntil(opened, (list) => list[1]?.config.description === 'by hand');
  t.equal(entries[0], a, 'the other one is the same object');
  writeFileSync(join(opened.folder, 'a', 'chat.json'), '[{"role":"user","content":"x"}]');
  await listUntil(opened, (list) => list[0]?.queue === 1);
});

t.test('the files are compared as often as it costs little, and each minute whatever it costs', async (t) => {
  const opened = openCatalog(t, ['a', 'b']);
  /** Seconds after which the files are compared again. */
  const pauseFor = async (lookMs: number): Promise<number> => {
    opened.lookMs = lookMs;
    const compared = async (): Promise<boolean> => {
      const before = opened.looks;
      await opened.index.list();
      while (opened.looks > before && opened.looks - before < 2) await new Promise(setImmediate);
      for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate); // its end
      return opened.looks > before;
    };
    opened.now += 60_000;
    t.ok(await compared());
    for (let seconds = 1; ; seconds += 1) {
      opened.now += 1000;
      if (await compared()) return seconds;
    }
  };
  t.equal(await pauseFor(0), 2);
  t.equal(await pauseFor(3), 2);
  t.equal(await pauseFor(15), 10, 'three thousandths of the time');
  t.equal(await pauseFor(60_000), 60);
  t.equal(await pauseFor(0), 2, 'and again when it costs little');
});

t.test('a clock that is set back does not stop the comparisons', async (t) => {
  const opened = openCatalog(t, ['a']);
  await opened.index.list();
  await new Promise(setImmediate);
  opened.now -= 10 * 3_600_000; // the same day: a new one would make all entries anew
  edit(opened.folder, 'a', { description: 'by hand' });
  await listUntil(opened, (list) => list[0]?.config.description === 'by hand');
  t.pass('it was seen');
});

t.test('an open block reports its changes itself, and its files are not compared', async (t) => {
  const opened = openCatalog(t, ['a']);
  await opened.index.list();
  opened.open.add('a');
  edit(opened.folder, 'a', { description: 'by hand' });
  for (let n = 0; n < 5; n += 1) {
    opened.now += 2001;
    await opened.index.list();
    await new Promise(setImmediate);
  }
  t.equal(opened.reads.length, 1);
  opened.index.markStale('a');
  opened.index.markStale('nobody');
  t.equal((await opened.index.list())[0]?.config.description, 'by hand');
});

t.test('damaged blocks are listed with their error until they are repaired', async (t) => {
  const opened = openCatalog(t, ['a', 'b', 'c']);
  mkdirSync(join(opened.folder, 'empty'));
  writeFileSync(join(opened.folder, 'a', 'chat.json'), '{"half":');
  writeFileSync(join(opened.folder, 'b', 'config.json'), '{"name":"b","tags":5}');
  const entries = await opened.index.list();
  t.match(entries, [
    { name: 'a', status: 'ERROR', configError: /chat\.json can't be used: it is not valid JSON/ },
    { name: 'b', status: 'ERROR', configError: /config\.json.*tags must be an array/ },
    { name: 'c', status: 'SLEEPING', configError: undefined },
    { name: 'empty', status: 'ERROR', configError: /config\.json.*it is missing/ },
  ]);
  t.equal(readFileSync(join(opened.folder, 'a', 'chat.json'), 'utf8'), '{"half":');
  edit(opened.folder, 'b', {});
  await listUntil(opened, (list) => list[1]?.status === 'SLEEPING');
});

t.test('a fault that does not come from the block’s files is listed with a general text', async (t) => {
  const opened = openCatalog(t, ['a'], () => Promise.reject(new Error('EMFILE: /secret/place')));
  t.match(await opened.index.list(), [{ status: 'ERROR', configError: 'One of its files could not be read.' }]);
});

t.test('a block that disappears while it is read is not listed', async (t) => {
  const opened: Opened = openCatalog(t, ['a', 'b'], (name) => {
    if (name === 'a') rmSync(join(opened.folder, 'a'), { recursive: true });
  });
  t.same(namesOf(await opened.index.list()), ['b']);
});

t.test('a new day, changed credentials and moves make entries anew', async (t) => {
  const opened = openCatalog(t, ['a', 'b']);
  const first = await opened.index.list();
  opened.now += 86_400_000;
  const second = await opened.index.list();
  t.not(second[0], first[0]);
  opened.index.markAllStale();
  t.not((await opened.index.list())[1], second[1]);
  opened.index.rescan();
  t.same(namesOf(await opened.index.list()), ['a', 'b']);
});

t.test('without the folder the list stays as it is, and the fault is reported', async (t) => {
  const opened = openCatalog(t, ['a']);
  await opened.index.list();
  rmSync(opened.folder, { recursive: true });
  t.same(namesOf(await opened.index.list()), ['a']);
  t.same(opened.faults, ['blocks: ENOENT']);
  t.equal(opened.index.find('a') !== undefined, false);
  writeFileSync(opened.folder, '');
  t.equal(opened.index.find('a') !== undefined, false);
});

t.test("only temporary files are removed, and one that can't be is reported", (t) => {
  const folder = t.testdir({ '.chat.json.0123456789abcdef.tmp': '', 'chat.json': '', '.mine.tmp': '' });
  const faults: string[] = [];
  const sweepIt = (path: string): void => sweep(path, (what, error) => void faults.push(`${what} ${(error as NodeJS.ErrnoException).code}`));
  sweepIt(folder);
  t.same(readdirSync(folder).sort(), ['.mine.tmp', 'chat.json']);
  sweepIt(join(folder, 'missing'));
  t.same(faults, ['sweep ENOENT']);
  t.end();
});

t.test('blocks with the same cost or the same last message are sorted by name', async (t) => {
  const entries = ['a', 'b', 'c', 'd'].map((name, n) => ({
    ...damagedEntry(name, 'x'),
    costs: { totalInput: 0, totalOutput: 0, totalCost: [1, 10, null, 10][n] ?? null, calls: 0 },
    lastMessageAt: [null, AT, AT, null][n] ?? null,
  }));
  const first = pageOfEntries(entries, { sort: 'costUsd', limit: 1 });
  t.same(namesOf(first.entries), ['b']);
  t.same(namesOf(pageOfEntries(entries, { sort: 'costUsd', cursor: first.next ?? '' }).entries), ['d', 'a', 'c']);
  t.same(namesOf(pageOfEntries(entries, { sort: 'lastMessageAt' }).entries), ['b', 'c', 'a', 'd']);
});
