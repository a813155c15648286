// The bodies of a debugged key, in a server that is a process: they never outlive it.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Serving, serve } from '../cli/run.ts';
import { CHAT, friendlyDaemon, until } from '../support/server.ts';
import { testFolder } from '../support/test-folder.ts';
import { startUpstream } from '../support/upstream.ts';

const SAID = 'what a person has written';

async function open(t: Test) {
  const workspace = testFolder(t);
  const { url: daemon } = await startUpstream(t, friendlyDaemon);
  const begin = () => serve(t, workspace, { OLLAMA_BASE_URL: daemon });
  const call = async ({ url }: Serving, method: string, path: string, body?: object, bearer = readFileSync(join(workspace, '.api-token'), 'utf8').trim()) => {
    const headers = { authorization: `Bearer ${bearer}`, 'x-request-id': 'mine', ...(body !== undefined && { 'content-type': 'application/json' }) };
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    return (await answer.json()) as Record<string, unknown>;
  };
  /** Asks with the key until the file has what was said. */
  const fill = async (server: Serving, key: string): Promise<void> => {
    await call(server, 'POST', '/v1/chat', { ...CHAT, messages: [{ role: 'user', content: SAID }] }, key);
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes(SAID), 'the bodies are in the file');
  };
  const file = join(workspace, 'debug-bodies.jsonl');
  return { begin, call, fill, file };
}

t.test('kill -9 leaves the file, closed to others; the next start deletes it, and the key is debugged until its time', async (t) => {
  const { begin, call, fill, file } = await open(t);
  const first = await begin();
  const { key } = (await call(first, 'POST', '/api/keys', { name: 'app' })) as { key: string };
  t.match(await call(first, 'POST', '/api/keys/app/debug', { minutes: 60 }), { success: true });
  await fill(first, key);
  first.child.kill('SIGKILL');
  await first.ended;
  t.equal(statSync(file).mode & 0o777, 0o600);
  const second = await begin();
  t.notOk(existsSync(file), 'before it answers');
  t.match(await call(second, 'GET', '/api/gateway/requests/mine'), { code: 'NOT_FOUND' });
  t.match(await call(second, 'GET', '/api/keys'), { keys: [{ debugUntil: String }] });
  await fill(second, key);
  t.match(await call(second, 'GET', '/api/gateway/requests/mine'), { calls: [{ key: 'app' }], bodies: [{ key: 'app' }] });
  second.child.kill('SIGTERM');
  const { stderr } = await second.ended;
  t.notOk(existsSync(file), 'nor does it outlive a stop');
  t.match(stderr, /"key":"app","until":"[^"]+","msg":"bodies of the calls of a key are kept"/);
  t.notMatch(stderr, SAID, 'and no log has any of it');
});

t.test('keys that a program prints, and those of an entry under another name of its provider, are masked in what is kept', async (t) => {
  const workspace = testFolder(t);
  const upstream = await startUpstream(t, ({ headers }, res) => {
    const said = `${headers.authorization ?? ''} ${String(headers['x-goog-api-key'] ?? '')}`;
    res.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
        candidates: [{ content: { role: 'model', parts: [{ text: said }] }, finishReason: 'STOP' }],
      }),
    );
  });
  const program = [process.execPath, '-e', "console.log('canary-of-a-program')"];
  const entries = {
    gpu: { adapter: 'openai', baseURL: `${upstream.url}/v1`, keyCommand: program },
    gemini: { apiKey: 'canary-of-another-name', baseURL: upstream.url },
  };
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify(entries), { mode: 0o600 });
  const { url } = await serve(t, workspace);
  const bearer = readFileSync(join(workspace, '.api-token'), 'utf8').trim();
  const post = async (path: string, body: object, token = bearer) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<Record<string, unknown>>;
  };
  const { key } = (await post('/api/keys', { name: 'app' })) as { key: string };
  await post('/api/keys/app/debug', { minutes: 5 });
  const file = join(workspace, 'debug-bodies.jsonl');
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);
  for (const [index, model] of ['gpu/m', 'google/gemini-2.5-flash'].entries()) {
    const answer = await post('/v1/chat/completions', { model, messages: CHAT.messages }, key);
    t.match(JSON.stringify(answer), 'canary', `${model}: its provider repeats the key`);
    await until(() => lines().length === index + 1, 'the bodies are in the file');
    t.match(lines()[index], '[redacted]', model);
    t.notMatch(lines()[index], 'canary', model);
  }
});
