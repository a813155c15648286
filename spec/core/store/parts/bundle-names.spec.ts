import t from 'tap';
import { bundledFileLimit, isBundledFolder } from '../../../../core/store/parts/bundle-names.ts';
import { assertBundleSize, packed, tooLarge } from '../../../../core/store/parts/bundle-pack.ts';
import { DOCUMENTS, stoppedConfig } from '../../../../core/store/parts/documents.ts';
import { assertPartSize, noLogFile, startOfLine, textOfEnd } from '../../../../core/store/parts/log-text.ts';
import { isTemporaryName } from '../../../../core/store/parts/temporary-name.ts';

t.test('the files of a block may be bundled', async (t) => {
  const paths = ['config.json', 'memory.json', 'costs.json', 'pulse.json', 'chat.json', 'logs/a.log', 'logs/2026-11-20T14-03-22Z-monitor.log'];
  for (const path of [...paths, 'chat-archive/000001.json', 'logs/…', `logs/${'x'.repeat(255)}`, 'logs/auth.json']) t.ok(bundledFileLimit(path), path);
  t.equal(bundledFileLimit('pulse.json'), 4 * 1024 * 1024, 'each with its own limit');
});

t.test('no other files may be bundled', async (t) => {
  const paths = [
    '',
    '.',
    '..',
    '/',
    'auth.json',
    '.api-token',
    '.lock',
    'archive.json',
    'config.json.corrupt-2026',
    'Config.json',
    'config.json/',
    'toString',
    '__proto__',
    './config.json',
  ];
  paths.push('/config.json', '../config.json', 'logs', 'logs/', 'logs/.', 'logs/..', 'logs/../config.json', 'logs/a/b', 'logs//a', 'other/a.log', 'logs\\a');
  paths.push('logs/a\\b', 'logs/a\nb', 'logs/a\0', 'logs/\ufffd', 'logs/.a.log.0123456789abcdef.tmp', `logs/${'é'.repeat(128)}`, 'chat-archive');
  for (const path of paths) t.notOk(bundledFileLimit(path), JSON.stringify(path));
});

t.test('the files of skills may be bundled, and no others below their folder', async (t) => {
  for (const path of ['skills/a/SKILL.md', 'skills/a/b/c.md', 'skills/a/1/2/3/4/x.md']) t.equal(bundledFileLimit(path), 65_536, path);
  const others = [
    'skills',
    'skills/x.md',
    'skills/a/',
    'skills/../config.json',
    'skills/a/../x',
    'skills/a/.git',
    'skills/.a/SKILL.md',
    'skills/a/1/2/3/4/5/x.md',
  ];
  for (const path of [...others, 'skills//SKILL.md', 'skills/a\\b/c', 'skills/a/b\0c']) t.notOk(bundledFileLimit(path), JSON.stringify(path));
  for (const path of ['skills', 'skills/a', 'skills/a/b/c', 'logs', 'runs']) t.ok(isBundledFolder(path), path);
  for (const path of ['', 'other', 'skills/..', 'skills/.git', 'logs/a', 'skills/a/1/2/3/4/5']) t.notOk(isBundledFolder(path), path);
  t.match(tooLarge('a', 'skills/x/long.md', 5, 4), { message: /Shorten it, or move it out of the skill/ });
});

t.test('a bundle that is too large says so, and one whose files can not be read has their error', async (t) => {
  t.throws(() => assertBundleSize(2501), { code: 'INVALID_REQUEST' });
  t.match(tooLarge('a', 'chat.json', 5, 4), { message: /a\/chat.json has 5 bytes, but only 4 are left/ });
  const broken = async function* () {
    yield { path: 'config.json', bytes: Buffer.from('{}'), mtime: new Date(0) };
    throw new Error('the disk is gone');
  };
  await t.rejects(packed('a', broken()), { message: /the disk is gone/ });
});

t.test('a configuration that comes from elsewhere is that of a stopped block', async (t) => {
  t.match(stoppedConfig({ name: 'a', enabled: true, rev: 3 }, 'b', 0), { name: 'b', enabled: false, rev: 4, updatedAt: '1970-01-01T00:00:00.000Z' });
  for (const value of [undefined, [], {}]) t.throws(() => stoppedConfig(value, undefined, 0), { message: 'it has no name' });
  for (const { parse, missing, format } of Object.values(DOCUMENTS)) t.ok(typeof parse === 'function' && typeof format(missing() as never) === 'string');
});

t.test('a piece of a log begins with a whole line, or at least with a whole character', async (t) => {
  t.equal(startOfLine(Buffer.from('x\nline')), 2);
  t.equal(startOfLine(Buffer.from('x\u20acy').subarray(1)), 3);
  t.equal(textOfEnd(Buffer.from('\u20acy').subarray(1), true), 'y');
  t.throws(() => assertPartSize(0), { code: 'INVALID_REQUEST' });
  t.match(noLogFile(), { message: /^file / });
  t.ok(isTemporaryName('.a.0123456789abcdef.tmp'));
});
