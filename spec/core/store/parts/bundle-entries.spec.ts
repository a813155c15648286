import { gzipSync } from 'node:zlib';
import { packTar, type TarHeader } from 'modern-tar';
import t from 'tap';
import { bundleEntries, unreadable } from '../../../../core/store/parts/bundle-entries.ts';

async function bundle(...headers: (Partial<TarHeader> & { readonly name: string })[]): Promise<Uint8Array> {
  return gzipSync(await packTar(headers.map((header) => ({ header: { size: 0, ...header } }))));
}

const CONFIG = { name: 'ada/config.json' };

/** The entries that come before the first fault, and that fault. */
async function walk(bytes: Uint8Array): Promise<{ paths: string[]; fault?: string }> {
  const paths: string[] = [];
  try {
    for await (const { path, isFolder, entry } of bundleEntries(bytes)) {
      paths.push(isFolder ? `${path}/` : path);
      await entry.body.cancel();
    }
  } catch (error) {
    return { paths, fault: (error as Error).message };
  }
  return { paths };
}

t.test('the entries of a block come in order, with their paths inside its folder', async (t) => {
  const bytes = await bundle({ name: 'ada/', type: 'directory' }, CONFIG, { name: 'ada/logs/', type: 'directory' }, { name: 'ada/logs/a.log' });
  t.same(await walk(bytes), { paths: ['/', 'config.json', 'logs/', 'logs/a.log'] });
});

t.test('the first foreign entry is refused by its name', async (t) => {
  const cases: [Partial<TarHeader> & { readonly name: string }, RegExp][] = [
    [{ name: 'ada/auth.json' }, /"ada\/auth\.json" is not a file of a block/],
    [{ name: 'bob/memory.json' }, /"bob\/memory\.json" is not in the same top folder as the entries before it, "ada"/],
    [CONFIG, /appears twice/],
    [{ name: 'ada/other/', type: 'directory' }, /is not a folder of a block/],
    [{ name: 'ada/memory.json', type: 'symlink', linkname: '/etc/passwd' }, /is a symlink; only files and folders are allowed/],
    [{ name: `ada/${'x'.repeat(300)}` }, /x{190,200}…" is not a file/],
  ];
  for (const [header, fault] of cases) t.match(await walk(await bundle(CONFIG, header)), { paths: ['config.json'], fault });
  t.match(await walk(await bundle({ name: 'ada/chat.json' })), { paths: ['chat.json'], fault: /there is no config\.json/ });
  t.match(await walk(new Uint8Array([1, 2, 3])), { paths: [], fault: /can't be read as tar\.gz/ });
});

t.test('the error for an unreadable archive has a message, whatever was thrown', (t) => {
  t.throws(() => unreadable('odd'), { code: 'INVALID_REQUEST', message: "The archive can't be read as tar.gz: odd." });
  t.throws(() => unreadable(new Error('Tar archive is truncated.')), { message: "The archive can't be read as tar.gz: Tar archive is truncated." });
  t.end();
});

t.test('the sizes in the headers are limited, for each entry and in total', async (t) => {
  /** An archive with a file of 1,024 bytes and one whose header claims `size` bytes. */
  const claim = async (name: string, size: number): Promise<Uint8Array> => {
    const first = { header: { name: 'ada/logs/first.log', size: 1024 }, body: new Uint8Array(1024) };
    const tar = Buffer.from(await packTar([{ header: { ...CONFIG, size: 0 } }, first, { header: { name, size: 0 } }]));
    const header = tar.subarray(512 * 4, 512 * 5); // after two headers and 1,024 bytes
    header.write(`${size.toString(8).padStart(11, '0')} `, 124, 'latin1');
    header.fill(' ', 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    return gzipSync(tar);
  };
  t.match(await walk(await claim('ada/pulse.json', 4 * 1024 ** 2 + 1)), { fault: /"ada\/pulse\.json" is larger than 4194304 bytes/ });
  t.match(await walk(await claim('ada/logs/a.log', 256 * 1024 ** 2 + 1)), { fault: /"ada\/logs\/a\.log" is larger than 268435456 bytes/ });
  const inTotal = /"ada\/logs\/a\.log" makes the block larger than 268435456 bytes/;
  t.match(await walk(await claim('ada/logs/a.log', 256 * 1024 ** 2 - 1023)), { paths: ['config.json', 'logs/first.log'], fault: inTotal });
  const fitting = await walk(await claim('ada/logs/a.log', 256 * 1024 ** 2 - 1024));
  t.match(fitting.paths, ['config.json', 'logs/first.log', 'logs/a.log']);
});
