import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDesk, runHere } from '../run.ts';
import { noTerminal, openTerminal } from '../terminal.ts';

const KEY = 'sk-canary-0123456789-wxyz';

t.test('set takes a key from standard input, stores it for its owner alone, and list masks it', async (t) => {
  const workspace = t.testdir();
  const set = await runHere(t, ['auth', 'set', 'ollama', '--field', 'apiKey', '--workspace', workspace], { input: `${KEY}\n` });
  t.match(set, { code: 0, stdout: '' });
  const file = join(workspace, 'auth.json');
  t.same(JSON.parse(readFileSync(file, 'utf8')), { ollama: { apiKey: KEY } });
  t.equal(statSync(file).mode & 0o777, 0o600);
  const list = await runHere(t, ['auth', 'list', '--workspace', workspace]);
  t.match(list.stdout, /ollama +apiKey +••••wxyz +auth\.json\n/);
  const json = await runHere(t, ['auth', 'list', '--json', '--workspace', workspace]);
  t.same(JSON.parse(json.stdout), { from: 'shell', settings: [{ adapter: 'ollama', field: 'apiKey', value: '••••wxyz', source: 'auth.json' }] });
  for (const { stdout, stderr } of [set, list, json]) t.notMatch(stdout + stderr, 'canary');
});

