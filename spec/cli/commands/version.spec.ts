import t from 'tap';
import { VERSION } from '../../../core/index.ts';
import { runHere } from '../run.ts';

t.test('--version prints the version of the package', async (t) => {
  t.same(await runHere(t, ['--version']), { code: 0, stdout: `${VERSION}\n`, stderr: '' });
  t.same(JSON.parse((await runHere(t, ['-v', '--json'])).stdout), { version: VERSION });
});
