import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ask, createBlock, historyOf, RUNNABLE, revisionOf } from '../../../support/block-calls.ts';
import { type Answer, startServer, until } from '../../../support/server.ts';
import { sample } from '../../../support/sweep.ts';

t.test('a block is created, listed, shown and archived', async (t) => {
  const server = await startServer(t);
  t.strictSame((await server.call('GET', '/api/blocks')).json, { blocks: [] });
  const created = await server.call('POST', '/api/blocks', { body: { name: 'first', config: { description: 'one', tags: ['a'] } } });
  t.match(created, { status: 200 });
  t.strictSame(created.json, { success: true, name: 'first' });
  await createBlock(server, 'another');

  const list = await server.call('GET', '/api/blocks');
  t.match(list, { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
  t.match(list.json, { blocks: [{ name: 'another' }, { name: 'first', status: 'SLEEPING', config: { description: 'one', tags: ['a'] }, queue: 0 }] });
  t.strictSame((await server.call('GET', '/api/blocks')).text, list.text, 'the same text again');

  const details = await server.call('GET', '/api/blocks/first');
  t.equal(details.status, 200);
  t.strictSame(Object.keys(details.json), ['name', 'config', 'memory', 'costs', 'pulse']);
  t.match(details.json, {
    name: 'first',
    config: { name: 'first', description: 'one' },
    memory: { summary: '' },
    costs: { calls: 0 },
    pulse: { status: 'SLEEPING' },
  });

  const gone = await server.call('DELETE', '/api/blocks/first');
  t.match(gone, { status: 200, json: { success: true, message: /first/, archiveName: /^first_\d{4}-/ } });
  t.match(await server.call('GET', '/api/blocks/first'), { status: 404, json: { code: 'BLOCK_NOT_FOUND' } });
  t.match((await server.call('GET', '/api/blocks')).json, { blocks: [{ name: 'another' }] });
});

t.test('the list shows a change of a block at once', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  await createBlock(server, 'b');
  await server.call('GET', '/api/blocks');
  await server.call('PUT', '/api/blocks/b/config', { body: { description: 'changed' } });
  t.match((await server.call('GET', '/api/blocks')).json, {
    blocks: [
      { name: 'a', config: { description: '' } },
      { name: 'b', config: { description: 'changed' } },
    ],
  });
  await server.call('POST', '/api/blocks/a/chat', { body: { message: 'hi' } });
  t.match((await server.call('GET', '/api/blocks')).json, {
    blocks: [
      { name: 'a', queue: 1 },
      { name: 'b', queue: 0 },
    ],
  });
});

t.test('a list is given whole, or in pages with the address of the next one', async (t) => {
  const server = await startServer(t);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await createBlock(server, name, { tags: ['x & y'] });
  const names = ({ json }: Answer): string[] => (json['blocks'] as { name: string }[]).map(({ name }) => name);
  const whole = await server.call('GET', '/api/blocks');
  t.same([names(whole), whole.headers.link], [['a', 'b', 'c', 'd', 'e'], undefined]);
  const pages: string[][] = [];
  for (let path: string | undefined = '/api/blocks?limit=2&tag=x+%26+y'; path !== undefined; ) {
    const page = await server.call('GET', path);
    pages.push(names(page));
    path = /^<(\/api\/blocks\?\S*)>; rel="next"$/.exec(String(page.headers.link))?.[1];
    t.match(await server.call('GET', `/api/blocks?limit=2`, { headers: { 'if-none-match': page.headers.etag ?? '' } }), {
      status: pages.length === 1 ? 304 : 200,
    });
  }
  t.same(pages, [['a', 'b'], ['c', 'd'], ['e']]);
  t.same(names(await server.call('GET', '/api/blocks?state=unconfigured,failed&q=C')), ['c']);
  t.same(names(await server.call('GET', '/api/blocks?tag=')), []);
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'limit=1&limit=2', 'cursor=x', 'cursor=', 'sort=x', 'sort=', 'state=x', 'state=']) {
    const field = query.split('=')[0];
    t.match(await server.call('GET', `/api/blocks?${query}`), { status: 400, json: { code: 'INVALID_REQUEST', error: new RegExp(`^${field} `) } }, query);
  }
});

