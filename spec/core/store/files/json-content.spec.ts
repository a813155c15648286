import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isObject } from '../../../../core/base/json.ts';
import { UncopiedDamage } from '../../../../core/block/documents/document-codecs.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { ContentRoom } from '../../../../core/store/parts/content-room.ts';
import { JsonContent, type JsonContentOptions } from '../../../../core/store/files/json-content.ts';

interface Content {
  readonly n: number;
}

const OPTIONS: JsonContentOptions<Content> = {
  parse: (value) => {
    if (!isObject(value) || typeof value['n'] !== 'number') throw new Error('it must hold a number');
    return { n: value['n'] };
  },
  missing: () => ({ n: 0 }),
  format: (value) => JSON.stringify(value),
  maxBytes: 1000,
};

interface Opened {
  readonly folder: string;
  readonly path: string;
  readonly content: JsonContent<Content>;
  readonly told: string[];
  readonly copies: () => string[];
}

function open(t: Test, text: string | undefined, options: Partial<JsonContentOptions<Content>> = {}): Opened {
  const folder = t.testdir(text === undefined ? {} : { 'file.json': text });
  const path = join(folder, 'file.json');
  const told: string[] = [];
  const content = new JsonContent<Content>(path, {
    ...OPTIONS,
    onChanged: ({ n }, { healed }) => void told.push(`${n}${healed ? ' healed' : ''}`),
    onDamaged: (reason, copy) => void told.push(`${reason}, ${copy === undefined ? 'no copy' : 'copied'}`),
    ...options,
  });
  return { folder, path, content, told, copies: () => readdirSync(folder).filter((name) => name.includes('.corrupt-')) };
}

t.test('the file is read once until it changes, and concurrent readings share one', async (t) => {
  let parsed = 0;
  const { content, path, told } = open(t, '{"n":1}', {
    parse: (value) => {
      parsed += 1;
      return OPTIONS.parse(value);
    },
  });
  t.same(content.now, { stamp: undefined, value: undefined });
  const reading = content.refresh();
  t.equal(content.isLoading, true);
  t.equal(content.refresh(), reading);
  await reading;
  await content.refresh();
  t.equal(parsed, 1);
  t.match(content.now, { stamp: String, value: { n: 1 } });
  writeFileSync(path, '{ "n": 1 }');
  await content.refresh();
  t.same(told, [], 'the same content in another form is no change');
  writeFileSync(path, '{"n":22}');
  await content.refresh();
  unlinkSync(path);
  await content.refresh();
  t.same(told, ['22', '0']);
});

t.test('the first reading is reported only if a change is expected', async (t) => {
  const { content, told } = open(t, '{"n":1}');
  content.expectChange();
  await content.refresh();
  content.expectChange();
  await content.refresh();
  t.same(told, ['1']);
});

t.test('foreign content is converted, and written content is known without a reading', async (t) => {
  const { content, path, told } = open(t, '{"n":1}', { onForeign: (before, found) => ({ n: before.n + found.n }) });
  await content.refresh();
  writeFileSync(path, '{"n":10}');
  await content.refresh();
  t.same(content.now.value, { n: 11 });
  content.take({ n: 5 }, content.now.stamp ?? '');
  await content.refresh();
  t.same(content.now.value, { n: 5 });
  t.same(told, ['11']);
});

