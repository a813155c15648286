import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { constants, createGzip, gzipSync } from 'node:zlib';
import { packTar, type TarHeader } from 'modern-tar';
import t, { type Test } from 'tap';
import { unpackInto } from '../../../../../core/store/files/bundle/bundle-unpack.ts';
import { withSmallDisk } from '../../../../support/small-disk.ts';

type Entry = string | (Partial<TarHeader> & { readonly name: string; readonly content?: string });

const CONFIG = 'alpha/config.json';

async function tar(...entries: Entry[]): Promise<Uint8Array> {
  return await packTar(
    entries.map((entry) => {
      const { content = 'x', ...header } = typeof entry === 'string' ? { name: entry } : entry;
      const isFile = (header.type ?? 'file') === 'file';
      return isFile ? { header: { size: Buffer.byteLength(content), ...header }, body: content } : { header: { size: 0, ...header } };
    }),
  );
}

async function archive(...entries: Entry[]): Promise<Uint8Array> {
  return gzipSync(await tar(...entries));
}

let folders = 0;
function emptyFolder(t: Test): string {
  folders += 1;
  const folder = join(t.testdirName, String(folders));
  mkdirSync(folder, { recursive: true });
  return folder;
}

async function refused(t: Test, bytes: Uint8Array, message: RegExp): Promise<void> {
  await t.rejects(unpackInto(bytes, emptyFolder(t)), { code: 'INVALID_REQUEST', message }, String(message));
}

t.test('the one folder may have any name, with or without an entry of its own', async (t) => {
  t.testdir({});
  for (const top of ['alpha', 'logs', '.', 'with space', 'x'.repeat(200)]) {
    const folder = emptyFolder(t);
    await unpackInto(
      await archive({ name: `${top}/`, type: 'directory' }, `${top}/config.json`, { name: `${top}/logs/`, type: 'directory' }, `${top}/chat-archive/1.json`),
      folder,
    );
    t.strictSame(readdirSync(folder).sort(), ['chat-archive', 'config.json', 'logs']);
  }
});

t.test('long names and names in other scripts are kept', async (t) => {
  t.testdir({});
  const folder = emptyFolder(t);
  const names = ['é\u{1f600}.log', `${'y'.repeat(250)}.log`];
  await unpackInto(await archive(CONFIG, ...names.map((name) => `alpha/logs/${name}`)), folder);
  t.strictSame(readdirSync(join(folder, 'logs')).sort(), names.sort());
});

t.test('names that a block does not have are refused', async (t) => {
  t.testdir({});
  for (const name of [
    'alpha/auth.json',
    'alpha/.api-token',
    'alpha/sub/config.json',
    'alpha/logs/a/b',
    'alpha/../config.json',
    'alpha/logs/../../x',
    'alpha/./config.json',
    'alpha//config.json',
  ]) {
    await refused(t, await archive(CONFIG, name), new RegExp(`entry ${JSON.stringify(name)} is not a file of a block`));
  }
  for (const name of ['/etc/passwd', '//x', '../config.json', '..']) await refused(t, await archive(CONFIG, name), /is not in the top folder|can't be read/);
  await refused(t, await archive(CONFIG, 'beta/config.json'), /"beta\/config\.json" is not in the same top folder as the entries before it, "alpha"/);
  await refused(t, await archive('config.json'), /"config\.json" is not a file of a block/);
  await refused(t, await archive(CONFIG, { name: 'alpha/other/', type: 'directory' }), /"alpha\/other\/" is not a folder of a block/);
  await refused(t, await archive(CONFIG, { name: 'alpha/config.json/', type: 'directory' }), /is not a folder of a block/);
  await refused(t, await archive(CONFIG, CONFIG), /"alpha\/config\.json" appears twice/);
  await refused(t, await archive(CONFIG, { name: 'a', pax: { path: 'alpha/logs/esc\u001b[31m' } }), /entry "alpha\/logs\/esc\\u001b\[31m" is not a file/);
});

t.test('links and devices are refused', async (t) => {
  t.testdir({});
  for (const type of ['symlink', 'link', 'character-device', 'block-device', 'fifo'] as const) {
    await refused(t, await archive(CONFIG, { name: 'alpha/memory.json', type, linkname: '/etc/passwd' }), new RegExp(`"alpha/memory\\.json" is a ${type}`));
  }
});

t.test('existing files are not overwritten, and links are not followed', async (t) => {
  const parent = t.testdir({ victim: 'untouched', block: {} });
  symlinkSync(join(parent, 'victim'), join(parent, 'block', 'config.json'));
  await t.rejects(unpackInto(await archive(CONFIG), join(parent, 'block')), { code: 'EEXIST' });
  t.equal(readFileSync(join(parent, 'victim'), 'utf8'), 'untouched');
  await t.rejects(unpackInto(await archive(CONFIG), join(parent, 'missing')), { code: 'ENOENT' });
});

t.test('bytes that are not a whole archive are refused', async (t) => {
  t.testdir({});
  const whole = await archive(CONFIG, 'alpha/logs/a.log');
  const plain = await tar(CONFIG, { name: 'alpha/chat.json', content: 'x'.repeat(5000) });
  const bad: Uint8Array[] = [
    new Uint8Array(),
    Buffer.from('hello'),
    plain,
    whole.subarray(0, -10),
    gzipSync(Buffer.from('hello')),
    gzipSync(plain.subarray(0, 3000)),
  ];
  const flipped = Buffer.from(plain);
  flipped[0] = 0x62; // the checksum no longer fits
  bad.push(gzipSync(flipped));
  for (const bytes of bad) await refused(t, bytes, /can't be read as tar\.gz|no config\.json/);
  await refused(t, await archive('alpha/chat.json'), /contains no block: there is no config\.json/);
});

/** The bytes and then zeros, gzipped without ever being whole in memory. */
async function withZeros(bytes: Uint8Array, megabytes: number): Promise<Uint8Array> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const zeros = Buffer.alloc(1024 * 1024);
  gzip.write(bytes);
  for (let n = 0; n < megabytes; n += 1) if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once('drain', resolve));
  await new Promise<void>((resolve) => gzip.end(resolve));
  return Buffer.concat(chunks);
}

