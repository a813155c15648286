import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { isObject } from '../../../../core/base/json.ts';
import { ContentRoom } from '../../../../core/store/parts/content-room.ts';
import { JsonFile, type JsonFileOptions } from '../../../../core/store/files/json-file.ts';
import { withFewDescriptors } from '../../../support/few-descriptors.ts';

interface Content {
  readonly list: readonly number[];
  readonly note?: string;
}

const OPTIONS: JsonFileOptions<Content> = {
  parse: (value) => {
    if (!isObject(value) || !Array.isArray(value['list'])) throw new Error('it must hold a list');
    return value as unknown as Content;
  },
  missing: () => ({ list: [] }),
  format: (value) => JSON.stringify(value),
  maxBytes: 1_000_000,
};

interface Seen {
  readonly path: string;
  readonly folder: string;
  readonly file: JsonFile<Content>;
  readonly changes: { own: boolean; quiet: boolean; healed: boolean }[];
  readonly damages: [string, string | undefined][];
  disk(): Content;
  copies(): string[];
}

/** In a folder of its own that holds `content` as file.json. */
function open(t: Test, content?: string, options: Partial<JsonFileOptions<Content>> = {}, again?: string): Seen {
  const folder = again ?? t.testdir(content === undefined ? {} : { 'file.json': content });
  const path = join(folder, 'file.json');
  const changes: Seen['changes'] = [];
  const damages: Seen['damages'] = [];
  const file = new JsonFile<Content>(path, {
    ...OPTIONS,
    onChanged: (_value, change) => void changes.push({ ...change }),
    onDamaged: (reason, copy) => void damages.push([reason, copy]),
    ...options,
  });
  const copies = () => readdirSync(folder).filter((name) => name.includes('.corrupt-'));
  return { path, folder, file, changes, damages, copies, disk: () => JSON.parse(readFileSync(path, 'utf8')) as Content };
}

const append = (n: number) => (value: Content) => ({ value: { ...value, list: [...value.list, n] }, result: n });

/** Resolves when the write of the first round is being prepared, and holds it there until `go` is called. */
function held(): { beforeWrite: (value: Content) => Promise<Content>; reached: Promise<void>; go: () => void; rounds: () => number } {
  let go = (): void => undefined;
  let tell = (): void => undefined;
  let count = 0;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const beforeWrite = async (value: Content): Promise<Content> => {
    count += 1;
    if (count === 1) {
      tell();
      await gate;
    }
    return value;
  };
  return { beforeWrite, reached, go, rounds: () => count };
}

t.test('a missing file has default content, and only a change creates it', async (t) => {
  const { file, folder, disk } = open(t);
  t.same(await file.read(), { list: [] });
  await file.update((value) => ({ value, result: undefined }));
  t.same(readdirSync(folder), [], 'no change is no write');
  t.equal(await file.update(append(1)), 1);
  t.same(disk(), { list: [1] });
  t.equal(statSync(file.path).mode & 0o777, 0o600);
});

t.test('waiting changes become one write, in order', async (t) => {
  const gate = held();
  const { file, disk, changes } = open(t, undefined, { beforeWrite: gate.beforeWrite });
  const results = Array.from({ length: 100 }, (_, n) => file.update(append(n)));
  await gate.reached;
  const later = Array.from({ length: 100 }, (_, n) => file.update(append(100 + n)));
  gate.go();
  t.same(
    await Promise.all([...results, ...later]),
    Array.from({ length: 200 }, (_, n) => n),
  );
  t.same(
    disk().list,
    Array.from({ length: 200 }, (_, n) => n),
  );
  t.equal(gate.rounds(), 2, 'two rounds of a hundred');
  t.equal(changes.length, 2);
});

t.test('a change is on disk when it resolves', async (t) => {
  const { file, disk } = open(t);
  for (let n = 0; n < 5; n += 1) {
    await file.update(append(n));
    t.equal(disk().list.at(-1), n);
  }
});

t.test('during a write, readers get the durable content before it', async (t) => {
  const gate = held();
  const { file } = open(t, '{"list":[1]}', { beforeWrite: gate.beforeWrite });
  await file.read();
  const change = file.update(append(2));
  await gate.reached;
  t.equal(file.isBusy, true);
  t.same(await file.read(), { list: [1] });
  gate.go();
  await change;
  t.same(await file.read(), { list: [1, 2] });
});

t.test('a change that throws fails only for its caller', async (t) => {
  const { file, disk } = open(t);
  const good = [file.update(append(1)), file.update(append(2))];
  const bad = file.update(() => {
    throw new Error('mine');
  });
  const last = file.update(append(3));
  await t.rejects(bad, { message: 'mine' });
  await Promise.all([...good, last]);
  t.same(disk().list, [1, 2, 3]);
});

