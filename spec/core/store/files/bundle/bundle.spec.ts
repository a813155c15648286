import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packFolder } from '../../../../../core/store/files/bundle/bundle.ts';
import { unpackInto } from '../../../../../core/store/files/bundle/bundle-unpack.ts';

const BLOCK = {
  'config.json': '{"name":"alpha"}',
  'memory.json': '{}',
  'costs.json': '{}',
  'pulse.json': '{}',
  'chat.json': '[]',
  'chat-archive': { '000001.json': '[1]', '000002.json': '[2]' },
  logs: { '2026-11-20T14-03-22Z-monitor.log': 'a line\n', 'empty.log': '' },
};

/** Paths inside a folder, and what they hold. */
function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

t.test('a block comes back as it was packed', async (t) => {
  const folder = t.testdir({ block: BLOCK, empty: {} });
  const log = join(folder, 'block', 'logs', 'empty.log');
  utimesSync(log, 1_000_000, 1_000_000);
  const noise = Buffer.alloc(3_000_001, 'é');
  writeFileSync(join(folder, 'block', 'chat.json'), noise);
  const bytes = await packFolder(join(folder, 'block'), 'alpha');
  await unpackInto(bytes, join(folder, 'empty'));
  t.strictSame(filesIn(join(folder, 'empty')), filesIn(join(folder, 'block')));
  t.equal(statSync(join(folder, 'empty', 'config.json')).mode & 0o777, 0o600);
  t.equal(statSync(join(folder, 'empty', 'logs')).mode & 0o777, 0o700);
  t.equal(statSync(join(folder, 'empty', 'logs', 'empty.log')).mtimeMs, 1_000_000_000);
});

t.test('skills of a block go along, and nothing else of their folder', async (t) => {
  const skills = {
    invoice: { 'SKILL.md': 'text', references: { 'terms.md': 'Terms.', '.hidden': 'x' }, '.git': { config: 'x' } },
    'loose.md': 'x',
    '.draft': { 'SKILL.md': 'x' },
  };
  const folder = t.testdir({ block: { ...BLOCK, skills }, empty: {}, outside: { 'SKILL.md': 'secret' } });
  symlinkSync(join(folder, 'outside'), join(folder, 'block/skills/linked'));
  symlinkSync(join(folder, 'outside/SKILL.md'), join(folder, 'block/skills/invoice/linked.md'));
  await unpackInto(await packFolder(join(folder, 'block'), 'alpha'), join(folder, 'empty'));
  const names = Object.keys(filesIn(join(folder, 'empty'))).filter((name) => name.startsWith('skills'));
  t.strictSame(names, ['skills/invoice/SKILL.md', 'skills/invoice/references/terms.md']);
  t.equal(statSync(join(folder, 'empty/skills/invoice')).mode & 0o777, 0o700);
  writeFileSync(join(folder, 'block/skills/invoice/long.md'), 'x'.repeat(65_537));
  await t.rejects(packFolder(join(folder, 'block'), 'alpha'), {
    code: 'INVALID_REQUEST',
    message: /alpha\/skills\/invoice\/long\.md has 65537 bytes.*move it out of the skill/,
  });
});

t.test('a link in the place of the folder of skills is not packed', async (t) => {
  const folder = t.testdir({ block: BLOCK, empty: {}, outside: { invoice: { 'SKILL.md': 'secret' } } });
  symlinkSync(join(folder, 'outside'), join(folder, 'block/skills'));
  await unpackInto(await packFolder(join(folder, 'block'), 'alpha'), join(folder, 'empty'));
  t.notOk(readdirSync(join(folder, 'empty')).includes('skills'));
});

t.test("the system's tar can read a bundle", async (t) => {
  const folder = t.testdir({ block: BLOCK });
  writeFileSync(join(folder, 'alpha.tar.gz'), await packFolder(join(folder, 'block'), 'alpha'));
  const listed = execFileSync('tar', ['tzf', join(folder, 'alpha.tar.gz')], { encoding: 'utf8' })
    .trim()
    .split('\n');
  t.strictSame(
    listed,
    Object.keys(filesIn(join(folder, 'block')))
      .map((name) => `alpha/${name}`)
      .sort((a, b) => listed.indexOf(a) - listed.indexOf(b)),
  );
  t.equal(listed.length, 9);
  execFileSync('tar', ['xzf', join(folder, 'alpha.tar.gz'), '-C', folder]);
  t.strictSame(filesIn(join(folder, 'alpha')), filesIn(join(folder, 'block')));
});

t.test('only regular files of the block are packed', async (t) => {
  const folder = t.testdir({
    block: { ...BLOCK, 'auth.json': 'secret', '.api-token': 'secret', 'notes.txt': '', other: { a: '' } },
    victim: 'secret',
    empty: {},
  });
  const block = join(folder, 'block');
  writeFileSync(join(block, '.config.json.0123456789abcdef.tmp'), 'half');
  writeFileSync(join(block, 'logs', '.a.0123456789abcdef.tmp'), 'half');
  writeFileSync(join(block, 'logs', 'new\nline'), '');
  mkdirSync(join(block, 'logs', 'folder'));
  symlinkSync(join(folder, 'victim'), join(block, 'logs', 'link.log'));
  execFileSync('rm', [join(block, 'pulse.json'), join(block, 'memory.json'), join(block, 'costs.json')]);
  symlinkSync(join(folder, 'victim'), join(block, 'pulse.json'));
  mkdirSync(join(block, 'memory.json'));
  execFileSync('mkfifo', [join(block, 'costs.json')]);
  await unpackInto(await packFolder(block, 'alpha'), join(folder, 'empty'));
  t.strictSame(Object.keys(filesIn(join(folder, 'empty'))), [
    'chat-archive/000001.json',
    'chat-archive/000002.json',
    'chat.json',
    'config.json',
    'logs/2026-11-20T14-03-22Z-monitor.log',
    'logs/empty.log',
  ]);
});

t.test('a folder without files of a block packs to an empty archive', async (t) => {
  const folder = t.testdir({ block: {}, empty: {} });
  await t.rejects(unpackInto(await packFolder(join(folder, 'block'), 'alpha'), join(folder, 'empty')), { code: 'INVALID_REQUEST', message: /no config\.json/ });
});

t.test('a block that is too large is refused before it is read', async (t) => {
  const folder = t.testdir(BLOCK);
  truncateSync(join(folder, 'chat.json'), 64 * 1024 * 1024 + 1);
  await t.rejects(packFolder(folder, 'alpha'), { code: 'INVALID_REQUEST', message: /alpha\/chat\.json has \d+ bytes/ });
  truncateSync(join(folder, 'chat.json'), 1);
  writeFileSync(join(folder, 'logs', '0.log'), '');
  for (let n = 1; n < 2500; n += 1) linkSync(join(folder, 'logs', '0.log'), join(folder, 'logs', `${n}.log`)); // cheaper than as many files
  await t.rejects(packFolder(folder, 'alpha'), { code: 'INVALID_REQUEST', message: /2510 files/ });
});

t.test('a file in place of a folder is BLOCK_DAMAGED, and a system error is thrown unchanged', async (t) => {
  const folder = t.testdir({ 'config.json': '{}', logs: 'no folder' });
  await t.rejects(packFolder(folder, 'alpha'), { code: 'BLOCK_DAMAGED', message: /^logs is not a folder/ });
  await t.rejects(packFolder(join(folder, 'x'.repeat(300)), 'alpha'), { code: 'ENAMETOOLONG' });
});
