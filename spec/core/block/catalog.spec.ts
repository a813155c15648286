import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Catalog, sweep } from '../../../core/block/catalog.ts';
import { type BlockContents, openFiles } from '../../../core/block/files.ts';
import type { BlockEntry } from '../../../core/schemas/block-api.ts';
import { AT } from '../../support/block-files.ts';
import { until } from '../../support/until.ts';

interface Opened {
  readonly folder: string;
  readonly catalog: Catalog;
  readonly open: Set<string>;
  readonly reads: string[];
  readonly faults: string[];
  now: number;
}

function openCatalog(t: Test, blocks: readonly string[] = [], onRead?: (name: string) => Promise<void> | void): Opened {
  const folder = join(t.testdir({ blocks: Object.fromEntries(blocks.map((name) => [name, { 'config.json': JSON.stringify({ name }) }])) }), 'blocks');
  const opened: Omit<Opened, 'catalog'> = { folder, open: new Set(), reads: [], faults: [], now: Date.parse(AT) };
  const read = async (name: string): Promise<BlockContents> => {
    opened.reads.push(name);
    await onRead?.(name);
    const files = openFiles(join(folder, name), name, { onChanged: () => undefined, onDamaged: () => undefined, onRebuilt: () => undefined }, () => AT);
    const [config, memory, costs, chat, pulse] = [files.config.read(), files.memory.read(), files.costs.read(), files.chat.read(), files.pulse.read()];
    return { config: await config, memory: await memory, costs: await costs, chat: await chat, pulse: await pulse };
  };
  const catalog = new Catalog({
    folder,
    read,
    isOpen: (name) => opened.open.has(name),
    now: () => opened.now,
    onFault: (what, error) => void opened.faults.push(`${what}: ${(error as NodeJS.ErrnoException).code}`),
  });
  return Object.assign(opened, { catalog });
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
    void opened.catalog.list().then((found) => {
      entries = found;
    });
    return condition(entries);
  });
  return entries;
}

t.test('folders that bear the name of a block are blocks, sorted by name; nothing else is', async (t) => {
  const { catalog, folder } = openCatalog(t, ['bob', 'ada', 'a-1', 'con', 'UPPER', '_x', '.new.0123456789abcdef.tmp']);
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, '..', 'outside'));
  writeFileSync(join(folder, '..', 'outside', 'config.json'), '{"name":"evil"}');
  symlinkSync(join(folder, '..', 'outside'), join(folder, 'evil'));
  t.same(namesOf(await catalog.list()), ['a-1', 'ada', 'bob']);
  t.equal(catalog.size, 3);
  for (const name of ['ada', 'bob']) t.equal(catalog.has(name), true);
  for (const name of ['evil', 'file', 'con', 'UPPER', '..', '', '../blocks/ada', 'ada/', 'nobody', '__proto__', 'x'.repeat(9999)])
    t.equal(catalog.has(name), false, name);
});

t.test('a thousand blocks are read once, and a second list gives the same frozen entries', async (t) => {
  const { catalog, reads } = openCatalog(
    t,
    Array.from({ length: 1000 }, (_, n) => `b${n}`),
  );
  const first = await catalog.list();
  t.equal(first.length, 1000);
  t.equal(reads.length, 1000);
  const second = await catalog.list();
  t.equal(second, first);
  t.equal(reads.length, 1000);
  t.ok(first.every((entry) => Object.isFrozen(entry) && Object.isFrozen(entry.config)));
  catalog.markStale('b7');
  const third = await catalog.list();
  t.same(
    third.filter((entry, index) => entry !== first[index]).map(({ name }) => name),
    ['b7'],
  );
});

t.test('lists that are asked for together are one reading', async (t) => {
  const { catalog, reads } = openCatalog(t, ['a', 'b', 'c']);
  const [one, two] = await Promise.all([catalog.list(), catalog.list()]);
  t.equal(one, two);
  t.equal(reads.length, 3);
});

t.test('others have their turn while many are read', async (t) => {
  const { catalog, reads } = openCatalog(
    t,
    Array.from({ length: 300 }, (_, n) => `b${n}`),
  );
  const seen: number[] = [];
  let isOver = false;
  const list = catalog.list().finally(() => {
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
    if (name === 'busy') setImmediate(() => opened.catalog.markStale(name));
    return new Promise((resolve) => void setImmediate(resolve));
  });
  t.same(namesOf(await opened.catalog.list()), ['busy', 'calm']);
  const both = await Promise.all([opened.catalog.list(), opened.catalog.list()]);
  t.same(both.map(namesOf), [
    ['busy', 'calm'],
    ['busy', 'calm'],
  ]);
});

t.test('what goes out of date while it is being read is read again for whoever asks then', async (t) => {
  let isFirst = true;
  const opened: Opened = openCatalog(t, ['a'], async () => {
    if (!isFirst) return;
    isFirst = false;
    await new Promise(setImmediate);
  });
  const first = opened.catalog.list();
  await new Promise((resolve) => process.nextTick(resolve));
  edit(opened.folder, 'a', { description: 'new' });
  opened.catalog.markStale('a');
  const [entry] = await opened.catalog.list();
  t.equal(entry?.config.description, 'new');
  await first;
});

