import { chmodSync, type FSWatcher, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { watchFolder } from '../../../../core/store/files/system-watch.ts';
import { until } from '../../../support/until.ts';
import { openWatch, standing, type Watched } from '../../../support/watched.ts';

const fs = createRequire(import.meta.url)('node:fs') as typeof import('node:fs');
const IS_LINUX = process.platform === 'linux';

/** Watches of the system that this process has, as Linux counts them. */
function watchesOfTheSystem(): number {
  const texts = readdirSync('/proc/self/fdinfo').map((file) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${file}`, 'utf8');
    } catch (error) {
      return (error as Error).message; // it is closed by now
    }
  });
  return texts.join('\n').match(/^inotify wd/gm)?.length ?? 0;
}

/** The watchers that Node makes from now on. */
function watchersMade(t: Test): FSWatcher[] {
  const made: FSWatcher[] = [];
  const { watch } = fs;
  fs.watch = ((folder: string, listener: () => void) => {
    const watcher = watch(folder, listener);
    made.push(watcher);
    return watcher;
  }) as typeof fs.watch;
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.watch = watch;
    syncBuiltinESMExports();
  });
  return made;
}

/** Resolves once no change is told any more. */
async function quiet({ told }: Watched): Promise<void> {
  do {
    told.length = 0;
    await delay(50);
  } while (told.length > 0);
}

t.test('a folder takes one watch of the system, however many files are in it', { skip: !IS_LINUX }, async (t) => {
  const folder = t.testdir(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}.json`, '{}'])));
  const before = watchesOfTheSystem();
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  t.equal(watchesOfTheSystem() - before, 1);
  await watched.watch.close();
  await until('it is given back', () => watchesOfTheSystem() === before);
});

t.test('what the system refuses is thrown', { skip: !IS_LINUX }, async (t) => {
  const noop = (): void => undefined;
  const deaf = { onFile: noop, onAny: noop, onMoved: noop, onGone: noop, onError: noop };
  await t.rejects(watchFolder(join(t.testdir({}), 'none'), deaf), { code: 'ENOENT' });
});

t.test('every way in which an editor saves is reported', async (t) => {
  const folder = t.testdir({ 'config.json': '{}' });
  const [file, other] = [join(folder, 'config.json'), join(folder, '4913')];
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  const ways: Readonly<Record<string, () => void>> = {
    'in place': () => writeFileSync(file, '{"a":1}'),
    'of the same size': () => writeFileSync(file, '{"a":2}'),
    'a new file over the old one': () => {
      writeFileSync(other, '{"a":3}');
      renameSync(other, file);
    },
    'the old file set aside, and a new one in its place': () => {
      renameSync(file, `${file}~`);
      writeFileSync(file, '{"a":4}');
      unlinkSync(`${file}~`);
    },
    'removed and written again': () => {
      unlinkSync(file);
      writeFileSync(file, '{"a":5}');
    },
    'emptied, then filled': () => {
      writeFileSync(file, '');
      writeFileSync(file, '{"a":6}');
    },
    'its rights': () => chmodSync(file, 0o640),
  };
  for (const [way, save] of Object.entries(ways)) {
    await quiet(watched);
    save();
    await until(`it is told: ${way}`, () => watched.told.includes('config.json'));
    t.notOk(watched.told.includes(''), way);
  }
  t.strictSame(watched.faults, []);
});

t.test('what is written under another name of a file is told, whether the name or the watch was there first', async (t) => {
  const parent = t.testdir({ ada: { 'config.json': '{}' }, elsewhere: { 'system.md': '' } });
  const [folder, elsewhere] = [join(parent, 'ada'), join(parent, 'elsewhere')];
  linkSync(join(folder, 'config.json'), join(elsewhere, 'config.json'));
  const before = IS_LINUX ? watchesOfTheSystem() : 0;
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  linkSync(join(elsewhere, 'system.md'), join(folder, 'system.md'));
  for (const name of ['config.json', 'system.md', 'config.json']) {
    await quiet(watched);
    writeFileSync(join(elsewhere, name), `{"a":"${'x'.repeat(watched.told.length + 1)}"}`);
    await until(`it is told: ${name}`, () => watched.told.includes(name));
  }
  await quiet(watched);
  const own = join(folder, 'new');
  writeFileSync(own, '{}');
  renameSync(own, join(folder, 'config.json'));
  unlinkSync(join(folder, 'system.md'));
  await standing(folder, watched);
  if (IS_LINUX) await until('the files have no watches any more', () => watchesOfTheSystem() - before === 1);
  await quiet(watched);
  writeFileSync(join(elsewhere, 'config.json'), '{"b":2}');
  writeFileSync(join(folder, 'last'), '');
  await until('what came last is told', () => watched.told.includes('last'));
  t.notOk(watched.told.includes('config.json'), 'it is another file by now');
  t.strictSame(watched.faults, []);
});

t.test('of what the server itself writes, the file is told and its temporary file is not', async (t) => {
  const folder = t.testdir({ 'config.json': '{}' });
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  await quiet(watched);
  const temporary = join(folder, '.config.json.0123456789abcdef.tmp');
  writeFileSync(temporary, '{"a":1}');
  renameSync(temporary, join(folder, 'config.json'));
  await until('it is told', () => watched.told.includes('config.json'));
  await delay(50);
  t.strictSame(
    [...new Set(watched.told)].filter((name) => name !== 'standing'),
    ['config.json'],
  );
});

