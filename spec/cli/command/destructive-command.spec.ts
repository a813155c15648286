import t from 'tap';
import { runHere } from '../run.ts';

t.test('what takes something away needs --yes where nobody can be asked, and asks no server before that', async (t) => {
  const workspace = t.testdir();
  for (const args of [
    ['rm', 'one'],
    ['reset', 'one'],
    ['purge', 'one'],
    ['key', 'rm', 'app'],
    ['key', 'group', 'rm', 'team'],
    ['alias', 'rm', 'small'],
    ['auth', 'rm', 'openai'],
  ]) {
    const { code, stderr } = await runHere(t, [...args, '--workspace', workspace]);
    t.equal(code, 2, args.join(' '));
    t.match(stderr, /^blockhouse: This .*\. Add --yes to confirm\.\n$/);
  }
});
