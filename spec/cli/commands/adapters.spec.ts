import t from 'tap';
import { testFolder } from '../../support/test-folder.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';
import { openDesk, runHere, start } from '../run.ts';

const tags = { models: [{ name: 'a:1b' }, { name: 'b\x1b[31m:7b' }] };

const SHELL = 'note: no server is running; checked with the environment of this shell and auth.json.\n';
const SERVER = /^note: checked by the running server \(process \d+\), with its own environment\.\n/;
/** Nothing listens there. */
const AWAY = { OLLAMA_BASE_URL: 'http://127.0.0.1:1' };

// AWS's chain reads the environment of the process, and must look at no folder and no service of this machine.
Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' });
for (const name of Object.keys(process.env).filter((one) => /^AWS_(?!EC2)/.test(one))) delete process.env[name];

interface Listed {
  readonly from: string;
  readonly adapters: { readonly id: string; readonly ready: boolean; readonly defaultModel: string }[];
}

t.test('without a server, providers shows which can be used from this shell', async (t) => {
  const workspace = testFolder(t);
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, tags));
  const text = await runHere(t, ['providers', '--workspace', workspace], { env: { OLLAMA_BASE_URL: upstream.url } });
  t.match(text, { code: 0, stderr: SHELL, stdout: /^ +ID +STATE +DEFAULT MODEL +NAME\n○ +bedrock +no credentials found/ });
  t.match(text.stdout, /● +ollama +answers, needs no key +\S+ +Ollama\n/);
  const { stdout } = await runHere(t, ['adapters', '--json', '--workspace', workspace], { env: AWAY });
  const { from, adapters } = JSON.parse(stdout) as Listed;
  t.equal(from, 'shell');
  t.equal(adapters.length, text.stdout.trim().split('\n').length - 1);
  t.match(
    adapters.find(({ id }) => id === 'ollama'),
    { ready: false, problem: 'unreachable', authRequired: false, envVars: ['OLLAMA_BASE_URL'] },
  );
});

t.test('connections of auth.json are listed behind the providers', async (t) => {
  const workspace = testFolder(t, { 'auth.json': JSON.stringify({ groq: {}, gpu: { adapter: 'openai', baseURL: 'http://127.0.0.1:1/v1', auth: 'none' } }) });
  const text = await runHere(t, ['providers', '--workspace', workspace], { env: AWAY });
  t.match(
    text.stdout,
    /Ollama\n● +gpu +needs no key +- +speaks openai, http.*\n○ +groq +no key yet +- +speaks openai, https:\/\/api\.groq\.com\/openai\/v1\n$/,
  );
  const { connections } = JSON.parse((await runHere(t, ['providers', '--json', '--workspace', workspace], { env: AWAY })).stdout) as { connections: object[] };
  t.match(connections, [
    { name: 'gpu', ready: true },
    { name: 'groq', ready: false },
  ]);
});

t.test('a connection that can not be called says in a few words why', async (t) => {
  const keys = [{ apiKeyEnv: 'ONE' }, { apiKeyEnv: 'TWO' }, { apiKey: 'sk-0123456789abcdef' }];
  const workspace = testFolder(t, { 'auth.json': JSON.stringify({ az: { preset: 'azure' }, bad: { preset: 'grok' }, some: { preset: 'groq', keys } }) });
  const { stdout, stderr } = await runHere(t, ['providers', '--workspace', workspace], { env: AWAY });
  t.match(stderr, /\n`.* doctor .*` says what is wrong with an entry\.\n$/);
  t.match(
    stdout,
    /○ +az +no address yet +- +azure, speaks openai\n○ +bad +wrong entry +- +The connection bad of auth\.json can't be used: .*\n● +some +has 3 keys, 2 not set +- /,
  );
});