t.test('a folder that another watch knew by its old name is missed when it goes', async (t) => {
  const parent = t.testdir({ old: {} });
  const [old, renamed] = [join(parent, 'old'), join(parent, 'renamed')];
  const first = openWatch(t, old);
  await standing(old, first);
  renameSync(old, renamed);
  const second = openWatch(t, renamed); // shares the system's watch with the first, which has not ended yet
  await standing(renamed, second);
  unlinkSync(join(renamed, 'standing'));
  rmdirSync(renamed);
  await until('its end is told', () => second.told.includes(''));
  mkdirSync(renamed);
  writeFileSync(join(renamed, 'early'), '');
  await until('the next one is watched', () => second.told.includes('early'));
  t.strictSame([...first.faults, ...second.faults], []);
});

t.test('a folder that was removed and made again at once is watched, also where the system gives the new one the same marks', async (t) => {
  const folder = join(t.testdir({ block: {} }), 'block');
  const { lstatSync } = fs;
  const replaceable = fs as { lstatSync: unknown };
  const first = lstatSync(folder, { bigint: true });
  replaceable.lstatSync = (path: string, options: object) => (path === folder ? first : lstatSync(path, options));
  syncBuiltinESMExports();
  t.teardown(() => {
    replaceable.lstatSync = lstatSync;
    syncBuiltinESMExports();
  });
  const watched = openWatch(t, folder);
  writeFileSync(join(folder, 'one'), '');
  await until('it is watched', () => watched.told.includes('one'));
  unlinkSync(join(folder, 'one'));
  rmdirSync(folder);
  mkdirSync(folder);
  await until('the new one is watched', () => {
    writeFileSync(join(folder, 'two'), String(watched.told.length));
    return watched.told.includes('two');
  });
  t.strictSame(watched.faults, []);
});

t.test('a folder that is moved away and comes back is watched on', async (t) => {
  const parent = t.testdir({ block: {} });
  const [folder, away] = [join(parent, 'block'), join(parent, 'away')];
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  renameSync(folder, away);
  renameSync(away, folder);
  writeFileSync(join(folder, 'at-once'), '');
  await until('what comes at once is told', () => watched.told.includes('at-once'));
  renameSync(folder, away);
  await until('its absence is told', () => watched.told.includes(''));
  writeFileSync(join(away, 'meanwhile'), '');
  renameSync(away, folder);
  await until('what came meanwhile is told', () => watched.told.includes('meanwhile'));
  await standing(folder, watched);
  t.strictSame(watched.faults, []);
});

t.test('a change without a name is looked for', async (t) => {
  const folder = t.testdir({ 'old.json': '{}' });
  const made = watchersMade(t);
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  await quiet(watched);
  const [watcher] = made;
  const listeners = watcher?.listeners('change') ?? [];
  watcher?.removeAllListeners('change');
  writeFileSync(join(folder, 'new.json'), '{}');
  await delay(50); // until its own events have come, and nobody has heard them
  for (const listener of listeners) watcher?.on('change', listener as () => void);
  for (const name of [null, null]) watcher?.emit('change', 'change', name);
  await until('it is told', () => watched.told.includes('new.json'));
  t.notOk(watched.told.includes('old.json'));
});

t.test('after an error the folder is watched again, and a watcher that has ended is not heard', async (t) => {
  const folder = t.testdir({});
  const made = watchersMade(t);
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  made[0]?.emit('error', Object.assign(new Error('no'), { code: 'EIO' }));
  await until('it is watched again', () => made.length === 2);
  await standing(folder, watched);
  await quiet(watched);
  made[0]?.emit('change', 'change', 'stale.json');
  made[0]?.emit('error', new Error('late'));
  made[1]?.emit('change', 'change', 'new.json');
  await until('the new one is heard', () => watched.told.includes('new.json'));
  t.notOk(watched.told.includes('stale.json'));
  await delay(20); // a fault is reported later
  t.match(watched.faults, [{ code: 'EIO' }]);
  t.equal(watched.faults.length, 1);
});

t.test('the environment variable asks for polling as it always did', { skip: !IS_LINUX }, async (t) => {
  t.teardown(() => delete process.env['CHOKIDAR_USEPOLLING']);
  const watchesWith = async (value: string): Promise<number> => {
    process.env['CHOKIDAR_USEPOLLING'] = value;
    const folder = t.testdir({ 'old.json': '{}' });
    const before = watchesOfTheSystem();
    const watched = openWatch(t, folder);
    writeFileSync(join(folder, 'old.json'), '{"a":1}');
    await until('it is told', () => watched.told.includes('old.json'));
    const count = watchesOfTheSystem() - before;
    await watched.watch.close();
    return count;
  };
  const found = new Map<string, number>();
  for (const value of ['', '0', 'False', '1', 'true', 'yes']) found.set(value, await watchesWith(value));
  t.strictSame(Object.fromEntries(found), { '': 1, 0: 1, False: 1, 1: 0, true: 0, yes: 0 });
});