t.test('a taken or bad name, and a bad config, make no block', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'taken');
  const refused: [body: unknown, status: number, code: string][] = [
    [{ name: 'taken' }, 409, 'NAME_TAKEN'],
    [{ name: 'Upper' }, 400, 'INVALID_REQUEST'],
    [{ name: '' }, 400, 'INVALID_REQUEST'],
    [{ name: 'con' }, 400, 'INVALID_REQUEST'],
    [{ name: 1 }, 400, 'INVALID_REQUEST'],
    [{}, 400, 'INVALID_REQUEST'],
    [[], 400, 'INVALID_REQUEST'],
    [{ name: 'x', extra: 1 }, 400, 'INVALID_REQUEST'],
    [{ name: 'x', config: { autoStart: 'yes' } }, 400, 'INVALID_REQUEST'],
    [{ name: 'x', config: { apiKey: 'sk-1' } }, 400, 'INVALID_REQUEST'],
  ];
  for (const [body, status, code] of refused) t.match(await server.call('POST', '/api/blocks', { body }), { status, json: { code } }, JSON.stringify(body));
  t.match(await server.call('POST', '/api/blocks'), { status: 400, json: { error: /body is empty/ } });
  t.match(await server.call('POST', '/api/blocks', { body: 'name=x', headers: { 'content-type': 'text/plain' } }), { status: 415 });
  t.strictSame(readdirSync(join(server.workspace, 'blocks')), ['taken']);
});

t.test('the monitor is started, restarted and stopped, as often as one likes', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  for (const verb of ['start', 'start', 'restart', 'stop', 'stop', 'restart', 'stop']) {
    const answer = await server.call('POST', `/api/blocks/a/${verb}`);
    t.match(answer, { status: 200, json: { success: true, message: String, pulse: { state: verb === 'stop' ? 'stopped' : String } } }, verb);
    t.match((await server.call('GET', '/api/health', { token: false })).json, { blocks: 1, monitorsRunning: verb === 'stop' ? 0 : 1 }, verb);
  }
  t.match(await server.call('POST', '/api/blocks/a/start', { body: {} }), { status: 200 }, 'a body that nobody needs is no fault');
});

t.test('a start without a model is a 400 with the cure', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'bare', {});
  t.match(await server.call('POST', '/api/blocks/bare/start'), { status: 400, json: { code: 'INVALID_REQUEST', error: /adapter/ } });
  t.match(await server.call('POST', '/api/blocks/bare/stop'), { status: 200 });
});

t.test('why tells the state, what comes next and the cure', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'bare', {});
  t.match(await server.call('GET', '/api/blocks/bare/why'), {
    status: 200,
    json: { name: 'bare', state: 'unconfigured', status: 'SLEEPING', why: /./, next: /./, fix: /./ },
  });
});