t.test('an edit by hand is read, and the next change is applied to it', async (t) => {
  const { file, path, disk, changes } = open(t, '{"list":[1]}');
  await file.read();
  writeFileSync(path, '{"list":[1,7],"note":"mine"}');
  t.same(await file.read(), { list: [1, 7], note: 'mine' });
  t.same(changes, [{ own: false, quiet: false, healed: false }]);
  writeFileSync(path, '{"list":[],"note":"mine again"}');
  await file.update(append(8));
  t.same(disk(), { list: [8], note: 'mine again' });
  rmSync(path);
  await file.refresh();
  t.same(await file.read(), { list: [] }, 'removed by hand');
});

t.test('refresh() reports a change, even of a file that was never read', async (t) => {
  const { file, path, changes } = open(t, '{"list":[1]}');
  await file.refresh();
  await file.refresh();
  t.same(changes, [{ own: false, quiet: false, healed: false }], 'once');
  await file.update(append(2));
  await file.refresh();
  t.equal(changes.length, 2, 'what was written here is no news');
  writeFileSync(path, '{"list":[]}');
  await Promise.all([file.refresh(), file.refresh(), file.read()]);
  t.equal(changes.length, 3);
});

t.test('refresh() waits for a write that is under way', async (t) => {
  const gate = held();
  const { file, path, changes } = open(t, '{"list":[1]}', { beforeWrite: gate.beforeWrite });
  await file.read();
  const change = file.update(append(2));
  await gate.reached;
  const looked = file.refresh();
  gate.go();
  await change;
  writeFileSync(path, '{"list":[9]}');
  await looked;
  t.same(changes.at(-1), { own: false, quiet: false, healed: false });
});

t.test('an unusable derived file starts again, and is reported instead of copied', async (t) => {
  for (const content of ['', '{"list":[1', '{"list":5}', '[]']) {
    const told: string[] = [];
    const { file, changes, damages, copies, disk } = open(t, content, { derived: { onRebuilt: (reason) => told.push(reason) } });
    t.same(await file.read(), { list: [] });
    t.equal(told.length, 1, 'once');
    t.same([damages, copies(), changes], [[], [], []]);
    await file.update(append(1));
    t.same(disk(), { list: [1] });
  }
  const whole = open(t, '{"list":[1]}', { derived: { onRebuilt: () => t.fail('it is sound') } });
  t.same(await whole.file.read(), { list: [1] });
});

t.test('an edit in place that restores the times is seen', async (t) => {
  const { file, path } = open(t, '{"list":[1]}');
  await file.read();
  const { atime, mtime } = statSync(path);
  writeFileSync(path, '{"list":[2]}');
  utimesSync(path, atime, mtime);
  t.same(await file.read(), { list: [2] });
});

