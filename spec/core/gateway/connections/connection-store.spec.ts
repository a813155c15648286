import { once } from 'node:events';
import { createServer } from 'node:http';
import t from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { ConnectionStore } from '../../../../core/gateway/connections/connection-store.ts';
import { withChangedKey, withoutKey } from '../../../../core/gateway/connections/key-list.ts';
import type { Adapter } from '../../../../core/ports.ts';
import { startAsOther, withOtherUser } from '../../../support/other-user.ts';
import { startServer } from '../../../support/server.ts';

/** The adapters, with presets at ports of this test. */
function adaptersAt(ports: Readonly<Record<string, number>>): Adapter[] {
  return createAdapters().map((adapter) => {
    const presets = Object.entries(adapter.presets ?? {}).flatMap(([name, preset]) => {
      const port = ports[name];
      return port === undefined ? [] : [[name, { ...preset, baseURL: `http://127.0.0.1:${port}/v1` }] as const];
    });
    return { ...adapter, presets: Object.fromEntries(presets) };
  });
}

t.test('only-here: local servers are known by their marks, GET alone and no key reaches them, and nothing is added', async (t) => {
  t.type(ConnectionStore, 'function');
  const asked: string[] = [];
  const listen = async (answers: Readonly<Record<string, string>>) => {
    const server = createServer(({ method, url = '', headers }, res) => {
      asked.push(`${method} ${url} ${headers.authorization ?? ''}`);
      if (answers[url] === undefined) return; // never answers
      res.end(answers[url]);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as { port: number }).port;
  };
  const [vllm, llama, silent] = [
    await listen({ '/v1/models': '{"data": [{"id": "a", "owned_by": "vllm"}]}' }),
    await listen({ '/props': '{"build_info":"b1"}' }),
    await listen({}),
  ];
  const adapters = adaptersAt({ vllm, sglang: vllm, llamacpp: llama, mlx: llama, tgi: silent, lmstudio: 1 });
  const server = await startServer(t, { adapters, env: { OPENAI_API_KEY: 'sk-canary-0123456789' } });
  await server.core.connections.set('own', { adapter: 'openai', baseURL: `http://127.0.0.1:${vllm}/v1` });
  const { servers } = (await server.call('POST', '/api/connections/detect')).json as { servers: unknown[] };
  t.same(servers, [
    { preset: 'vllm', baseURL: `http://127.0.0.1:${vllm}/v1`, connection: 'own' },
    { preset: 'llamacpp', baseURL: `http://127.0.0.1:${llama}/v1`, connection: null },
  ]);
  for (const line of asked) t.match(line, /^GET \/[\w/]* $/);
  t.same(
    server.core.connections
      .list()
      .slice(5)
      .map(({ name }) => name),
    ['own'],
  );
});

t.test('the server of another person of this machine is none that is found', withOtherUser, async (t) => {
  const script = `require('node:http').createServer((req, res) => res.end('{"owned_by":"vllm"}')).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  const [port] = (await once(startAsOther(t, script).stdout, 'data')) as [Buffer];
  const server = await startServer(t, { adapters: adaptersAt({ vllm: Number(String(port)) }), env: {} });
  t.same((await server.call('POST', '/api/connections/detect')).json, { servers: [] });
});

t.test('a key takes its new place among the others, of which none is lost, and null takes a term away', async (t) => {
  const keys = ['a', 'b', 'c'].map((label) => ({ label, apiKey: `sk-${label}`, weight: 2 }));
  const order = (place: number) => withChangedKey(keys, 1, { place }).map(({ label }) => label);
  t.same(
    [order(1), order(2), order(3), order(32)],
    [
      ['b', 'a', 'c'],
      ['a', 'b', 'c'],
      ['a', 'c', 'b'],
      ['a', 'c', 'b'],
    ],
  );
  t.same(withChangedKey(keys, 0, { weight: null, label: 'first' })[0], { label: 'first', apiKey: 'sk-a' });
  t.same(
    withoutKey('gpu', keys, 2).map(({ label }) => label),
    ['a', 'b'],
  );
  t.throws(() => withoutKey('gpu', keys.slice(1, 2), 0), { code: 'INVALID_REQUEST' });
});