t.test('damaged content is reported and copied once, and a repaired file is used again', async (t) => {
  const { content, path, told, copies } = open(t, '{"n":"x"}', { cure: 'Take it out.' });
  await content.refresh();
  t.match(content.now, { value: undefined, isUnkept: false, damage: { code: 'BLOCK_DAMAGED' } });
  t.match(content.now.damage?.message, /^file\.json can't be used: it must hold a number\. Take it out\. A copy was kept as file\.json\.corrupt-/);
  await content.refresh();
  t.equal(copies().length, 1);
  writeFileSync(path, '{"n":3}');
  await content.refresh();
  t.same(content.now.value, { n: 3 });
  t.same(told, ['it must hold a number, copied', '3 healed']);
});

t.test('content that must not be copied is not copied, and content that could not be copied is moved aside', async (t) => {
  const secret = open(t, '{"key":1}', { parse: () => Promise.reject(new UncopiedDamage('it has a key')) });
  await secret.content.refresh();
  t.same([secret.told, secret.copies()], [['it has a key, no copy'], []]);
  t.match(secret.content.now, { isUnkept: true, damage: { message: "file.json can't be used: it has a key. Repair it by hand." } });
  t.not(await secret.content.moveAside(), undefined);
  t.equal(readFileSync(join(secret.folder, secret.copies()[0] ?? ''), 'utf8'), '{"key":1}');
  t.match(secret.content.now, { stamp: 'missing', isUnkept: false });

  const closed = open(t, '{');
  closed.content.keepsCopies = false;
  await closed.content.refresh();
  t.same(closed.copies(), []);
});

t.test('a file that an editor moves away for a moment is not missing, and one that stays away is', async (t) => {
  const strict = { ...open(t, '{"n":1}', { missing: undefined } as never) };
  const { content, path, told } = strict;
  await content.refresh();
  renameSync(path, `${path}~`);
  const reading = content.refresh();
  writeFileSync(path, '{"n":2}');
  await reading;
  t.same([content.now.value, told], [{ n: 2 }, ['2']]);
  await content.refresh();
  t.same(told, ['2'], 'told once');
  unlinkSync(path);
  await content.refresh();
  t.same(told, ['2', 'it is missing, no copy']);
});

t.test('only a regular file within its limits is read', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const cases: [string, (path: string) => void, Partial<JsonContentOptions<Content>>][] = [
    ['it is not a regular file', (path) => mkdirSync(path), {}],
    ['it is not a regular file', (path) => void execFileSync('mkfifo', [path]), {}],
    ['it is a link', (path) => symlinkSync('/dev/zero', path), {}],
    ['it is larger than 1000 bytes', (path) => writeFileSync(path, ' '.repeat(1001)), {}],
    ['it contains more than 2 fields and elements', (path) => writeFileSync(path, '[1,2,3]'), { maxValues: 2 }],
    ['it nests deeper than 100 levels', (path) => writeFileSync(path, `${'['.repeat(101)}${']'.repeat(101)}`), {}],
  ];
  for (const [reason, make, options] of cases) {
    const { content, path } = open(t, undefined, options);
    rmSync(path, { force: true, recursive: true });
    make(path);
    await content.refresh();
    t.match(content.now.damage?.message, reason);
  }
  const { missing: _left, ...strict } = OPTIONS;
  const content = new JsonContent<Content>(join(t.testdir({}), 'file.json'), strict);
  await content.refresh();
  t.match(content.now, { isUnkept: false, damage: { message: /it is missing/ } });
});

t.test('a failed copy is reported with its reason', { skip: process.getuid?.() === 0 && 'root may write everywhere' }, async (t) => {
  const { content, folder, told } = open(t, '{');
  execFileSync('chmod', ['500', folder]);
  await content.refresh();
  execFileSync('chmod', ['700', folder]);
  t.match(told, [/no copy of it could be kept \(.*\), no copy/]);
});

t.test('a file that was emptied a moment ago is read again before it counts as damaged', async (t) => {
  const { content, path, told } = open(t, '');
  const reading = content.refresh();
  writeFileSync(path, '{"n":4}');
  await reading;
  t.same(content.now.value, { n: 4 });
  t.same(told, []);
});

t.test('a passing fault is thrown, does not damage the content, and the next use reads the file', async (t) => {
  let fails = true;
  const { content, told } = open(t, '{"n":1}', {
    parse: (value) => {
      if (fails) throw new BlockhouseError('STORAGE_FAILED', 'It passes.');
      return OPTIONS.parse(value);
    },
  });
  // Twice, as one that was written just now.
  await t.rejects(content.refresh(), { code: 'STORAGE_FAILED' });
  fails = false;
  await content.refresh();
  t.same(content.now.value, { n: 1 });
  t.same(told, []);
});

t.test('content that nobody holds is dropped for another one, leaves its outline, and is read again without a report', async (t) => {
  const room = new ContentRoom(10, 1);
  let parsed = 0;
  const parse = (value: unknown): Content => {
    parsed += 1;
    return OPTIONS.parse(value) as Content;
  };
  const { content, path, told } = open(t, '{"n":1}', { parse, dropped: { room, outlineOf: () => ({ n: -1 }) } });
  const refresh = () => content.hold(() => content.refresh());
  const other = { drop: () => true };
  const makeRoom = () => room.use(new WeakRef(other), 10);
  await refresh();
  await content.hold(async () => makeRoom());
  t.same(content.now.value, { n: 1 }, 'not while it is held');
  makeRoom();
  t.match(content.now, { stamp: String, value: undefined, outline: { n: -1 } });
  await content.refreshOutline();
  t.equal(parsed, 1, 'its stamp is known');
  await refresh();
  t.match(content.now, { value: { n: 1 }, outline: undefined });
  makeRoom();
  writeFileSync(path, '{"n":22}');
  await content.refreshOutline();
  t.same([content.now.value, told, parsed], [{ n: 22 }, ['22'], 3], 'a change is reported');
  makeRoom();
  const reading = refresh();
  writeFileSync(path, '{"n":333}');
  await reading;
  await refresh();
  t.same([content.now.value, told.at(-1)], [{ n: 333 }, '333'], 'also one that comes while it is read again');
  content.take({ n: 3 }, content.now.stamp ?? '', 7);
  await content.hold(async () => undefined);
  t.equal(room.bytes, 7, 'what was written counts');
});
