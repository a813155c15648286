import t from 'tap';
import { VERSION } from '../../../core/index.ts';
import { run } from '../run.ts';

t.test('--version prints the version of the package', async (t) => {
  t.same(await run(t, ['--version']), { code: 0, stdout: `${VERSION}\n`, stderr: '' });
  t.same(JSON.parse((await run(t, ['-v', '--json'])).stdout), { version: VERSION });
});