t.test('reset clears what it says, logs only with hard=true, and takes no other word for it', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  await server.call('POST', '/api/blocks/a/start');
  await ask(server, 'a', 'hi');
  await server.call('POST', '/api/blocks/a/stop');
  t.match((await server.call('GET', '/api/blocks/a')).json, { costs: { calls: 1 } });
  const logs = async (): Promise<unknown[]> => (await server.call('GET', '/api/blocks/a/logs')).json['logs'] as unknown[];
  t.ok((await logs()).length > 0);

  for (const query of ['?hard=yes', '?hard=', '?hard=1', '?hard=TRUE', '?hard=true&hard=false'])
    t.match(await server.call('POST', `/api/blocks/a/reset${query}`), { status: 400, json: { code: 'INVALID_REQUEST', error: /^hard / } }, query);
  t.match((await server.call('GET', '/api/blocks/a')).json, { costs: { calls: 1 } }, 'which cleared nothing');

  for (const query of ['', '?hard=false', '?other=1']) {
    const soft = await server.call('POST', `/api/blocks/a/reset${query}`);
    t.match(soft, { status: 200, json: { success: true, message: String } }, query);
    t.notOk((soft.json['cleared'] as string[]).includes('logs'), query);
  }
  t.match((await server.call('GET', '/api/blocks/a')).json, { costs: { calls: 0 }, config: RUNNABLE });
  t.equal((await historyOf(server, 'a')).length, 2, 'the chat history stays');
  t.ok((await logs()).length > 0);
  const hard = await server.call('POST', '/api/blocks/a/reset?hard=true');
  t.ok((hard.json['cleared'] as string[]).includes('logs'));
  t.strictSame(await logs(), []);
});

t.test('unknown fields of a configuration are kept and named, with what was probably meant; without any there is no such list', async (t) => {
  const server = await startServer(t);
  const created = await server.call('POST', '/api/blocks', {
    body: { name: 'a', config: { systmPrompt: 'x', adapter: { provider: 'ollama', model: 'm', maxToken: 5 } } },
  });
  t.strictSame(Object.keys(created.json), ['success', 'name', 'warnings']);
  t.match(created.json['warnings'], [
    { field: 'config.systmPrompt', message: /It was saved but has no effect\. Did you mean config\.systemPrompt\?$/ },
    { field: 'config.adapter.maxToken', message: /Did you mean config\.adapter\.maxTokens\?$/ },
  ]);
  const changed = await server.call('PUT', '/api/blocks/a/config', { body: { mine: 1, budgte: {} } });
  t.match(changed.json, {
    success: true,
    config: { mine: 1, budgte: {}, systmPrompt: 'x' },
    warnings: [{ field: 'mine' }, { field: 'budgte', message: /budget/ }],
  });
  t.strictSame(Object.keys((await server.call('PUT', '/api/blocks/a/config', { body: { description: 'x' } })).json), ['success', 'config']);
  t.strictSame(Object.keys((await server.call('POST', '/api/blocks', { body: { name: 'b' } })).json), ['success', 'name']);
});

t.test('a configuration is merged, checked and kept', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a', { description: 'one', tags: ['x'] });
  const changed = await server.call('PUT', '/api/blocks/a/config', { body: { description: 'two', mine: { kept: [1] } } });
  t.match(changed, { status: 200, json: { success: true, config: { name: 'a', description: 'two', tags: ['x'], mine: { kept: [1] } } } });
  const read = await server.call('GET', '/api/blocks/a/config');
  t.strictSame(read.json, { config: changed.json['config'] });
  for (const [body, path] of [
    [{ autoStart: 1 }, 'autoStart'],
    [{ name: 'b' }, 'name'],
    [{ apiKey: 'sk-1' }, 'apiKey'],
    [{ adapter: { provider: 'ollama', model: 'm', apiKey: 'sk-1' } }, 'adapter.apiKey'],
    [{ adapter: { provider: 'nobody', model: 'm' } }, 'adapter.provider'],
    [[], ''],
  ] as const) {
    const refused = await server.call('PUT', '/api/blocks/a/config', { body });
    t.match(refused, { status: 400, json: { code: 'INVALID_REQUEST' } }, JSON.stringify(body));
    t.equal((refused.json['details'] as { path: string }[])[0]?.path, path, JSON.stringify(body));
  }
  t.strictSame((await server.call('GET', '/api/blocks/a/config')).json, read.json, 'and nothing of these was written');
});