t.test('with a server, providers, models, verify and auth list show what the server sees, and say so', async (t) => {
  const { on, upstream } = await openDesk(t, (_request, res) => sendJson(res, tags));
  const listed = await on(['providers'], { env: { ...AWAY, OPENAI_API_KEY: 'of-this-shell-0123456789' } });
  t.match(listed, { code: 0, stderr: SERVER, stdout: /● +ollama +answers/ });
  t.match(listed.stdout, /○ +openai +no key yet \(OPENAI_API_KEY\)/);
  t.match(await on(['verify', 'ollama'], { env: AWAY }), { code: 0, stderr: SERVER, stdout: /2 models are available/ });
  t.match(await on(['verify', 'openai']), { code: 3, stdout: '', stderr: /blockhouse: openai does not work: .*OPENAI_API_KEY/ });
  t.match(await on(['verify', 'nobody']), { code: 2, stderr: /bedrock, openai, google, anthropic, ollama/ });
  t.match(await on(['models', 'ollama'], { env: AWAY }), { code: 0, stderr: SERVER, stdout: 'a:1b\nb:7b\n' });
  const { from, settings } = JSON.parse((await on(['auth', 'list', '--json'], { env: AWAY })).stdout) as { from: string; settings: object[] };
  t.match({ from, settings }, { from: 'server', settings: [{ adapter: 'ollama', value: upstream.url, source: 'OLLAMA_BASE_URL' }] });
});

t.test('models prints one id on a line, made harmless', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, tags));
  const env = { OLLAMA_BASE_URL: upstream.url };
  const workspace = testFolder(t);
  t.same(await runHere(t, ['models', 'ollama', '--workspace', workspace], { env }), { code: 0, stdout: 'a:1b\nb:7b\n', stderr: SHELL });
  const { stdout } = await runHere(t, ['models', 'ollama', '--json', '--workspace', workspace], { env });
  t.same(JSON.parse(stdout), { provider: 'ollama', models: ['a:1b', 'b\x1b[31m:7b'], count: 2 });
  t.notMatch(stdout, '\x1b');
});

t.test('models: an unknown provider is 2, a daemon that is away is 4', async (t) => {
  const workspace = testFolder(t);
  const unknown = await runHere(t, ['models', 'nobody', '--workspace', workspace]);
  t.match(unknown, { code: 2, stdout: '', stderr: /^blockhouse: .*ollama.*\n$/ });
  const env = { OLLAMA_BASE_URL: 'http://127.0.0.1:1' };
  const away = await runHere(t, ['models', 'ollama', '--json', '--workspace', workspace], { env });
  t.equal(away.code, 4);
  t.match(JSON.parse(away.stdout), { code: 'UPSTREAM_UNREACHABLE', status: 502 });
  t.match(away.stderr, /^blockhouse: .*\n$/);
});

t.test('verify is 0 with the detail on stdout, or 3 with it on stderr', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, tags));
  const workspace = testFolder(t);
  const good = await runHere(t, ['verify', 'ollama', '--workspace', workspace], { env: { OLLAMA_BASE_URL: upstream.url } });
  t.match(good, { code: 0, stdout: /reachable; 2 models are available\.\n$/, stderr: SHELL });
  const bad = await runHere(t, ['verify', 'ollama', '--workspace', workspace], { env: { OLLAMA_BASE_URL: 'http://127.0.0.1:1' } });
  t.match(bad, { code: 3, stdout: '', stderr: /blockhouse: ollama does not work: .*\n$/ });
  const json = await runHere(t, ['verify', 'ollama', '--json', '--workspace', workspace], { env: { OLLAMA_BASE_URL: 'http://127.0.0.1:1' } });
  t.equal(json.code, 3);
  t.match(JSON.parse(json.stdout), { provider: 'ollama', ok: false });
});

t.test('Ctrl-C while a daemon is silent is 130, and the connection is closed', async (t) => {
  const upstream = await startUpstream(t, () => undefined);
  const { child, ended } = start(t, ['models', 'ollama', '--workspace', testFolder(t)], { env: { OLLAMA_BASE_URL: upstream.url } });
  const request = await upstream.arrived(0);
  child.kill('SIGINT');
  await request.closed;
  t.match(await ended, { code: 130, stdout: '', stderr: '' });
});

t.test('models and verify take the name of a connection, with a server and without', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, { data: [{ id: 'a' }, { id: 'b/c' }] }));
  const workspace = t.testdir({ 'auth.json': JSON.stringify({ gpu: { adapter: 'openai', baseURL: `${upstream.url}/v1` } }) });
  t.match(await runHere(t, ['models', 'gpu', '--workspace', workspace]), { code: 0, stdout: 'a\nb/c\n' });
  t.match(await runHere(t, ['verify', 'gpu', '--workspace', workspace]), { code: 0, stdout: /2 models are listed/ });
});
