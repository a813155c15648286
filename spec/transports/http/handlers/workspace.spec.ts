import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ask, createBlock } from '../../../support/block-calls.ts';
import { startServer } from '../../../support/server.ts';

t.test('costs are told by block, model or day, of all blocks or one', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  await createBlock(server, 'b');
  for (const name of ['a', 'b']) {
    await server.call('POST', `/api/blocks/${name}/start`);
    await ask(server, name, 'hi');
  }
  const costs = async (query: string) => (await server.call('GET', `/api/costs${query}`)).json;
  t.match(await costs(''), {
    by: 'block',
    rows: [
      { key: 'a', calls: 1 },
      { key: 'b', calls: 1 },
    ],
    total: { calls: 2, input: 6, output: 4 },
  });
  t.match(await costs('?by=block&other=1'), { by: 'block' });
  t.match(await costs('?by=model'), { by: 'model', rows: [{ key: 'ollama/m', calls: 2 }] });
  const today = new Date().toISOString().slice(0, 10);
  t.match(await costs(`?by=day-block&from=${today}&to=${today}`), { rows: [{ key: `${today} b` }, { key: `${today} a` }], total: { calls: 2 } });
  t.match(await costs('?to=2020-01-01'), { rows: [], total: { calls: 0 } });
  t.match(await costs('?by=purpose'), { rows: [{ key: 'chat' }] });
  t.match(await costs('?by=day&block=a'), { by: 'day', rows: [{ key: /^\d{4}-\d{2}-\d{2}$/, calls: 1 }], total: { calls: 1 } });
  for (const query of ['?by=', '?by=year', '?by=__proto__', '?by=day&by=model', '?block=a&block=b', '?from=yesterday', '?by=day-key'])
    t.match(await server.call('GET', `/api/costs${query}`), { status: 400, json: { code: 'INVALID_REQUEST' } }, query);
});

t.test('doctor looks at everything and finds what is wrong', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  t.match(await server.call('GET', '/api/doctor'), { status: 200, json: { ok: true, checked: { blocks: 1, messages: 0 }, findings: [] } });
  writeFileSync(join(server.workspace, 'blocks/a/memory.json'), 'null');
  t.match(await server.call('GET', '/api/doctor'), {
    status: 200,
    json: { ok: false, findings: [{ severity: 'error', place: /^blocks\/a/, problem: /./, fix: /./ }] },
  });
});

t.test('the kill switch is set with or without a reason, read and released', async (t) => {
  const server = await startServer(t);
  t.match(await server.call('GET', '/api/halt'), { status: 200, json: { halted: false } });
  t.match(await server.call('POST', '/api/halt', { body: { reason: 'bills' } }), { status: 200, json: { halted: true, reason: 'bills' } });
  t.match((await server.call('GET', '/api/halt')).json, { halted: true, since: String, reason: 'bills' });
  t.match(await server.call('DELETE', '/api/halt'), { status: 200, json: { halted: false } });
  t.match(await server.call('POST', '/api/halt'), { status: 200, json: { halted: true, reason: null } });
  for (const body of [{ reason: 1 }, { why: 'x' }, [], { reason: 'x'.repeat(501) }])
    t.match(await server.call('POST', '/api/halt', { body }), { status: 400, json: { code: 'INVALID_REQUEST' } }, JSON.stringify(body).slice(0, 40));
  t.match(await server.call('DELETE', '/api/halt'), { json: { halted: false } });
});
