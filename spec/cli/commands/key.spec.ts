import t from 'tap';
import { openDesk } from '../run.ts';

t.test('a key is made, shown once on stdout, listed without itself, and revoked', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['key', 'ls']), { code: 0, stdout: '', stderr: /^There are no keys yet\. `.*key new <name>.*` makes one\.\n$/ });
  const made = await on(['key', 'new', 'my-app', '--usd-per-day', '5', '--models', 'claude-*', '--models', 'ollama/x-cloud', '--expires', '30d']);
  t.match(made, {
    code: 0,
    stdout: /^bhk_[A-Za-z0-9_-]{43}\n$/,
    stderr:
      /^note: unpriced: This key refuses calls of .*\nGive it to my-app only; .* http:\/\/127\.0\.0\.1:\d+\/v1 as base URL; some add the \/v1 themselves\. `.*key rm my-app.*` revokes it\.\n$/,
  });
  const { stdout } = await on(['key', 'ls']);
  t.match(stdout, /^KEY +TODAY +CAP +MODELS +EXPIRES\nmy-app +\$0 +\$5\.00, known prices only +claude-\* ollama\/x-cloud +in \S+\n$/);
  t.notMatch(stdout, made.stdout.trim());
  t.equal((await on(['key', 'ls', '-q'])).stdout, 'my-app\n');
  t.match(JSON.parse((await on(['key', 'ls', '--json'])).stdout), {
    keys: [{ name: 'my-app', usdPerDay: 5, tokensPerDay: null, unpriced: 'refuse', spentToday: { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 } }],
  });
  t.match(await on(['key', 'new', 'my-app']), { code: 2, stdout: '', stderr: /There is a key my-app already/ });
  t.same(await on(['key', 'rm', 'my-app', '--yes']), { code: 0, stdout: '', stderr: 'The key my-app is revoked.\n' });
  t.match(await on(['key', 'rm', 'my-app', '--yes']), { code: 2, stderr: /There is no key "my-app"/ });
});

t.test('a key with a cap in USD alone refuses calls without a known price, unless it is told otherwise', async (t) => {
  const { on } = await openDesk(t);
  for (const [index, [options, unpriced]] of (
    [
      [[], 'allow'],
      [['--usd-per-day', '1'], 'refuse'],
      [['--tokens-per-day', '9'], 'allow'],
      [['--usd-per-day', '1', '--tokens-per-day', '9'], 'allow'],
      [['--usd-per-day', '1', '--unpriced', 'allow'], 'allow'],
      [['--usd-per-day', '1', '--tokens-per-day', '9', '--unpriced', 'refuse'], 'refuse'],
      [['--unpriced', 'refuse'], 'refuse'],
    ] as const
  ).entries()) {
    t.match(await on(['key', 'new', `k${index}`, ...options]), { code: 0 });
    const { keys } = JSON.parse((await on(['key', 'ls', '--json'])).stdout);
    t.match(keys.at(-1), { name: `k${index}`, unpriced }, options.join(' '));
  }
});

t.test('a cap in USD that does not count every model is made, with a note that names the cure', async (t) => {
  const { on } = await openDesk(t);
  const made = await on(['key', 'new', 'a', '--usd-per-day', '1', '--unpriced', 'allow', '--models', 'ollama/x-cloud']);
  t.match(made, {
    code: 0,
    stdout: /^bhk_\S+\n$/,
    stderr:
      /^note: usdPerDay: This cap does not count calls of ollama\/x-cloud, .*`--tokens-per-day`\) as well, or refuse such calls \(`--unpriced refuse`\)\.\nGive it to a only;/,
  });
  t.match(await on(['doctor']), { code: 0, stdout: /keys\.json.*the cap in USD of a does not count calls of ollama\/x-cloud/ });
  t.match(await on(['key', 'new', 'b', '--usd-per-day', '1', '--tokens-per-day', '9', '--models', 'ollama/x-cloud']), {
    code: 0,
    stderr: /^Give it to b only;/,
  });
});

t.test('the list names the command that raises a cap which is reached', async (t) => {
  const { on } = await openDesk(t);
  await on(['key', 'group', 'set', 'team', '--usd-per-month', '0']);
  await on(['key', 'group', 'set', 'empty', '--usd-per-month', '0']);
  await on(['key', 'new', 'my-app', '--tokens-per-day', '0', '--group', 'team']);
  const listed = await on(['key', 'ls']);
  t.match(
    listed.stderr,
    /^my-app has reached its cap of 0 tokens a day\. `.*key set my-app --tokens-per-day <count>.*` raises it\.\nThe group team has reached its cap of \$0 a month, which holds for its keys my-app\. `.*key group set team --usd-per-month <amount>.*` raises it\.\n$/,
  );
  t.match(
    (await on(['key', 'group', 'ls'])).stderr,
    /^team has reached its cap of \$0 a month\. `.*key group set team --usd-per-month <amount>.*` raises it\.\n/m,
  );
  t.equal((await on(['key', 'ls', '-q'])).stderr, '');
  t.equal((await on(['key', 'ls', '--json'])).stderr, '');
});

