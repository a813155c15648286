import t from 'tap';
import { bundledFileLimit } from '../../../../core/store/parts/bundle-names.ts';

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