t.test('list says where a file that was edited by hand is wrong, and quotes nothing of it', async (t) => {
  const wrong = `{\n  "openai": {"apiKey": "${KEY}"}\n  "google": {}\n}`;
  const alone = await runHere(t, ['auth', '--workspace', t.testdir({ 'auth.json': wrong })]);
  t.match(alone, { code: 3, stderr: /auth\.json can't be used: it is not valid JSON \(line 3, column 3\)/ });
  const { on, workspace } = await openDesk(t);
  writeFileSync(join(workspace, 'auth.json'), wrong, { mode: 0o600 });
  const list = await on(['auth']);
  t.match(list.stderr, /auth\.json can't be used: it is not valid JSON \(line 3, column 3\)\. What was read of it before stays in use; repair it by hand\.\n$/);
  t.match(JSON.parse((await on(['auth', 'ls', '--json'])).stdout), { from: 'server', fault: /line 3/ });
  for (const { stdout, stderr } of [alone, list]) t.notMatch(stdout + stderr, /Nothing is stored|canary/);
});

t.test('list names the environment variable, and auth.json wins over it', async (t) => {
  const workspace = t.testdir();
  const env = { OLLAMA_API_KEY: 'from-the-environment-1234', OLLAMA_BASE_URL: 'http://127.0.0.1:5' };
  const before = await runHere(t, ['auth', 'list', '--workspace', workspace], { env });
  t.match(before.stdout, /baseURL +http:\/\/127\.0\.0\.1:5 +OLLAMA_BASE_URL\n/);
  t.match(before.stdout, /apiKey +••••1234 +OLLAMA_API_KEY\n/);
  await runHere(t, ['auth', 'set', 'ollama', '--field', 'apiKey', '--workspace', workspace], { input: KEY });
  t.match((await runHere(t, ['auth', 'list', '--workspace', workspace], { env })).stdout, /apiKey +••••wxyz +auth\.json\n/);
});

t.test('--field names the one field, and a JSON object sets several', async (t) => {
  const workspace = t.testdir();
  const set = (args: string[], input: string) => runHere(t, ['auth', 'set', 'ollama', '--workspace', workspace, ...args], { input });
  t.equal((await set(['--field', 'baseURL'], 'http://127.0.0.1:7\n')).code, 0);
  t.same(JSON.parse((await set(['--json'], JSON.stringify({ apiKey: KEY, baseURL: 'http://127.0.0.1:8' }))).stdout), {
    adapter: 'ollama',
    fields: ['apiKey', 'baseURL'],
  });
  t.same(JSON.parse(readFileSync(join(workspace, 'auth.json'), 'utf8')), { ollama: { baseURL: 'http://127.0.0.1:8', apiKey: KEY } });
});

t.test('what can not be stored is refused without an echo, and nothing changes', async (t) => {
  const workspace = t.testdir();
  const refused: [string[], string][] = [
    [['set', 'ollama'], 'sk canary with spaces'],
    [['set', 'ollama', '--field', 'sk-canary'], KEY],
    [['set', KEY], ''],
    [['set', 'ollama', KEY], ''],
    [['set', 'ollama', `--api-key=${KEY}`], ''],
    [['rm', 'nobody', '--yes'], ''],
    [['rm', KEY], ''],
  ];
  await Promise.all(
    refused.map(async ([args, input]) => {
      const { code, stdout, stderr } = await runHere(t, ['auth', ...args, '--workspace', workspace], { input });
      t.equal(code, 2, args.join(' '));
      t.match(stderr, /^blockhouse: /);
      t.notMatch(stdout + stderr, 'canary');
    }),
  );
  t.throws(() => statSync(join(workspace, 'auth.json')), { code: 'ENOENT' });
});

t.test('rm removes an entry, and one that is not there is no failure', async (t) => {
  const workspace = t.testdir({ 'auth.json': JSON.stringify({ ollama: { apiKey: KEY }, typo: { apiKey: KEY } }) });
  const rm = (id: string) => runHere(t, ['auth', 'rm', id, '--yes', '--json', '--workspace', workspace]);
  t.same(JSON.parse((await rm('ollama')).stdout), { adapter: 'ollama', removed: true });
  t.same(JSON.parse((await rm('ollama')).stdout), { adapter: 'ollama', removed: false });
  t.match((await runHere(t, ['auth', 'list', '--workspace', workspace])).stdout, /typo +apiKey +••••wxyz +auth\.json, not used/);
  t.equal((await rm('typo')).code, 0);
  t.same(JSON.parse(readFileSync(join(workspace, 'auth.json'), 'utf8')), {});
});

t.test('a damaged auth.json is named, its content is not', async (t) => {
  const workspace = t.testdir({ 'auth.json': '{"ollama": {"apiKey": "sk-canary' });
  const outcomes = [['list'], ['set', 'ollama'], ['rm', 'ollama', '--yes']].map((args) =>
    runHere(t, ['auth', ...args, '--workspace', workspace], { input: KEY }),
  );
  for (const { code, stdout, stderr } of await Promise.all(outcomes)) {
    t.equal(code, 3);
    t.match(stderr, /^blockhouse: .*auth\.json.*\n$/);
    t.notMatch(stdout + stderr, 'canary');
  }
});

t.test('another address needs the stored key again', async (t) => {
  const workspace = t.testdir({ 'auth.json': JSON.stringify({ ollama: { apiKey: KEY, baseURL: 'http://127.0.0.1:7' } }) });
  const set = (args: string[], input: string) => runHere(t, ['auth', 'set', 'ollama', '--workspace', workspace, ...args], { input });
  const stored = () => JSON.parse(readFileSync(join(workspace, 'auth.json'), 'utf8')) as unknown;
  const refused = await set(['--field', 'baseURL'], 'http://127.0.0.1:8');
  t.equal(refused.code, 2);
  t.match(refused.stderr, /^blockhouse: apiKey is needed again with the new baseURL: .* Send both in one change, or remove what is stored first\.\n$/);
  t.notMatch(refused.stdout + refused.stderr, 'canary');
  t.same(stored(), { ollama: { apiKey: KEY, baseURL: 'http://127.0.0.1:7' } });
  t.equal((await set(['--field', 'baseURL'], 'http://127.0.0.1:7/path')).code, 2);
  t.equal((await set(['--field', 'baseURL'], 'http://127.0.0.1:7/')).code, 0);
  t.equal((await set([], JSON.stringify({ baseURL: 'http://127.0.0.1:8', apiKey: 'another' }))).code, 0);
  t.same(stored(), { ollama: { apiKey: 'another', baseURL: 'http://127.0.0.1:8' } });
});

t.test('set adds connections: a preset with its variable or a key, and a server of your own', async (t) => {
  const workspace = t.testdir();
  const auth = (args: string[], { input = '', env = {} } = {}) => runHere(t, ['auth', ...args, '--workspace', workspace], { input, env });
  t.match(await auth(['set', 'groq'], { env: { GROQ_API_KEY: KEY } }), { code: 0, stderr: /Stored groq in auth\.json/ });
  t.match(await auth(['set', 'mistral']), { code: 2, stderr: /set MISTRAL_API_KEY, or say --no-key/ });
  t.match(await auth(['set', 'mistral', '--json'], { input: `${KEY}\n` }), { code: 0, stdout: /"fields":\["apiKey"\]/ });
  t.equal((await auth(['set', 'gpu', '--adapter', 'openai', '--base-url', 'http://10.0.0.7:8000/v1', '--no-key'])).code, 0);
  t.equal((await auth(['set', 'groq-eu', '--preset', 'groq'], { input: KEY })).code, 0);
  t.equal((await auth(['set', 'vllm'])).code, 0, 'a local server may have no key');
  t.equal((await auth(['set', 'jan'], { input: KEY })).code, 0);
  t.same(JSON.parse(readFileSync(join(workspace, 'auth.json'), 'utf8')), {
    groq: {},
    mistral: { apiKey: KEY },
    gpu: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1', auth: 'none' },
    'groq-eu': { preset: 'groq', apiKey: KEY },
    vllm: {},
    jan: { apiKey: KEY },
  });
  for (const [args, told] of [
    [['set', 'nowhere'], /There is no provider "nowhere"\. .* auth presets` lists services .*; a server of your own needs --provider and --base-url\.\n$/],
    [['set', 'x', '--adapter', 'opnai', '--no-key'], /--provider must be one of bedrock, /],
    [['set', 'x', '--adapter', 'opnai'], /--provider must be one of bedrock, /],
    [['set', 'x', '--base-url', 'http://10.0.0.7:8000/v1'], /A new connection needs --provider, which says whose protocol/],
    [['set', 'X', '--adapter', 'openai', '--no-key'], /The name of a connection has 1 to 32 characters of a-z/],
    [['set', 'x', '--adapter', 'openai', '--base-url', '10.0.0.7:8000/v1'], /--base-url must be an absolute http or https URL, such as/],
    [['set', 'x', '--preset', 'grok'], /There is no such preset; `.* auth presets` lists them/],
    [['set', 'groq', '--base-url', 'http://evil.example'], /evil\.example/],
    [['set', 'mistral', '--base-url', 'http://evil.example', '--no-key'], /apiKey of mistral is needed again/],
    [['set', 'openai', '--no-key'], /are for connections/],
    [['set', KEY], /There is no provider of this name/],
  ] as const) {
    const refused = await auth([...args], { env: { GROQ_API_KEY: KEY } });
    t.match(refused, { code: 2, stderr: told }, args.join(' '));
    t.notMatch(refused.stderr, 'canary');
  }
  t.match((await auth(['list'])).stdout, /mistral +apiKey +••••wxyz +auth\.json\n/);
  t.equal((await auth(['rm', 'groq-eu', '--yes'])).code, 0);
});

t.test('presets and detect say what a connection can be built on', async (t) => {
  const workspace = t.testdir();
  const presets = await runHere(t, ['auth', 'presets', '--workspace', workspace], { env: { GROQ_API_KEY: KEY } });
  t.match(presets.stdout, /groq +openai +https:\/\/api\.groq\.com\/openai\/v1 +GROQ_API_KEY +yes\n/);
  t.match(presets.stdout, /azure +openai +https:\/\/<resource>\.openai\.azure\.com/);
  const detect = await runHere(t, ['auth', 'detect', '--json', '--workspace', workspace]);
  t.match(detect, { code: 0, stdout: /^\{"servers":\[.*\],"added":\[\]\}\n$/ });
  const shown = await runHere(t, ['auth', 'detect', '--workspace', workspace]);
  if (shown.stdout === '') t.match(shown.stderr, /No further local server answers .* `.*providers --workspace .*` shows those/); // nothing runs on this machine
});

t.test('in a terminal, each preset has one line, with its variable', { skip: noTerminal }, async (t) => {
  const screen = await openTerminal(t, ['auth', 'presets', '--workspace', t.testdir()]).shows(/ended with 0/);
  t.match(screen, /^mistral +openai +https:\/\/\S+ +MISTRAL_API_KEY$/m);
  t.notMatch(screen, /^ /m, 'no line is folded');
});

t.test('the key of a variable stays beside one that is added, although this shell does not have the variable that the server has', async (t) => {
  const workspace = t.testdir({ 'auth.json': JSON.stringify({ groq: {}, free: { preset: 'groq', auth: 'none' }, vllm: {} }) });
  const stored = () => JSON.parse(readFileSync(join(workspace, 'auth.json'), 'utf8')) as Record<string, unknown>;
  const add = (name: string) => runHere(t, ['auth', 'set', name, '--add', '--label', 'b', '--workspace', workspace], { input: KEY });
  const own = { apiKey: KEY, label: 'b' };
  t.match(await add('groq'), { code: 0, stderr: /^groq has 2 keys now: #1, b\. The variable GROQ_API_KEY is not set in this shell\.\n$/ });
  t.match(await add('free'), { code: 0, stderr: /^free has one key now: b\.\n$/ });
  t.match(await add('vllm'), { code: 0, stderr: /^vllm has one key now: b\.\n$/ });
  t.match(stored(), { groq: { keys: [{ apiKeyEnv: 'GROQ_API_KEY' }, own] }, free: { keys: [own] }, vllm: { keys: [own] } });
});

t.test('a connection gets further keys under labels, and loses one by its label; no value is shown', async (t) => {
  const workspace = t.testdir({ 'auth.json': JSON.stringify({ groq: { apiKey: KEY }, gpu: { adapter: 'openai', keyCommand: ['print-key'] } }) });
  const auth = (args: string[], input = '') => runHere(t, ['auth', ...args, '--workspace', workspace], { input });
  const stored = () => (JSON.parse(readFileSync(join(workspace, 'auth.json'), 'utf8')) as Record<string, unknown>)['groq'];
  const added = await auth(['set', 'groq', '--add', '--label', 'b'], 'gsk-second-0123456789-abcd\n');
  t.match(added, { code: 0, stderr: /groq has 2 keys now: …wxyz, b\./ });
  t.same(stored(), { keys: [{ apiKey: KEY }, { apiKey: 'gsk-second-0123456789-abcd', label: 'b' }] });
  t.match((await auth(['set', 'groq', '--add', '--json'], 'gsk-third-0123456789-efgh')).stdout, /"keys": ?\[\s*"…wxyz",\s*"b",\s*"…efgh"/);
  const list = await auth(['ls']);
  t.match(list.stdout, /groq +keys\.…wxyz +••••wxyz +auth\.json\n/);
  t.match(list.stdout, /groq +keys\.b +••••abcd +auth\.json\n/);
  t.match(await auth(['rm', 'groq', '--key', 'b', '--yes']), { code: 0, stderr: /Removed the key b of groq; …wxyz, …efgh stay\./ });
  t.match(await auth(['rm', 'groq', '--key', '…efgh', '--yes']), { code: 0, stderr: /…wxyz stays\./ });
  t.same(stored(), { keys: [{ apiKey: KEY }] });
  for (const [args, input, told] of [
    [['rm', 'groq', '--key', '…wxyz', '--yes'], '', /key is the only one of groq/],
    [['rm', 'groq', '--key', 'nobody', '--yes'], '', /key must be …wxyz, the only label there is\./],
    [['rm', 'nobody', '--key', 'b', '--yes'], '', /no such connection/],
    [['set', 'nobody', '--add'], KEY, /no such connection yet/],
    [['set', 'groq', '--add', '--label', 'NOT'], KEY, /keys\[1\]\.label does not have the allowed form/],
    [['set', 'groq', '--add', '--base-url', 'http://x'], KEY, /adds a key alone/],
    [['set', 'groq', '--label', 'b'], KEY, /--label names a key that --add adds/],
    [['set', 'gpu', '--add'], KEY, /keys can't stand beside keyCommand/],
  ] as const) {
    const refused = await auth([...args], input);
    t.match(refused, { code: 2, stderr: told }, `${args.join(' ')} ${refused.stderr}`);
    t.notMatch(refused.stdout + refused.stderr, 'canary');
  }
});