t.test('a limit that is wrong is refused by its option', async (t) => {
  const { on } = await openDesk(t);
  for (const [option, value] of [
    ['--usd-per-day', 'five'],
    ['--tokens-per-day', '-1'],
    ['--expires', 'soon'],
    ['--unpriced', 'never'],
  ] as const)
    t.match(await on(['key', 'new', 'a', `${option}=${value}`]), { code: 2, stderr: new RegExp(`${option} must be`) }, option);
  t.match(await on(['key', 'new', 'a', '--usd-per-day', '-3']), {
    code: 2,
    stderr: /^blockhouse: --usd-per-day needs <amount>, and -3 is read as an option; write --usd-per-day=-3\.\n/,
  });
  t.match(await on(['key', 'new', 'A B']), { code: 2, stderr: /name must have/ });
});

t.test('of keys that several processes make and revoke at once, none is lost and none comes back', async (t) => {
  const { on, begin } = await openDesk(t);
  const { url } = JSON.parse((await on(['status', '--json'])).stdout) as { url: string };
  const keyOf = async (name: string): Promise<string> => (await on(['key', 'new', name])).stdout.trim();
  const revoked = [await keyOf('old'), await keyOf('older')];
  const changes = [
    ['new', 'a'],
    ['rm', 'old', '--yes'],
    ['new', 'b'],
    ['rm', 'older', '--yes'],
    ['new', 'c'],
  ].map((args) => begin(['key', ...args]).ended);
  const outcomes = await Promise.all(changes);
  t.same(
    outcomes.map(({ code }) => code),
    [0, 0, 0, 0, 0],
  );
  t.same((await on(['key', 'ls', '-q'])).stdout.trim().split('\n').sort(), ['a', 'b', 'c']);
  const statusFor = async (key: string): Promise<number> => (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
  for (const { stdout } of outcomes) if (stdout !== '') t.equal(await statusFor(stdout.trim()), 200);
  for (const key of revoked) t.equal(await statusFor(key), 401);
});

t.test('a key is debugged for some minutes, which the list says, until it is switched off', async (t) => {
  const { on } = await openDesk(t);
  await on(['key', 'new', 'my-app']);
  t.match(await on(['key', 'debug', 'my-app', '--minutes', '60']), {
    code: 0,
    stdout: '',
    stderr: /^What the calls of my-app send and get is kept until \d\d:\d\d, .*--off/,
  });
  t.match(await on(['key', 'ls']), { code: 0, stderr: /^What the calls of my-app send and get is kept until \d\d:\d\d\.\n$/ });
  t.equal((await on(['key', 'ls', '-q'])).stderr, '');
  t.match(JSON.parse((await on(['key', 'debug', 'my-app', '--json'])).stdout), { success: true, name: 'my-app', debugUntil: String });
  t.match(await on(['key', 'debug', 'my-app', '--off']), { code: 0, stdout: '', stderr: /my-app are kept no longer/ });
  t.equal((await on(['key', 'ls'])).stderr, '');
  for (const minutes of ['0', '61', 'x', '1.5'])
    t.match(await on(['key', 'debug', 'my-app', '--minutes', minutes]), { code: 2, stderr: /--minutes must be/ }, minutes);
  t.match(await on(['key', 'debug', 'my-app', '--minutes', '5', '--off']), { code: 2, stderr: /beside --off/ });
  t.match(await on(['key', 'debug', 'other']), { code: 2, stderr: /There is no key "other"/ });
});

t.test('a key gets the right to ask blocks, shows them, and loses it', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['key', 'new', 'chat', '--right', 'blocks', '--block', 'ada', '--block', 'team-*']), { code: 0 });
  t.match(await on(['key', 'new', 'all', '--right', 'blocks']), { code: 0 });
  const table = async () => (await on(['key', 'ls'])).stdout;
  t.match(await table(), /^KEY +TODAY +CAP +MODELS +BLOCKS +EXPIRES\nchat .* all +ada team-\* +never\nall .* all +all +never\n$/);
  t.match(await on(['key', 'set', 'chat', '--block', 'none', '--right', 'none']), { code: 0 });
  t.match(JSON.parse((await on(['key', 'ls', '--json'])).stdout), {
    keys: [
      { name: 'chat', rights: [], blocks: null },
      { name: 'all', rights: ['blocks'] },
    ],
  });
  t.match(await on(['key', 'set', 'all', '--right', 'none']), { code: 0 });
  t.match(await table(), /^KEY +TODAY +CAP +MODELS +EXPIRES\n/, 'no column without any');
  t.match(await on(['key', 'new', 'x', '--right', 'all']), { code: 2, stderr: /--right must be blocks, mcp or none, not all/ });
  t.match(await on(['key', 'new', 'agent', '--right', 'mcp', '--block', 'ada']), { code: 0 });
  t.match(await on(['key', 'new', 'both', '--right', 'mcp', '--right', 'blocks']), { code: 0 });
  t.match(await table(), /\nagent .* ada \(MCP\) .*\nboth .* all \(also MCP\) /);
  t.match(await on(['key', 'set', 'agent', '--trusted']), { code: 0 });
  t.match(await table(), /\nagent .* ada \(MCP\), trusted /);
  t.match(await on(['key', 'set', 'agent', '--right', 'mcp']), { code: 0 });
  t.match(await table(), /\nagent .*, trusted /, 'what is left out stays');
  t.match(await on(['key', 'set', 'agent', '--no-trusted']), { code: 0 });
  t.notMatch(await table(), /trusted/);
});
