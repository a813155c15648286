import t from 'tap';
import { openDesk } from '../run.ts';

t.test('a group has limits for several keys, and is removed when no key is in it', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['key', 'group', 'ls']), { code: 0, stderr: /^There are no groups yet/ });
  t.match(await on(['key', 'group', 'set', 'team', '--usd-per-day', '20', '--in-flight', '4']), { code: 0, stdout: '', stderr: /key set <key> --group team/ });
  t.match(await on(['key', 'new', 'app', '--group', 'team']), { code: 0 });
  t.match(await on(['key', 'group', 'ls']), { code: 0, stdout: /^GROUP .*\nteam +\$0 +\$20\.00, 4 at once +app\n$/ });
  t.match(await on(['key', 'group', 'set', 'team', '--usd-per-day', 'none']), { code: 0, stderr: 'The group team is set. Its keys: app.\n' });
  t.match(await on(['key', 'group', 'rm', 'team', '--yes']), { code: 2, stderr: /app is in the group team/ });
  t.match(await on(['key', 'set', 'app', '--group', 'none']), { code: 0 });
  t.match(await on(['key', 'group', 'rm', 'team', '--yes']), { code: 0, stderr: 'The group team is removed.\n' });
  t.match(await on(['key', 'group', 'rm', 'team', '--yes']), { code: 2, stderr: /There is no group "team"/ });
});
