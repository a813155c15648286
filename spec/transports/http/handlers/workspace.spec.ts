import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import * as workspace from '../../../../transports/http/handlers/workspace.ts';
import type { RouteContext } from '../../../../transports/http/wire/route.ts';
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

t.test('reports of a core are made one after the other', async (t) => {
  let running = 0;
  let most = 0;
  const costs = async (): Promise<object> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return {};
  };
  const core = { blocks: { costs }, accounts: { costs } };
  const report = (url: string) => workspace.costs({ core, req: { url }, signal: new AbortController().signal } as unknown as RouteContext);
  await Promise.all(['/api/costs', '/api/costs?source=gateway', '/api/costs', '/api/costs?source=gateway'].map(report));
  t.equal(most, 1);
});

t.test("a provider's bill is compared with the calls of blocks and of clients, and what can't be compared says why", async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  await server.call('POST', '/api/blocks/a/start');
  await ask(server, 'a', 'hi');
  await server.call('POST', '/v1/chat', { body: { adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'hi' }] } });
  const day = new Date().toISOString().slice(0, 10);
  const columns = 'columns=date%3DDay,model%3DSKU,input%3DIn,output%3DOut';
  const compare = (text: string | Buffer, query = columns, type = 'text/csv') =>
    server.call('POST', `/api/costs/reconcile?${query}`, { body: Buffer.from(text), headers: { 'content-type': type } });
  const bill = (input: number) => `Day,SKU,In,Out\n${day},m,${input},4\n`;
  t.match(await compare(bill(6)), { status: 200, json: { connection: 'ollama', matched: 1, differs: [] } }, 'both ledgers');
  const utf16 = Buffer.from(`\uFEFF${bill(7)}`, 'utf16le');
  t.match(await compare(utf16, columns, 'text/csv; charset=utf-16'), {
    json: { matched: 0, differs: [{ date: day, model: 'm', ours: { input: 6, output: 4, calls: 2, unpricedCalls: 0 }, theirs: { input: 7, output: 4 } }] },
  });
  t.match((await compare(bill(7), `${columns}&connection=other`)).json, { connection: 'other', differs: [{ ours: null }] });
  for (const [text, query, path] of [
    [bill(6), '', ''],
    [bill(6), `${columns}&tolerance=half`, 'tolerance'],
    [bill(6), 'columns=Day', 'columns'],
    [Buffer.from([0xff, 0x41]), columns, ''],
  ] as const)
    t.match(await compare(text, query), { status: 400, json: { code: 'INVALID_REQUEST', details: [{ path }] } });
  t.match(await compare(bill(6), columns, 'application/json'), { status: 415 });
  t.match(await compare('x'.repeat(8 * 1024 * 1024 + 1)), { status: 413, json: { code: 'BODY_TOO_LARGE' } });
  t.match(await compare(bill(6), `${columns}&tolerance=1%25&tolerance=2%25`), { status: 400 });
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json;
  t.match(
    await server.call('POST', '/api/costs/reconcile', { body: Buffer.from(bill(6)), token: false, headers: { authorization: `Bearer ${key}` } }),
    { status: 403 },
    'a key of an application may not',
  );
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