t.test('an entry that claims to be too large is refused before any of it is written', async (t) => {
  t.testdir({});
  const claim = Buffer.from(await tar(CONFIG, { name: 'alpha/chat.json', content: '' })).subarray(0, 1536);
  const header = claim.subarray(1024);
  header.write('77777777777', 124, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0`, 148, 'latin1');
  const folder = emptyFolder(t);
  await t.rejects(unpackInto(await withZeros(claim, 20), folder), { code: 'INVALID_REQUEST', message: /chat\.json" is larger than 67108864 bytes/ });
  t.strictSame(readdirSync(folder), []);
});

t.test('a small archive that unpacks to something huge is refused early', async (t) => {
  t.testdir({});
  const bomb = await withZeros(await tar(CONFIG), 400);
  t.ok(bomb.length < 4 * 1024 * 1024);
  await refused(t, bomb, /unpacks to more than/);
});

t.test('a bad later entry is found before the first one is written', async (t) => {
  t.testdir({});
  const logs = Array.from({ length: 2500 }, (_, n) => `alpha/logs/${n}.log`);
  const bad: [Uint8Array, RegExp][] = [
    [await archive(CONFIG, ...logs), /more than 2500 files and folders/],
    [await archive(CONFIG, ...logs.slice(0, 100), 'alpha/auth.json'), /is not a file of a block/],
    [await archive(...logs.slice(0, 100)), /no config\.json/],
    [gzipSync((await tar(CONFIG, ...logs.slice(0, 100))).subarray(0, -1500)), /can't be read as tar\.gz/],
  ];
  for (const [bytes, message] of bad) {
    const folder = emptyFolder(t);
    await t.rejects(unpackInto(bytes, folder), { code: 'INVALID_REQUEST', message });
    t.strictSame(readdirSync(folder), [], String(message));
  }
});

t.test('too many entries are refused', async (t) => {
  t.testdir({});
  const folders = Array.from({ length: 2501 }, () => ({ name: 'alpha/', type: 'directory' as const }));
  await refused(t, await archive(...folders), /more than 2500 files and folders/);
});

t.test('a full disk is reported as STORAGE_FULL', async (t) => {
  const folder = t.testdir({});
  const reason = await withSmallDisk(folder, async () => {
    await t.rejects(unpackInto(await archive(CONFIG, { name: 'alpha/chat.json', content: 'x'.repeat(400_000) }), folder), { code: 'STORAGE_FULL' });
  });
  if (reason !== undefined) t.comment(`not tried: ${reason}`);
});
