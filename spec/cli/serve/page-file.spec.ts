import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { writePageFile } from '../../../cli/serve/page-file.ts';
import { documentTo } from '../../../cli/serve/page-link.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';

const URL_WITH_CODE = 'http://127.0.0.1:8420/ui/#code=AAAAAAAAAAAAAAAAAAAAAA';
const ON_LINUX = { skip: process.platform !== 'linux' && 'the file is for the browsers of Linux' };

t.test('whatever the umask is, only the user may read the file and its folder', ON_LINUX, async (t) => {
  const home = testFolder(t);
  const before = process.umask(0);
  t.teardown(() => process.umask(before));
  const file = await writePageFile(URL_WITH_CODE, { HOME: home });
  t.strictSame([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777, dirname(dirname(file))], [0o600, 0o700, home]);
  t.equal(readFileSync(file, 'utf8'), documentTo(URL_WITH_CODE));
});

t.test('folders of earlier calls are removed after a minute, and nothing else', ON_LINUX, async (t) => {
  const home = testFolder(t);
  const old = new Date(Date.now() - 61_000);
  const make = (name: string, files: readonly string[], time = old): void => {
    mkdirSync(join(home, name));
    for (const file of files) writeFileSync(join(home, name, file), '');
    utimesSync(join(home, name), time, time);
  };
  make('blockhouse-sign-in-old000', ['sign-in.html']);
  make('blockhouse-sign-in-empty0', []);
  make('blockhouse-sign-in-young0', ['sign-in.html'], new Date());
  make('blockhouse-sign-in-notes0', ['sign-in.html', 'notes.txt']);
  make('elsewhere', ['sign-in.html']);
  symlinkSync(join(home, 'elsewhere'), join(home, 'blockhouse-sign-in-link00'));
  writeFileSync(join(home, 'blockhouse-sign-in-file00'), '');
  const mine = dirname(await writePageFile(URL_WITH_CODE, { HOME: home }));
  const left = readdirSync(home).filter((name) => join(home, name) !== mine);
  t.strictSame(left.sort(), ['blockhouse-sign-in-file00', 'blockhouse-sign-in-link00', 'blockhouse-sign-in-notes0', 'blockhouse-sign-in-young0', 'elsewhere']);
  t.ok(existsSync(join(home, 'elsewhere/sign-in.html')), 'a link is not followed');
});

t.test('the file is gone with its code, also when the command has ended', async (t) => {
  const file = await writePageFile(URL_WITH_CODE, { HOME: testFolder(t) }, 50);
  await until('the folder is removed', () => !existsSync(dirname(file)));
});

t.test('without a home, the file is in the folder for temporary files', ON_LINUX, async (t) => {
  const folder = testFolder(t);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  t.equal(dirname(dirname(await writePageFile(URL_WITH_CODE, { HOME: join(folder, 'none') }))), folder);
});