t.test('neither an edit by hand during the preparation of a write nor the change is lost', async (t) => {
  const gate = held();
  const { file, path, disk } = open(t, '{"list":[1]}', { beforeWrite: gate.beforeWrite });
  let applied = 0;
  const change = file.update((value) => {
    applied += 1;
    return append(2)(value);
  });
  const refused = file.update((value) => {
    if (value.note === undefined) throw new Error('there was no note');
    return { value, result: undefined };
  });
  await Promise.all([t.rejects(refused, { message: 'there was no note' }), gate.reached]);
  writeFileSync(path, '{"list":[5],"note":"by hand"}');
  gate.go();
  t.equal(await change, 2);
  t.equal(applied, 2);
  t.same(disk(), { list: [5, 2], note: 'by hand' });
  t.same(
    readdirSync(join(path, '..')).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

t.test('an edit by hand that is read while changes are applied is not lost, at any step', async (t) => {
  for (let steps = 0; steps < 12; steps += 1) {
    const { file, path, disk } = open(t, '{"list":[1]}', {}, t.testdir({ 'file.json': '{"list":[1]}' }));
    await file.read();
    const change = file.update(append(2));
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    writeFileSync(path, '{"list":[5],"note":"by hand"}');
    void file.refresh();
    await change;
    await file.refresh();
    t.equal(disk().note, 'by hand', `after ${steps} steps`);
    t.equal(disk().list.at(-1), 2, `after ${steps} steps`);
  }
});

t.test('concurrent edits by hand and changes lose nothing', async (t) => {
  const { file, path, disk } = open(t, '{"list":[]}');
  const changes: Promise<number>[] = [];
  for (let n = 0; n < 40; n += 1) {
    changes.push(file.update(append(n)));
    if (n % 4 === 0) {
      // By hand as editors do: a new file in the place of the old one, made from what is there now.
      const now = disk();
      writeFileSync(`${path}.hand`, JSON.stringify({ ...now, note: `${now.note ?? ''}${n};` }));
      renameSync(`${path}.hand`, path);
    }
    await new Promise(setImmediate);
  }
  await Promise.all(changes);
  t.equal(new Set(disk().list).size, disk().list.length, 'nothing twice');
  t.match(disk().note, /^0;(\d+;)*36;$/);
});

t.test('a program that keeps writing does not delay a change for ever', async (t) => {
  const folder = t.testdir({ 'file.json': '{"list":[]}' });
  const path = join(folder, 'file.json');
  let n = 0;
  const { file } = open(
    t,
    undefined,
    {
      beforeWrite: async (value) => {
        n += 1;
        writeFileSync(path, `{"list":[],"note":"${n}"}`);
        return value;
      },
    },
    folder,
  );
  await t.rejects(file.update(append(1)), { code: 'STORAGE_FAILED', message: /changed by another program/ });
});

t.test('a quiet change is reported as quiet, unless it is written with another one', async (t) => {
  const { file, changes } = open(t);
  await file.update(append(1), { quiet: true });
  await Promise.all([file.update(append(2), { quiet: true }), file.update(append(3))]);
  t.same(changes, [
    { own: true, quiet: true, healed: false },
    { own: true, quiet: false, healed: false },
  ]);
});

t.test('a failed write rejects its whole round and leaves nothing of it, and the next one works', async (t) => {
  const gate = held();
  const { file, folder, disk } = open(t, '{"list":[1]}', { beforeWrite: gate.beforeWrite });
  const one = file.update(append(2));
  const two = file.update(append(3));
  await gate.reached;
  renameSync(folder, `${folder}.away`);
  writeFileSync(folder, 'a file where the folder was');
  gate.go();
  await t.rejects(one, { code: 'STORAGE_FAILED', message: /^file\.json can't be written \(E/ });
  await t.rejects(two, { code: 'STORAGE_FAILED' });
  unlinkSync(folder);
  renameSync(`${folder}.away`, folder);
  t.same(await file.read(), { list: [1] });
  t.equal(await file.update(append(4)), 4);
  t.same(disk(), { list: [1, 4] });
});

t.test('nothing is written if beforeWrite fails', async (t) => {
  let fails = true;
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const { file, disk } = open(t, '{"list":[1]}', { beforeWrite: (value) => (fails ? Promise.reject(full) : Promise.resolve({ ...value, note: 'first' })) });
  await t.rejects(file.update(append(2)), { code: 'STORAGE_FULL', status: 507 });
  t.same(disk(), { list: [1] });
  fails = false;
  await file.update(append(3));
  t.same(disk(), { list: [1, 3], note: 'first' });
  t.same(await file.read(), { list: [1, 3], note: 'first' }, 'what was written is what is read');
});

const DAMAGED: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ['empty', '', /it is empty/],
  ['blank', ' \n', /it is empty/],
  ['half', '{"list":[1,', /not valid JSON/],
  ['null', 'null', /it must hold a list/],
  ['an array', '[]', /it must hold a list/],
  ['garbage at the end', '{"list":[]} x', /not valid JSON/],
  ['two documents', '{"list":[]}{"list":[]}', /not valid JSON/],
  ['a byte order mark', '\ufeff{"list":[]}', /byte order mark/],
  ['bytes that are no text', Buffer.from([0x7b, 0xff, 0x7d]), /not valid UTF-8/],
];

for (const [name, content, reason] of DAMAGED) {
  t.test(`damaged, ${name}: every use fails, the content is kept once, and never written over`, async (t) => {
    const folder = t.testdir({ 'file.json': content as string });
    const { file, path, copies, damages, changes } = open(t, undefined, {}, folder);
    await t.rejects(file.read(), { code: 'BLOCK_DAMAGED', message: reason });
    await t.rejects(file.update(append(1)), { code: 'BLOCK_DAMAGED' });
    await file.refresh();
    t.same(damages.length, 1, 'told once');
    t.match(damages[0], [reason, /^file\.json\.corrupt-\d{4}-/]);
    t.same(copies(), [damages[0]?.[1]]);
    t.same(readFileSync(join(folder, copies()[0] as string)), Buffer.from(content as Buffer));
    t.same(readFileSync(path), Buffer.from(content as Buffer));
    await t.rejects(open(t, undefined, {}, folder).file.read(), { code: 'BLOCK_DAMAGED' });
    t.equal(copies().length, 1, 'a new process keeps no second copy');
    writeFileSync(path, '{"list":[4]}');
    t.same(await file.read(), { list: [4] }, 'repaired by hand: it works again');
    await file.update(append(5));
    t.same(changes, [
      { own: false, quiet: false, healed: true },
      { own: true, quiet: false, healed: false },
    ]);
  });
}

t.test('no message contains the text of a damaged file', async (t) => {
  const { file } = open(t, '{"list": sk-secret }');
  await t.rejects(file.read(), { message: /^(?!.*sk-secret)/ });
});

t.test('two damaged contents are two copies, even with the same time', async (t) => {
  const { file, path, copies, folder } = open(t, 'one');
  await t.rejects(file.read());
  const { mtime } = statSync(path);
  writeFileSync(path, 'two');
  utimesSync(path, mtime, mtime);
  await t.rejects(file.read());
  t.same(
    copies()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .sort(),
    ['one', 'two'],
  );
});

t.test('replace() replaces damaged content and keeps its copy', async (t) => {
  const { file, copies, disk, changes } = open(t, '{"list":[1,');
  await file.replace((old) => {
    t.equal(old, undefined);
    return { list: [9] };
  });
  t.same(disk(), { list: [9] });
  t.equal(copies().length, 1);
  t.same(changes, [{ own: true, quiet: false, healed: true }], 'it is told that it is sound again');
  await file.replace((old) => ({ list: [...(old?.list ?? []), 10] }));
  t.same(await file.read(), { list: [9, 10] });
});

t.test("replace() moves content aside that can't be copied", async (t) => {
  const { file, path, copies, folder, disk } = open(t, JSON.stringify({ list: [], note: 'x'.repeat(2000) }), { maxBytes: 1000 });
  await t.rejects(file.read(), { code: 'BLOCK_DAMAGED', message: /larger than 1000 bytes/ });
  t.same(copies(), [], 'too large to be copied');
  await file.replace(() => ({ list: [1] }));
  t.same(disk(), { list: [1] });
  t.match(readFileSync(join(folder, copies()[0] as string), 'utf8'), /x{2000}/);
  rmSync(path);
  mkdirSync(join(path, 'inner'), { recursive: true });
  await t.rejects(file.read(), { code: 'BLOCK_DAMAGED', message: /not a regular file/ });
  await file.replace(() => ({ list: [2] }));
  t.same(disk(), { list: [2] });
  t.equal(copies().length, 2);
});

t.test('a missing file without default content is damaged, and has no copy', async (t) => {
  const { missing: _content, ...rest } = OPTIONS;
  const folder = t.testdir({});
  const file = new JsonFile<Content>(join(folder, 'file.json'), rest);
  await t.rejects(file.read(), { code: 'BLOCK_DAMAGED', message: /it is missing/ });
  await t.rejects(file.update(append(1)), { code: 'BLOCK_DAMAGED' });
  t.same(readdirSync(folder), []);
  await file.replace(() => ({ list: [1] }));
  t.same(await file.read(), { list: [1] });
});

t.test('a failed copy is reported, and the original stays', async (t) => {
  const folder = t.testdir({ 'file.json': 'x' });
  const { mtime } = statSync(join(folder, 'file.json'));
  const name = `file.json.corrupt-${mtime.toISOString().replaceAll(/[:.]/g, '-')}`;
  for (let n = 1; n <= 100; n += 1) mkdirSync(join(folder, n === 1 ? name : `${name}-${n}`));
  const { file, damages, path } = open(t, undefined, {}, folder);
  await t.rejects(file.read(), { code: 'BLOCK_DAMAGED' });
  t.match(damages, [[/not valid JSON.*no copy of it could be kept/, undefined]]);
  await t.rejects(
    file.replace(() => ({ list: [] })),
    { code: 'STORAGE_FAILED' },
  );
  t.equal(readFileSync(path, 'utf8'), 'x');
});

t.test('close() writes the waiting changes and refuses later ones until reopen()', async (t) => {
  const { file, disk } = open(t);
  const waiting = [file.update(append(1)), file.update(append(2))];
  const closed = file.close();
  await t.rejects(file.update(append(3)), { code: 'WRONG_STATE' });
  await t.rejects(
    file.replace(() => ({ list: [] })),
    { code: 'WRONG_STATE' },
  );
  await closed;
  await Promise.all(waiting);
  t.same(disk(), { list: [1, 2] });
  t.equal(file.isBusy, false);
  t.same(await file.read(), { list: [1, 2] }, 'reading goes on');
  writeFileSync(file.path, 'damaged');
  await t.rejects(file.read(), { code: 'BLOCK_DAMAGED' });
  t.equal(readdirSync(join(file.path, '..')).length, 1, 'not even a copy is written');
  writeFileSync(file.path, '{"list":[1,2]}');
  file.reopen();
  await file.update(append(4));
  t.same(disk(), { list: [1, 2, 4] });
});

t.test('a large file is read as a whole, and readers share one reading', async (t) => {
  const list = Array.from({ length: 100_000 }, (_, n) => n);
  const { file, changes } = open(t, JSON.stringify({ list }), { maxValues: 200_000 });
  const [one, two] = await Promise.all([file.read(), file.read()]);
  t.equal(one, two);
  t.equal(one.list.length, list.length);
  t.same(changes, [], 'the first look is no change');
});

t.test('a file that is touched, or written again as it was, has not changed', async (t) => {
  const { file, path, changes } = open(t, '{"list":[1]}');
  await file.read();
  utimesSync(path, new Date(), new Date());
  await file.refresh();
  writeFileSync(path, '{ "list": [1] }');
  await file.refresh();
  t.strictSame(changes, []);
  writeFileSync(path, '{"list":[2]}');
  await file.refresh();
  t.strictSame(changes, [{ own: false, quiet: false, healed: false }]);
});

t.test('a file that an editor empties first is read when it is filled, and never counts as damaged', async (t) => {
  const { file, path, damages, copies } = open(t, '{"list":[1]}');
  await file.read();
  writeFileSync(path, '');
  const read = file.read();
  writeFileSync(path, '{"list":[2]}');
  t.strictSame(await read, { list: [2] });
  t.strictSame(damages, []);
  t.strictSame(copies(), []);
});

t.test('onForeign converts content that somebody else has written', async (t) => {
  const { file, path } = open(t, '{"list":[1]}', { onForeign: (before, found) => ({ list: [...before.list, ...found.list] }) });
  t.strictSame(await file.read(), { list: [1] });
  writeFileSync(path, '{"list":[2]}');
  t.strictSame(await file.read(), { list: [1, 2] });
});

t.test('a file without a free descriptor is not damaged, and is read at the next use', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const path = join(t.testdir({ 'a.json': '{"n":1}' }), 'a.json');
  const told = withFewDescriptors(
    ['core/store/files/json-file.js'],
    [path],
    `
    const damaged = [];
    const file = new modules[0].JsonFile(args[0], { parse: (value) => value, format: JSON.stringify, maxBytes: 1000, onDamaged: (reason) => damaged.push(reason) });
    const codeOf = (work) => work.then(() => 'done', ({ code, message }) => code + ': ' + message);
    const giveBack = exhaust();
    await file.refresh();
    const refused = [await codeOf(file.read()), await codeOf(file.update((value) => ({ value: { n: 2 }, result: undefined })))];
    giveBack();
    return { refused, found: await file.read(), damaged };
  `,
  );
  const refusal = "STORAGE_FAILED: a.json can't be read now (EMFILE); try again.";
  t.strictSame(told, { refused: [refusal, refusal], found: { n: 1 }, damaged: [] });
  t.strictSame(readdirSync(dirname(path)), ['a.json']);
});

t.test('a content that was dropped from memory is read and changed as any other', async (t) => {
  const room = new ContentRoom(20, 1);
  const dropped = { room, outlineOf: ({ list }: Content) => ({ list: [], note: `${list.length} numbers` }) };
  const folder = t.testdir({ one: { 'file.json': '{"list":[1]}' }, two: { 'file.json': '{"list":[2]}' } });
  const one = open(t, undefined, { dropped }, join(folder, 'one'));
  const two = open(t, undefined, { dropped }, join(folder, 'two'));
  t.same(await one.file.outline(), { list: [1] }, 'of what is in memory, all is known');
  await two.file.read();
  t.same(await one.file.outline(), { list: [], note: '1 numbers' });
  await one.file.refresh();
  t.same(await one.file.outline(), { list: [], note: '1 numbers' }, 'a look at an unchanged file reads nothing');
  t.same(await one.file.read(), { list: [1] });
  t.same(await two.file.outline(), { list: [], note: '1 numbers' });
  t.equal(await two.file.update(append(3)), 3);
  t.same([await two.file.read(), two.disk()], [{ list: [2, 3] }, { list: [2, 3] }]);
  const all = await Promise.all([one, two, one, two].flatMap(({ file }) => [file.read(), file.outline()]));
  t.ok(all.every((content) => content !== undefined));
  t.same([one.changes.length, two.changes.length], [0, 1]);
});
