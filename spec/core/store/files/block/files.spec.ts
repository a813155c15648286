import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type BlockFileSet, checkFiles, FILE_NAMES, freshFiles, openFiles } from '../../../../../core/store/files/block/files.ts';
import type { Entries } from '../../../../../core/store/port.ts';
import { AT, pair, userEntry } from '../../../../support/block-files.ts';

interface Opened {
  readonly folder: string;
  readonly files: BlockFileSet;
  readonly told: string[];
}

function open(t: Test, content: Readonly<Record<string, string>> = {}): Opened {
  const folder = t.testdir({ 'config.json': '{"name":"ada"}', ...content });
  const told: string[] = [];
  const listener = {
    onChanged: (file: string, { own }: { own: boolean }) => void told.push(`${file} ${own ? 'own' : 'by hand'}`),
    onDamaged: (file: string, reason: string) => void told.push(`${file} damaged: ${reason}`),
    onRebuilt: (file: string, reason: string) => void told.push(`${file} rebuilt: ${reason}`),
  };
  return { folder, told, files: openFiles(folder, 'ada', listener, () => AT) };
}

const add = (entries: Entries) => (old: Entries) => ({ value: [...old, ...entries], result: undefined });
const many = (count: number, from = 0): Entries => Array.from({ length: count }, (_, n) => userEntry(`${from + n}`));
const archivedIn = (folder: string): string[] =>
  readFileSync(join(folder, 'chat-archive', '2026-11.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);

t.test('all files except config.json may be missing', async (t) => {
  const { files, folder, told } = open(t);
  t.match(await files.config.read(), { name: 'ada', enabled: false });
  t.match(await files.memory.read(), { summary: '', facts: [] });
  t.match(await files.costs.read(), { calls: 0, totalCost: null });
  t.match(await files.pulse.read(), { state: 'stopped' });
  t.same(await files.chat.read(), []);
  t.same(readdirSync(folder), ['config.json'], 'reading makes none');
  t.same(told, []);
  rmSync(join(folder, 'config.json'));
  await t.rejects(files.config.read(), { code: 'BLOCK_DAMAGED', message: /it is missing/ });
});

t.test('changes are reported with their author, and quiet ones are not reported', async (t) => {
  const { files, folder, told } = open(t);
  await files.chat.update(add(pair('1')));
  await files.pulse.update((pulse) => ({ value: { ...pulse, restarts: 1 }, result: undefined }), { quiet: true });
  writeFileSync(join(folder, 'chat.json'), '[]');
  await files.chat.refresh();
  writeFileSync(join(folder, 'memory.json'), '{');
  await files.memory.refresh();
  t.match(told, ['chat own', 'chat by hand', /^memory damaged: it is not valid JSON/]);
});

function makeSparse(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, 5 * 1024 ** 3);
}

/** The file of the month in a folder made for it. */
function inside(archive: string): string {
  mkdirSync(archive);
  return join(archive, '2026-11.jsonl');
}

const CONTENTS: readonly (readonly [string, string])[] = [
  ['empty', ''],
  ['half', '{"name":"ada",'],
  ['null', 'null'],
  ['of the wrong kind', '"x"'],
  ['garbage at the end', '{"name":"ada"} x'],
  ['a byte order mark', '\ufeff{"name":"ada"}'],
];

t.test('costs.json and pulse.json that a power cut left empty or cut short begin anew', async (t) => {
  for (const file of ['costs', 'pulse'] as const) {
    for (const [name, content] of CONTENTS) {
      const { files, folder, told } = open(t, { [`${file}.json`]: content });
      t.match(await files[file].read(), file === 'costs' ? { calls: 0, totalCost: null } : { state: 'stopped', transitions: [] }, `${file} ${name}`);
      t.match(told, [new RegExp(`^${file} rebuilt: `)]);
      const change = <T>(value: T): { value: T; result: undefined } => ({ value: { ...value }, result: undefined });
      await (file === 'costs' ? files.costs.update(change) : files.pulse.update(change));
      t.doesNotThrow(() => JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8')));
      t.notOk(readdirSync(folder).some((one) => one.includes('.corrupt-')));
    }
  }
});

t.test('any other file that is damaged is reported, copied and left unchanged, and the other files are served', async (t) => {
  for (const file of ['config', 'memory', 'chat'] as const) {
    for (const [name, content] of CONTENTS) {
      const { files, folder } = open(t, { [`${file}.json`]: content });
      await t.rejects(
        files[file].read() as Promise<unknown>,
        { code: 'BLOCK_DAMAGED', message: new RegExp(`^${file}\\.json can't be used`) },
        `${file} ${name}`,
      );
      t.equal(readFileSync(join(folder, `${file}.json`), 'utf8'), content);
      t.equal(readdirSync(folder).filter((one) => one.startsWith(`${file}.json.corrupt-`)).length, 1);
      for (const other of FILE_NAMES) if (other !== file) await files[other].read();
    }
  }
});

t.test('a chat that is too long is refused with its limit and the cure; one that is far too long is not even parsed', async (t) => {
  const lines = (count: number): string => `[${Array.from({ length: count }, (_, n) => `{"role":"user","content":"${n}"}`).join(',\n')}]`;
  for (const [count, reason] of [
    [250_000, /it contains more than 200000 fields and elements\. .* You can move old messages to a file in chat-archive/],
    [12_001, /it contains 12001 messages, but at most 12000 can be active/],
  ] as const) {
    await t.rejects(open(t, { 'chat.json': lines(count) }).files.chat.read(), { code: 'BLOCK_DAMAGED', message: reason });
  }
  t.equal((await open(t, { 'chat.json': lines(12_000) }).files.chat.read()).length, 12_000);
});

t.test('anything but a regular file is reported at once', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  for (const file of FILE_NAMES) {
    const path = (folder: string) => join(folder, `${file}.json`);
    const makers: [string, (folder: string) => void, RegExp][] = [
      ['a folder', (folder) => mkdirSync(path(folder)), /not a regular file/],
      ['a pipe', (folder) => void execFileSync('mkfifo', [path(folder)]), /not a regular file/],
      ['endless', (folder) => symlinkSync('/dev/zero', path(folder)), /it is a link/],
      ['huge', (folder) => makeSparse(path(folder)), /it is larger than/],
    ];
    for (const [name, make, reason] of makers) {
      const { files, folder } = open(t);
      rmSync(path(folder), { force: true });
      make(folder);
      await t.rejects(files[file].read() as Promise<unknown>, { code: 'BLOCK_DAMAGED', message: reason }, `${file} ${name}`);
      t.notOk(readdirSync(folder).some((one) => one.includes('.corrupt-')));
    }
  }
});

t.test('the newest 500 stay in chat.json, and the others are in the archive before they leave', async (t) => {
  const { files, folder } = open(t);
  await files.chat.update(add(many(550)));
  t.notOk(existsSync(join(folder, 'chat-archive')), 'some more wait for the next move');
  await files.chat.update(add(many(1, 550)));
  const entries = await files.chat.read();
  t.equal(entries.length, 500);
  t.equal(entries[0]?.id, '51');
  t.equal((JSON.parse(readFileSync(join(folder, 'chat.json'), 'utf8')) as Entries).length, 500);
  await files.chat.update(add(many(51, 551)));
  t.same(
    archivedIn(folder),
    many(102).map(({ id }) => id),
  );
});

t.test('a line that a crash cut short does not damage the lines after it', async (t) => {
  const { files, folder } = open(t);
  mkdirSync(join(folder, 'chat-archive'));
  writeFileSync(join(folder, 'chat-archive', '2026-11.jsonl'), '{"id":"cut sh');
  await files.chat.update(add(many(551)));
  const lines = readFileSync(join(folder, 'chat-archive', '2026-11.jsonl'), 'utf8').split('\n');
  t.match(lines.slice(0, 3), ['{"id":"cut sh', /^\{"id":"0",.*\}$/, /^\{"id":"1",.*\}$/]);
  t.equal(lines.at(-1), '');
});

t.test(
  'where the archive can not be written, nothing leaves chat.json and the change is refused',
  { skip: process.platform === 'win32' && 'needs POSIX' },
  async (t) => {
    const makers: [string, (archive: string) => void][] = [
      ['a file in the place of the folder', (archive) => writeFileSync(archive, '')],
      ['a link in the place of the folder', (archive) => symlinkSync(tmpdir(), archive)],
      ['a link', (archive) => symlinkSync('/dev/null', inside(archive))],
      ['a folder in the place of the file', (archive) => mkdirSync(inside(archive))],
      ['a pipe', (archive) => void execFileSync('mkfifo', [inside(archive)])],
    ];
    for (const [name, make] of makers) {
      const { files, folder } = open(t);
      await files.chat.update(add(many(550)));
      make(join(folder, 'chat-archive'));
      await t.rejects(files.chat.update(add(many(1, 550))), { code: 'STORAGE_FAILED', message: /^chat\.json can't be written/ }, name);
      t.equal((await files.chat.read()).length, 550);
      rmSync(join(folder, 'chat-archive'), { recursive: true });
      await files.chat.update(add(many(1, 550)));
      t.equal(archivedIn(folder).length, 51, 'and the next one works');
    }
  },
);

t.test('the archive does not grow while the disk refuses chat.json', async (t) => {
  const { files, folder } = open(t);
  await files.chat.update(add(many(550)));
  const handle = await openFile(folder);
  const prototype = Object.getPrototypeOf(handle) as { sync: FileHandle['sync'] };
  await handle.close();
  const { sync } = prototype;
  t.teardown(() => {
    prototype.sync = sync;
  });
  prototype.sync = async function (this: FileHandle) {
    const stats = await this.stat();
    const archive = lstatSync(join(folder, 'chat-archive', '2026-11.jsonl')).ino;
    if (stats.isFile() && stats.ino !== archive) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });
    return sync.call(this);
  };
  for (let times = 0; times < 3; times += 1) await t.rejects(files.chat.update(add(many(1, 550))), { code: 'STORAGE_FAILED' });
  t.equal(archivedIn(folder).length, 51);
  t.equal((await files.chat.read()).length, 550);
  prototype.sync = sync;
  await files.chat.update(add(many(2, 550)));
  t.same(
    archivedIn(folder),
    many(52).map(({ id }) => id),
  );
});

t.test('a folder that was removed does not come back', async (t) => {
  const { files, folder } = open(t);
  await files.chat.update(add(many(500)));
  rmSync(folder, { recursive: true });
  await t.rejects(files.chat.update(add(many(551))), { code: 'STORAGE_FAILED' });
  t.notOk(existsSync(folder));
});

t.test('of the files that an archive brings, the first one that can not be used is named; journals of runs are looked at, too', async (t) => {
  const folder = t.testdir({ ...Object.fromEntries(freshFiles()), runs: { 'm1.jsonl': '', 'notes.txt': 'no journal' } });
  await checkFiles(folder);
  writeFileSync(join(folder, 'runs', 'm2.jsonl'), 'no record\n');
  await t.rejects(checkFiles(folder), { code: 'INVALID_REQUEST', message: /^The runs\/m2\.jsonl in the archive can't be used: / });
  writeFileSync(join(folder, 'chat.json'), '{}');
  await t.rejects(checkFiles(folder), { code: 'INVALID_REQUEST', message: /^The chat\.json in the archive can't be used: / });
});