t.test('a configuration that is nested without end, or names a prototype, harms nobody', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const before = (await server.call('GET', '/api/blocks/a/config')).text;
  const arrays = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  for (const depth of [200, 10_000, 500_000])
    for (const body of [`{"mine":${arrays(depth)}}`, `{"tags":${arrays(depth)}}`])
      t.match(await server.call('PUT', '/api/blocks/a/config', { body }), { status: 400, json: { code: 'INVALID_REQUEST' } }, `${body.slice(0, 8)} ${depth}`);
  t.match(await server.call('POST', '/api/blocks', { body: `{"name":"b","config":{"mine":${arrays(10_000)}}}` }), { status: 400 });
  t.equal((await server.call('GET', '/api/blocks/a/config')).text, before);
  for (const body of ['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}', '{"memory":{"__proto__":{"keepMessages":1}}}'])
    t.match(await server.call('PUT', '/api/blocks/a/config', { body }), { status: /^(200|400)$/ }, body);
  t.equal(({} as { polluted?: unknown }).polluted, undefined);
  t.match((await server.call('GET', '/api/blocks/a/config')).json, { config: { name: 'a', memory: { keepMessages: 20 } } });
});

t.test('a configuration carries its revision, and a change may insist on one', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const { headers } = await server.call('GET', '/api/blocks/a/config');
  const seen = await revisionOf(server, 'a');
  t.equal(headers.etag, `"${seen}"`);
  const put = (ifMatch: string, description: string) => server.call('PUT', '/api/blocks/a/config', { body: { description }, headers: { 'if-match': ifMatch } });
  const changed = await put(String(headers.etag), 'one');
  t.equal(changed.status, 200);
  t.equal(changed.headers.etag, `"${(changed.json['config'] as { rev: number }).rev}"`);
  t.not(changed.headers.etag, headers.etag);
  t.match(await put(String(headers.etag), 'two'), { status: 412, json: { code: 'REVISION_MISMATCH' } });
  t.match(await put(String(seen), 'two'), { status: 412 });
  t.match(await put(`W/${changed.headers.etag}`, 'two'), { status: 400, json: { error: /If-Match/ } });
  t.match(await put(`${changed.headers.etag}, "9"`, 'two'), { status: 400, json: { error: /If-Match/ } });
  t.match((await server.call('GET', '/api/blocks/a/config')).json, { config: { description: 'one' } });
  t.match(await put('*', 'three'), { status: 200 });
  t.match(await put(String(await revisionOf(server, 'a')), 'four'), { status: 200, json: { config: { description: 'four' } } });
});

t.test('log files are listed with what is in them', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  t.strictSame((await server.call('GET', '/api/blocks/a/logs')).json, { logs: [] });
  writeFileSync(join(server.workspace, 'blocks/a/logs/2026-01-01T00-00-00Z-monitor.log'), 'one line\n');
  t.match((await server.call('GET', '/api/blocks/a/logs')).json, {
    logs: [{ file: '2026-01-01T00-00-00Z-monitor.log', content: 'one line\n', size: 9, modifiedAt: String, truncated: false }],
  });
});

t.test('a damaged block is listed and shown as damaged, and the others are as ever', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'good');
  await createBlock(server, 'bad');
  writeFileSync(join(server.workspace, 'blocks/bad/config.json'), '{"name":');
  await until(async () => {
    const { json } = await server.call('GET', '/api/blocks');
    return (json['blocks'] as { status: string }[])[0]?.status === 'ERROR';
  }, 'the damage to be seen');
  t.match((await server.call('GET', '/api/blocks')).json, {
    blocks: [
      { name: 'bad', configError: /config\.json/ },
      { name: 'good', status: 'SLEEPING' },
    ],
  });
  t.match(await server.call('GET', '/api/blocks/bad/config'), { status: 409, json: { code: 'BLOCK_DAMAGED', error: /config\.json/ } });
  t.match(await server.call('GET', '/api/blocks/good'), { status: 200 });
});