t.test('blocks come and go by hand', async (t) => {
  const { catalog, folder } = openCatalog(t, ['a', 'b']);
  await catalog.list();
  mkdirSync(join(folder, 'made'));
  writeFileSync(join(folder, 'made', 'config.json'), '{"name":"made"}');
  rmSync(join(folder, 'a'), { recursive: true });
  renameSync(join(folder, 'b'), join(folder, 'c'));
  t.equal(catalog.has('a'), false);
  const entries = await catalog.list();
  t.same(namesOf(entries), ['c', 'made']);
  t.match(entries, [{ configError: /name must be "c", as the folder is called/ }, { state: 'stopped', queue: 0 }]);
});

t.test('where the folder of all blocks is a link, blocks come and go by hand, too', async (t) => {
  const { catalog, folder } = openCatalog(t, ['a', 'b']);
  renameSync(folder, `${folder}.elsewhere`);
  symlinkSync(`${folder}.elsewhere`, folder);
  t.same(namesOf(await catalog.list()), ['a', 'b']);
  mkdirSync(join(folder, 'made'));
  writeFileSync(join(folder, 'made', 'config.json'), '{"name":"made"}');
  rmSync(join(folder, 'a'), { recursive: true });
  t.same(namesOf(await catalog.list()), ['b', 'made']);
  t.equal(catalog.size, 2);
});

t.test('an edit by hand of a block that nobody holds open is in a later list', async (t) => {
  const opened = openCatalog(t, ['a', 'b']);
  const [a] = await opened.catalog.list();
  edit(opened.folder, 'b', { description: 'by hand' });
  const entries = await listUntil(opened, (list) => list[1]?.config.description === 'by hand');
  t.equal(entries[0], a, 'the other one is the same object');
  writeFileSync(join(opened.folder, 'a', 'chat.json'), '[{"role":"user","content":"x"}]');
  await listUntil(opened, (list) => list[0]?.queue === 1);
});

t.test('a clock that is set back does not end the looking', async (t) => {
  const opened = openCatalog(t, ['a']);
  await opened.catalog.list();
  await new Promise(setImmediate);
  opened.now -= 10 * 3_600_000; // the same day: a new one would make all entries anew
  edit(opened.folder, 'a', { description: 'by hand' });
  await listUntil(opened, (list) => list[0]?.config.description === 'by hand');
  t.pass('it was seen');
});

t.test('a block that is open tells of its changes itself, and is not looked at', async (t) => {
  const opened = openCatalog(t, ['a']);
  await opened.catalog.list();
  opened.open.add('a');
  edit(opened.folder, 'a', { description: 'by hand' });
  for (let n = 0; n < 5; n += 1) {
    opened.now += 2001;
    await opened.catalog.list();
    await new Promise(setImmediate);
  }
  t.equal(opened.reads.length, 1);
  opened.catalog.markStale('a');
  opened.catalog.markStale('nobody');
  t.equal((await opened.catalog.list())[0]?.config.description, 'by hand');
});

t.test('damaged blocks are listed as such, and whole again when they were repaired', async (t) => {
  const opened = openCatalog(t, ['a', 'b', 'c']);
  mkdirSync(join(opened.folder, 'empty'));
  writeFileSync(join(opened.folder, 'a', 'chat.json'), '{"half":');
  writeFileSync(join(opened.folder, 'b', 'config.json'), '{"name":"b","tags":5}');
  const entries = await opened.catalog.list();
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

t.test('a fault that is none of the block’s files has no text of its own', async (t) => {
  const opened = openCatalog(t, ['a'], () => Promise.reject(new Error('EMFILE: /secret/place')));
  t.match(await opened.catalog.list(), [{ status: 'ERROR', configError: 'One of its files could not be read.' }]);
});

t.test('a block that goes away while it is read is not listed', async (t) => {
  const opened: Opened = openCatalog(t, ['a', 'b'], (name) => {
    if (name === 'a') rmSync(join(opened.folder, 'a'), { recursive: true });
  });
  t.same(namesOf(await opened.catalog.list()), ['b']);
});

t.test('a new day, changed credentials and moves make entries anew', async (t) => {
  const opened = openCatalog(t, ['a', 'b']);
  const first = await opened.catalog.list();
  opened.now += 86_400_000;
  const second = await opened.catalog.list();
  t.not(second[0], first[0]);
  opened.catalog.markAllStale();
  t.not((await opened.catalog.list())[1], second[1]);
  opened.catalog.rescan();
  t.same(namesOf(await opened.catalog.list()), ['a', 'b']);
});

t.test('without the folder there are no changes, one fault, and no failure', async (t) => {
  const opened = openCatalog(t, ['a']);
  await opened.catalog.list();
  rmSync(opened.folder, { recursive: true });
  t.same(namesOf(await opened.catalog.list()), ['a']);
  t.same(opened.faults, ['blocks: ENOENT']);
  t.equal(opened.catalog.has('a'), false);
  writeFileSync(opened.folder, '');
  t.equal(opened.catalog.has('a'), false);
});

t.test('temporary files are swept, and nothing else; what can not be is told', (t) => {
  const folder = t.testdir({ '.chat.json.0123456789abcdef.tmp': '', 'chat.json': '', '.mine.tmp': '' });
  const faults: string[] = [];
  const sweepIt = (path: string): void => sweep(path, (what, error) => void faults.push(`${what} ${(error as NodeJS.ErrnoException).code}`));
  sweepIt(folder);
  t.same(readdirSync(folder).sort(), ['.mine.tmp', 'chat.json']);
  sweepIt(join(folder, 'missing'));
  t.same(faults, ['sweep ENOENT']);
  t.end();
});
