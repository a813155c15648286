import t from 'tap';
import { openDesk } from '../run.ts';

t.test('what was said is found, the newest last, and the rest is said', async (t) => {
  const { on } = await openDesk(t);
  for (const name of ['one', 'two']) {
    await on(['new', name, '--provider', 'ollama', '--model', 'm']);
    await on(['send', name, `The Needle\x1b[2J\nof ${name}`]);
  }
  t.match(await on(['search', 'needle']), {
    code: 0,
    stdout: /^one +you +(?:now|\d+s ago) +\S+\nThe Needle of one\n\ntwo +you +(?:now|\d+s ago) +\S+\nThe Needle of two\n$/,
    stderr: '',
  });
  t.match(await on(['search', 'needle', '-n', '1']), { code: 0, stdout: /^two .*\n.*two\n$/, stderr: /2 texts in all/ });
  t.match(await on(['search', 'needle', '--block', 'one']), { stdout: /^one .*\n.*one\n$/ });
  t.match(await on(['search', 'hay']), { code: 0, stdout: '', stderr: /Nothing was found/ });
  t.match(JSON.parse((await on(['search', 'of', 'one', '--json'])).stdout), { total: 1, complete: true, hits: [{ block: 'one', by: 'message' }] });
  t.match(await on(['search', 'x', '--block', 'nobody']), { code: 2, stderr: /no block/ });
  t.match(await on(['search', 'x', '-n', '0']), { code: 2, stderr: /--limit must be/ });
});
