import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startServer } from '../../../support/server.ts';

const name = (text: string) => `/api/models/${encodeURIComponent(text)}`;

t.test('an alias is set, resolved, listed and removed, with slashes and a star in its name', async (t) => {
  const server = await startServer(t);
  for (const alias of ['gpt-4o', 'claude-*', 'team/best']) {
    t.match(await server.call('PUT', name(alias), { body: { targets: ['ollama/m:1b', 'ollama/hf.co/x/y'] } }), { status: 200, json: { success: true } }, alias);
  }
  t.match((await server.call('GET', name('claude-opus-5'))).json, {
    name: 'claude-opus-5',
    by: 'alias',
    rule: 'claude-*',
    targets: [
      { adapter: 'ollama', model: 'm:1b' },
      { adapter: 'ollama', model: 'hf.co/x/y' },
    ],
  });
  t.match((await server.call('GET', '/api/models')).json, {
    defaultProvider: null,
    aliases: [{ name: 'gpt-4o', targets: ['ollama/m:1b', 'ollama/hf.co/x/y'] }, { name: 'team/best' }, { name: 'claude-*' }],
    models: [{ id: 'gpt-4o' }, { id: 'team/best' }, { id: 'ollama/m:1b' }, { id: 'ollama/n:7b', adapter: 'ollama' }],
  });
  t.match(JSON.parse(readFileSync(join(server.workspace, 'models.json'), 'utf8')), { aliases: { 'gpt-4o': ['ollama/m:1b', 'ollama/hf.co/x/y'] } });
  t.match(await server.call('DELETE', name('claude-*')), { status: 200 });
  t.match(await server.call('DELETE', name('claude-*')), { status: 404, json: { code: 'MODEL_NOT_FOUND' } });
});

t.test('a name that nothing resolves is a 404 until there is a default provider', async (t) => {
  const server = await startServer(t);
  t.match(await server.call('GET', name('mystery')), { status: 404, json: { code: 'MODEL_NOT_FOUND', error: /models\.json/ } });
  t.match(await server.call('PUT', '/api/models', { body: { defaultProvider: 'ollama' } }), { status: 200 });
  t.match((await server.call('GET', name('mystery'))).json, { by: 'default', targets: [{ adapter: 'ollama', model: 'mystery' }] });
  t.match(await server.call('PUT', '/api/models', { body: { defaultProvider: null } }), { status: 200 });
  t.match(await server.call('GET', name('mystery')), { status: 404 });
});

t.test('what is wrong is refused by its field, and a damaged file is told and not overwritten', async (t) => {
  const server = await startServer(t);
  for (const [path, body] of [
    [name('a'), {}],
    [name('a'), { targets: [] }],
    [name('a'), { targets: ['m'] }],
    [name('a*b'), { targets: ['ollama/m'] }],
    ['/api/models', { defaultProvider: 'acme' }],
  ] as const)
    t.match(await server.call('PUT', path, { body }), { status: 400, json: { code: 'INVALID_REQUEST' } }, `${path} ${JSON.stringify(body)}`);
  const file = join(server.workspace, 'models.json');
  writeFileSync(file, '{');
  const fresh = await startServer(t);
  writeFileSync(join(fresh.workspace, 'models.json'), '{');
  t.match(await fresh.call('GET', '/api/models'), { status: 409, json: { code: 'WORKSPACE_DAMAGED', error: /models\.json/ } });
  t.match(await fresh.call('PUT', name('a'), { body: { targets: ['ollama/m'] } }), { status: 409, json: { code: 'WORKSPACE_DAMAGED' } });
  t.equal(readFileSync(join(fresh.workspace, 'models.json'), 'utf8'), '{');
});