t.test('a block that does not exist is a 404 on every route, and no name leads anywhere else', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const routes = [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/why'],
    ['POST', '/start'],
    ['POST', '/stop'],
    ['POST', '/restart'],
    ['POST', '/reset'],
    ['GET', '/chat'],
    ['POST', '/chat', { message: 'hi' }],
    ['POST', '/chat/m1/cancel'],
    ['POST', '/chat/m1/retry'],
    ['GET', '/config'],
    ['PUT', '/config', { description: 'x' }],
    ['GET', '/logs'],
    ['POST', '/memory/facts', { text: 'x' }],
    ['DELETE', '/memory/facts/f1'],
    ['POST', '/memory/compact'],
    ['POST', '/memory/undo'],
    ['GET', '/export'],
  ] as const;
  const names = [
    '..',
    '.',
    '%2e%2e',
    '%2e%2e%2f',
    '..%2Fa',
    'a%00',
    '%00',
    '__proto__',
    'constructor',
    'A',
    'con',
    'x'.repeat(300),
    '%C3%A9',
    'a%5Cb',
    '%252e',
  ];
  for (const [turn, [method, rest, body]] of routes.entries())
    for (const name of ['nobody', ...sample(names, 3, turn)]) {
      const answer = await server.call(method, `/api/blocks/${name}${rest}`, { body });
      t.match(answer, { status: 404, json: { status: 404, code: 'BLOCK_NOT_FOUND' } }, `${method} ${name}${rest}`);
    }
  for (const name of ['%', '%zz', '%E0%A4%A', '%c0%ae%c0%ae'])
    t.match(await server.call('GET', `/api/blocks/${name}`), { status: 404, json: { code: 'NOT_FOUND' } }, name);
  t.strictSame(readdirSync(join(server.workspace, 'blocks')), ['a']);
  t.ok(existsSync(join(server.workspace, '.api-token')));
  t.strictSame(
    server.log.filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('every route of blocks wants the token', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  for (const [method, path] of [
    ['GET', '/api/blocks'],
    ['POST', '/api/blocks'],
    ['DELETE', '/api/blocks/a'],
    ['POST', '/api/blocks/a/start'],
    ['GET', '/api/archive'],
    ['POST', '/api/import'],
    ['POST', '/api/halt'],
  ] as const)
    t.match(await server.call(method, path, { token: false }), { status: 401, json: { code: 'UNAUTHORIZED' } }, `${method} ${path}`);
  t.match(await server.call('GET', '/api/blocks/a'), { status: 200 });
});

t.test('a log file is read in parts, from its end backwards', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const file = '2026-01-01T00-00-00Z-monitor.log';
  writeFileSync(join(server.workspace, 'blocks/a/logs', file), 'one\ntwo\nthree\n');
  const part = (query: string) => server.call('GET', `/api/blocks/a/logs?${query}`);
  t.match(await part(`file=${file}&max=11`), { status: 200, json: { file, from: 4, to: 14, size: 14, content: 'two\nthree\n' } });
  t.match((await part(`file=${file}&before=4`)).json, { from: 0, to: 4, content: 'one\n' });
  for (const query of ['before=4', 'max=4', 'file=..%2Fconfig.json', 'file=', `file=${file}&max=0`, `file=${file}&before=-1`, `file=${file}&file=x`]) {
    t.match(await part(query), { status: 400, json: { code: 'INVALID_REQUEST' } }, query);
  }
});

t.test('the list, a block and a conversation are sent again only after a change', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a', RUNNABLE);
  for (const path of ['/api/blocks', '/api/blocks/a', '/api/blocks/a/chat', '/api/blocks/a/chat?limit=3']) {
    const { headers } = await server.call('GET', path);
    const again = () => server.call('GET', path, { headers: { 'if-none-match': String(headers['etag']) } });
    t.match(await again(), { status: 304, text: '', headers: { etag: headers['etag'] } }, path);
    await server.call('POST', '/api/blocks/a/chat', { body: { message: path } });
    t.match(await again(), { status: 200 }, `${path} after a change`);
  }
});
