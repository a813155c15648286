import t from 'tap';
import { openDesk } from '../run.ts';

t.test('the limits of a key are set by option, and `none` lifts one', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['key', 'new', 'app', '--usd-per-week', '5', '--usd-per-month', '9', '--in-flight', '2', '--rpm', '60']), { code: 0 });
  const first = { usdPerWeek: 5, usdPerMonth: 9, inFlight: 2, requestsPerMinute: 60, unpriced: 'refuse' };
  t.match(JSON.parse((await on(['key', 'ls', '--json'])).stdout).keys, [first]);
  t.match(await on(['key', 'set', 'app', '--usd-per-week', 'none', '--tokens-per-month', '7', '--tpm', '9000', '--unpriced', 'allow', '--expires', '30d']), {
    code: 0,
    stdout: '',
    stderr: 'The limits of app are changed.\n',
  });
  const then = { ...first, usdPerWeek: null, tokensPerMonth: 7, tokensPerMinute: 9000, unpriced: 'allow', expiresAt: String };
  t.match(JSON.parse((await on(['key', 'ls', '--json'])).stdout).keys, [then]);
  t.match(await on(['key', 'set', 'app']), { code: 2, stderr: /Name a limit to change/ });
  t.match(await on(['key', 'set', 'nobody', '--rpm', '5']), { code: 2, stderr: /There is no key "nobody"/ });
  t.match(await on(['key', 'set', 'app', '--group', 'team']), { code: 2, stderr: /team, which is no group; .*key group set team/ });
  for (const [option, value, what] of [
    ['--in-flight', '1.5', 'a whole number of 1 or more, or none'],
    ['--usd-per-month', '-1', 'a number of 0 or more, or none'],
  ] as const)
    t.match(await on(['key', 'set', 'app', `${option}=${value}`]), { code: 2, stderr: new RegExp(`${option} must be ${what}, not ${value}`) });
});
