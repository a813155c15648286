import t from 'tap';
import { sendJson, startUpstream } from '../../support/upstream.ts';
import { runHere, start } from '../run.ts';

const tags = { models: [{ name: 'a:1b' }, { name: 'b\x1b[31m:7b' }] };

t.test('adapters lists each one with how it stands', async (t) => {
  const workspace = t.testdir();
  const text = await runHere(t, ['adapters', '--workspace', workspace]);
  t.match(text, { code: 0, stderr: '', stdout: /^ID +NAME +DEFAULT MODEL +CREDENTIAL\n/ });
  t.match(text.stdout, /ollama +Ollama +\S+ +needs no key\n/);
  const { stdout } = await runHere(t, ['adapters', '--json', '--workspace', workspace]);
  const { adapters } = JSON.parse(stdout) as { adapters: { id: string; ready: boolean; defaultModel: string }[] };
  t.equal(adapters.length, text.stdout.trim().split('\n').length - 1);
  t.match(
    adapters.find(({ id }) => id === 'ollama'),
    { ready: true, authRequired: false, envVars: ['OLLAMA_BASE_URL'] },
  );
});

t.test('models prints one id on a line, made harmless', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, tags));
  const env = { OLLAMA_BASE_URL: upstream.url };
  const workspace = t.testdir();
  t.same(await runHere(t, ['models', 'ollama', '--workspace', workspace], { env }), { code: 0, stdout: 'a:1b\nb:7b\n', stderr: '' });
  const { stdout } = await runHere(t, ['models', 'ollama', '--json', '--workspace', workspace], { env });
  t.same(JSON.parse(stdout), { provider: 'ollama', models: ['a:1b', 'b\x1b[31m:7b'], count: 2 });
  t.notMatch(stdout, '\x1b');
});

t.test('models: an unknown adapter is 2, a daemon that is away is 4', async (t) => {
  const workspace = t.testdir();
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
  const workspace = t.testdir();
  const good = await runHere(t, ['verify', 'ollama', '--workspace', workspace], { env: { OLLAMA_BASE_URL: upstream.url } });
  t.match(good, { code: 0, stdout: /reachable; 2 models are available\.\n$/, stderr: '' });
  const bad = await runHere(t, ['verify', 'ollama', '--workspace', workspace], { env: { OLLAMA_BASE_URL: 'http://127.0.0.1:1' } });
  t.match(bad, { code: 3, stdout: '', stderr: /^blockhouse: ollama does not work: .*\n$/ });
  const json = await runHere(t, ['verify', 'ollama', '--json', '--workspace', workspace], { env: { OLLAMA_BASE_URL: 'http://127.0.0.1:1' } });
  t.equal(json.code, 3);
  t.match(JSON.parse(json.stdout), { provider: 'ollama', ok: false });
});

t.test('Ctrl-C while a daemon is silent is 130, and the connection is closed', async (t) => {
  const upstream = await startUpstream(t, () => undefined);
  const { child, ended } = start(t, ['models', 'ollama', '--workspace', t.testdir()], { env: { OLLAMA_BASE_URL: upstream.url } });
  const request = await upstream.arrived(0);
  child.kill('SIGINT');
  await request.closed;
  t.match(await ended, { code: 130, stdout: '', stderr: '' });
});
