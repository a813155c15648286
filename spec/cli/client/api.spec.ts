import t from 'tap';
import type { Api } from '../../../cli/client/api.ts';
import { answer, startFakeBlockServer } from '../../support/fake-block-server.ts';

const CASES: readonly [call: (api: Api) => Promise<unknown>, request: string, body?: string][] = [
  [(api) => api.list(), 'GET /api/blocks'],
  [(api) => api.create('b', { tags: [] }), 'POST /api/blocks', '{"name":"b","config":{"tags":[]}}'],
  [(api) => api.details('b'), 'GET /api/blocks/b'],
  [(api) => api.explain('b'), 'GET /api/blocks/b/why'],
  [(api) => api.monitor('b', 'restart'), 'POST /api/blocks/b/restart'],
  [(api) => api.reset('b', false), 'POST /api/blocks/b/reset'],
  [(api) => api.reset('b', true), 'POST /api/blocks/b/reset?hard=true'],
  [(api) => api.post('b', 'hi', 'mine'), 'POST /api/blocks/b/chat', '{"message":"hi","clientId":"mine"}'],
  [(api) => api.history('b'), 'GET /api/blocks/b/chat'],
  [(api) => api.message('b', 'm/1'), 'GET /api/blocks/b/chat/m%2F1'],
  [(api) => api.changeMessage('b', 'm/1', 'cancel'), 'POST /api/blocks/b/chat/m%2F1/cancel'],
  [(api) => api.config('b'), 'GET /api/blocks/b/config'],
  [(api) => api.updateConfig('b', { tags: [] }, 3), 'PUT /api/blocks/b/config', '{"tags":[]}'],
  [(api) => api.logs('b'), 'GET /api/blocks/b/logs'],
  [(api) => api.addFact('b', 'x'), 'POST /api/blocks/b/memory/facts', '{"text":"x"}'],
  [(api) => api.removeFact('b', 'f'), 'DELETE /api/blocks/b/memory/facts/f'],
  [(api) => api.changeMemory('b', 'undo'), 'POST /api/blocks/b/memory/undo'],
  [(api) => api.archive('b'), 'DELETE /api/blocks/b'],
  [(api) => api.archives(), 'GET /api/archive'],
  [(api) => api.restore('a'), 'POST /api/archive/a/restore'],
  [(api) => api.restore('a', 'c'), 'POST /api/archive/a/restore', '{"name":"c"}'],
  [(api) => api.purge('../x'), 'DELETE /api/archive/..%2Fx'],
  [(api) => api.export('b'), 'GET /api/blocks/b/export'],
  [(api) => api.import(Buffer.from('zip'), 'c&d'), 'POST /api/import?name=c%26d', 'zip'],
  [(api) => api.import(Buffer.from('zip')), 'POST /api/import', 'zip'],
  [(api) => api.costs('day', 'b'), 'GET /api/costs?by=day&block=b'],
  [(api) => api.costs('model'), 'GET /api/costs?by=model'],
  [(api) => api.nodes(), 'GET /api/nodes'],
  [(api) => api.check(), 'GET /api/doctor'],
  [(api) => api.halted(), 'GET /api/halt'],
  [(api) => api.halt('why'), 'POST /api/halt', '{"reason":"why"}'],
  [(api) => api.halt(), 'POST /api/halt', '{}'],
  [(api) => api.unhalt(), 'DELETE /api/halt'],
];

t.test('each function is one request', async (t) => {
  const { api, calls } = await startFakeBlockServer(t, (_call, res) => answer(res, { blocks: [] }));
  for (const [call, request, body = ''] of CASES) {
    await call(api);
    const { method, path, body: sent } = calls.at(-1) ?? { method: '', path: '', body: '' };
    t.equal(`${method} ${path}`, request);
    t.equal(String(sent), body, request);
  }
});

t.test('a list is read page after page', async (t) => {
  const { api, calls } = await startFakeBlockServer(t, ({ path }, res) => {
    if (path === '/api/blocks') res.setHeader('link', '</api/blocks?cursor=x>; rel="next"');
    answer(res, { blocks: [{ name: path }] });
  });
  t.same(await api.list(), { blocks: [{ name: '/api/blocks' }, { name: '/api/blocks?cursor=x' }] });
  t.equal(calls.length, 2);
});

t.test('a message names its channel, a change of the configuration the revision that was seen', async (t) => {
  const { api, calls } = await startFakeBlockServer(t, (_call, res) => answer(res, { config: { rev: 4 } }));
  await api.post('b', 'hi');
  t.equal(calls[0]?.headers['x-blockhouse-channel'], 'cli');
  t.same(await api.updateConfig('b', {}, 3), { config: { rev: 4 } });
  t.equal(calls[1]?.headers['if-match'], '"3"');
  await api.updateConfig('b', {});
  t.equal(calls[2]?.headers['if-match'], undefined);
});

t.test('an empty name asks nothing', async (t) => {
  const { api, calls } = await startFakeBlockServer(t, (_call, res) => answer(res, {}));
  t.throws(() => api.details(''), { kind: 'usage', message: /./ });
  t.equal(calls.length, 0);
});
