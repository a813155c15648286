import { writeFileSync } from 'node:fs';
import t from 'tap';
import { readFileTool } from '../../support/tools/fake-sessions.ts';
import { failure, FILES, serverRig } from '../../support/tools/server-rig.ts';

const signal = new AbortController().signal;
const OTHER = 'f'.repeat(64);

t.test('a server is looked at only by the definition that was shown, and what it shows is bound to that one', async (t) => {
  const { servers, sessions, write } = serverRig(t);
  write({ mcpServers: { files: FILES } });
  const { definition } = await servers.get('files');
  t.match(await failure(servers.test('files', { definition: OTHER }, signal)), { code: 'TOOL_NOT_APPROVED' });
  for (const body of [undefined, null, {}, { definition: 1 }, { definition: 'x' }, { definition, force: true }])
    t.match(await failure(servers.test('files', body, signal)), { code: 'INVALID_REQUEST' });
  t.match(await failure(servers.test('gone', { definition }, signal)), { code: 'TOOL_SERVER_NOT_FOUND' });
  t.strictSame(sessions.started, []);
  sessions.before = async () => write({ mcpServers: { files: { ...FILES, command: 'evil' } } });
  t.match(await failure(servers.test('files', { definition }, signal)), { code: 'TOOL_NOT_APPROVED' }, 'its entry changed while it ran');
  t.strictSame((await servers.get('files')).tools, [], 'nothing is remembered of it');
});

t.test('a server that does not start, a look that is aborted and a list of nonsense leave what was known', async (t) => {
  const { servers, sessions, write, approve } = serverRig(t);
  write({ mcpServers: { files: FILES } });
  await approve('files');
  const { definition } = await servers.get('files');
  sessions.lists.delete('files');
  t.match(await failure(servers.test('files', { definition }, signal)), { code: 'TOOL_SERVER_FAILED', message: /no such program/ });
  sessions.lists.set('files', []);
  t.ok(await failure(servers.test('files', { definition }, AbortSignal.abort())));
  t.match((await servers.get('files')).tools, [{ state: 'approved' }]);
});

t.test('an approval holds for what was shown: after a change it is TOOL_CHANGED, and nothing is approved', async (t) => {
  const { servers, sessions, write, read } = serverRig(t);
  write({ mcpServers: { files: FILES } });
  const { definition } = await servers.get('files');
  t.match(await failure(servers.approve('files', { definition, tools: { read_file: OTHER } }, 'cli')), { code: 'TOOL_CHANGED', message: /was not looked at/ });
  const { tools } = await servers.test('files', { definition }, signal);
  const hash = tools[0]?.hash ?? '';
  t.match(await failure(servers.approve('files', { definition: OTHER, tools: {} }, 'cli')), { code: 'TOOL_CHANGED' });
  t.match(await failure(servers.approve('files', { definition, tools: { read_file: OTHER } }, 'cli')), { code: 'TOOL_CHANGED', message: /tools diff files/ });
  t.match(await failure(servers.approve('files', { definition, tools: { other: hash } }, 'cli')), { code: 'TOOL_CHANGED' });
  for (const body of [
    undefined,
    {},
    { definition },
    { definition, tools: [] },
    { definition, tools: { read_file: 1 } },
    { definition, tools: { read_file: 'x' } },
  ])
    t.match(await failure(servers.approve('files', body, 'cli')), { code: 'INVALID_REQUEST' });
  sessions.lists.set('files', [readFileTool({ description: 'Other.' })]);
  await servers.test('files', { definition }, signal);
  t.match(await failure(servers.approve('files', { definition, tools: { read_file: hash } }, 'cli')), { code: 'TOOL_CHANGED' }, 'shown before it changed');
  t.match(await servers.get('files'), { state: 'held', tools: [{ state: 'new' }] });
  write({ mcpServers: { files: { ...FILES, command: 'evil' } } });
  t.match(await failure(servers.approve('files', { definition, tools: {} }, 'cli')), { code: 'TOOL_CHANGED' });
  t.notMatch(read('mcp-pins.json'), { servers: { files: { approvedAt: /./ } } });
});

t.test('of two approvals at once each holds for what it names, and one after a change is refused', async (t) => {
  const { servers, sessions, write } = serverRig(t);
  const list = ['a', 'b', 'c'].map((name) => readFileTool({ name }));
  sessions.lists.set('files', list);
  write({ mcpServers: { files: FILES } });
  const { definition } = await servers.get('files');
  const { tools } = await servers.test('files', { definition }, signal);
  const hash = Object.fromEntries(tools.map((tool) => [tool.name, tool.hash]));
  await Promise.all([
    servers.approve('files', { definition, tools: { a: hash['a'] } }, 'cli'),
    servers.approve('files', { definition, tools: { b: hash['b'] } }, 'web'),
    servers.approve('files', { definition, tools: { a: hash['a'] } }, 'web'),
  ]);
  const states = async () => Object.fromEntries((await servers.get('files')).tools.map(({ name, state }) => [name, state]));
  t.strictSame(await states(), { a: 'approved', b: 'approved', c: 'new' });
  const results = await Promise.allSettled([
    servers.noteListed('files', [...list.slice(0, 2), readFileTool({ name: 'c', description: 'Other.' })]),
    servers.approve('files', { definition, tools: { c: hash['c'] } }, 'cli'),
  ]);
  t.match(results, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'TOOL_CHANGED' } }]);
  t.equal((await states())['c'], 'new');
});

t.test('an entry is refused with what to write instead, and nothing is written', async (t) => {
  const own = (url: URL): boolean => url.origin === 'http://127.0.0.1:3000';
  const { servers, text } = serverRig(t, { isOwn: own, env: { KEY: 'sk-provider' }, providerVariables: new Set(['KEY']) });
  const bad: [unknown, RegExp][] = [
    [
      { command: 'a', env: { GITHUB_TOKEN: 'hunter2hunter2' } },
      /env\.GITHUB_TOKEN holds a secret in clear.*tools secret set files\.GITHUB_TOKEN.*"\$\{auth:files\.GITHUB_TOKEN\}"/,
    ],
    [{ url: 'https://a.example', headers: { Authorization: 'Bearer hunter2hunter2' } }, /"Bearer \$\{auth:files\.token\}"/],
    [{ command: 'a', args: ['--token', 'hunter2hunter2'] }, /args\[1\] holds a secret/],
    [{ url: 'http://127.0.0.1:3000/mcp' }, /leads back to this server/],
    [{ command: 'a', env: { X: '${KEY}' } }, /belongs to Blockhouse or a provider/],
    [{ command: 'a', env: { X: '${BLOCKHOUSE_API_TOKEN}' } }, /belongs to Blockhouse/],
    [{ command: 'a', args: ['${input:x}'] }, /is no reference/],
  ];
  for (const [server, message] of bad) {
    const error = await failure(servers.put('files', { server }));
    t.match(error, { code: 'TOOL_SERVER_REFUSED', message });
    t.notMatch(error.message, /hunter2|sk-provider/);
  }
  t.match(await failure(servers.put('block', { server: FILES })), { code: 'TOOL_SERVER_REFUSED', message: /belongs to Blockhouse/ });
  t.match(await failure(servers.put('../x', { server: FILES })), { code: 'TOOL_SERVER_REFUSED' });
  for (const body of [undefined, [], {}, { server: 'x' }, { server: FILES, settings: { x: 1 } }, { server: FILES, approve: true }])
    t.match(await failure(servers.put('files', body)), { code: 'INVALID_REQUEST' });
  t.equal(text('mcp.json'), '');
});

t.test('what an entry refers to may come later; until then it is failed, with the command that stores it', async (t) => {
  const { servers, sessions, approve, book } = serverRig(t);
  const server = { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${auth:github.token}' } };
  const put = await servers.put('github', { server });
  t.match(put, {
    state: 'failed',
    problem: 'Its secret github.token is not stored; store it: `blockhouse tools secret set github.token`.',
    secrets: [{ name: 'github.token', isStored: false }],
  });
  t.match(await failure(servers.test('github', { definition: put.definition }, signal)), { code: 'TOOL_SERVER_REFUSED', message: /secret set github\.token/ });
  await servers.setSecret('github', 'token', { value: 'hunter2hunter2' });
  t.match(await servers.get('github'), { state: 'held', secrets: [{ isStored: true }], definition: put.definition });
  sessions.lists.set('github', [readFileTool()]);
  await approve('github');
  const pin = (await book.catalogue(['github'])).tools[0]?.pin ?? '';
  const { start, secrets } = await book.callable('github', 'read_file', pin);
  t.match(start, { kind: 'http', headers: { Authorization: 'Bearer hunter2hunter2' } });
  t.ok(secrets.includes('hunter2hunter2'));
  sessions.ended.length = 0;
  await servers.setSecret('github', 'token', { value: 'other-secret' });
  t.strictSame(sessions.ended, ['github'], 'a process with the one before is ended');
  t.match(await servers.get('github'), { state: 'idle' }, 'a secret can be rotated without another approval');
  await servers.setSecret('github', 'token', { value: null });
  t.match(await servers.get('github'), { state: 'failed' });
});

t.test('a secret is written and never read: its names and values are checked, and removal takes it away', async (t) => {
  const { servers, text, read, workspace } = serverRig(t);
  writeFileSync(`${workspace}/auth.json`, JSON.stringify({ openai: { apiKey: 'sk-other' } }));
  await servers.put('files', { server: { ...FILES, env: { A: '${auth:files.A}' } } });
  await servers.put('more', { server: { ...FILES, env: { A: '${auth:files.A}' } } });
  for (const value of ['', 'a\nb', 'a\0', 'a\u0085b', 1, undefined, 'x'.repeat(9000)])
    t.match(await failure(servers.setSecret('files', 'A', { value })), { code: 'INVALID_REQUEST' }, JSON.stringify(value));
  for (const [server, field] of [
    ['../x', 'A'],
    ['__proto__', 'A'],
    ['files', 'a.b'],
    ['files', ''],
    ['files', 'x'.repeat(65)],
  ] as const)
    t.match(await failure(servers.setSecret(server, field, { value: 'x' })), { code: 'INVALID_REQUEST' }, `${server}.${field}`);
  await Promise.all([servers.setSecret('files', 'A', { value: 'one-secret' }), servers.setSecret('files', '__proto__', { value: 'two-secret' })]);
  t.strictSame((read('auth.json') as { mcp: object }).mcp, { files: JSON.parse('{"A":"one-secret","__proto__":"two-secret"}') });
  await servers.remove('files');
  t.match(text('auth.json'), /one-secret/, 'another server reads it');
  await servers.remove('more');
  t.match(text('auth.json'), /one-secret/, 'they are those of files');
  await servers.put('files', { server: FILES });
  await servers.remove('files');
  t.strictSame(read('auth.json'), { openai: { apiKey: 'sk-other' } });
  t.match(await failure(servers.remove('files')), { code: 'TOOL_SERVER_NOT_FOUND' });
});

t.test('a server that was removed and comes back is held again', async (t) => {
  const { servers, sessions, write, approve } = serverRig(t);
  write({ mcpServers: { files: FILES } });
  await approve('files');
  await servers.remove('files');
  t.ok(sessions.ended.includes('files'));
  t.match(await servers.put('files', { server: FILES }), { state: 'held', tools: [] });
});

t.test('case 39: what auth.json, env and headers hold is in no answer, error, finding or catalogue, and not in the pins', async (t) => {
  const CANARIES = [
    'canary-stored-1',
    'canary-variable-2',
    'canary-literal-3',
    'canary-header-4',
    'canary-url-5',
    'canary-provider-6',
    'canary-hook-7',
    'canary-arg-8',
  ];
  const { servers, book, sessions, write, text, workspace } = serverRig(t, { env: { HOME: '/home/ada', VALUE: 'canary-variable-2' } });
  writeFileSync(
    `${workspace}/auth.json`,
    JSON.stringify({ openai: { apiKey: 'canary-provider-6' }, hooks: { ada: { x: 'canary-hook-7' } }, mcp: { files: { A: 'canary-stored-1' } } }),
  );
  write({
    mcpServers: {
      files: { command: 'a', env: { A: '${auth:files.A}', B: '${VALUE}' }, args: ['${auth:files.A}'] },
      bad: { command: 'a', env: { A_TOKEN: 'canary-literal-3' }, args: ['--token', 'canary-arg-8'] },
      worse: { url: 'https://ada:canary-url-5@a.example', headers: { Authorization: 'Bearer canary-header-4' } },
    },
  });
  sessions.lists.set('files', [readFileTool()]);
  const seen: unknown[] = [];
  for (const { name, definition } of await servers.list()) {
    seen.push(await servers.test(name, { definition }, signal).catch((error: Error) => error.message));
    seen.push(await servers.approve(name, { definition, tools: {} }, 'cli').catch((error: Error) => error.message));
    seen.push(await servers.get(name));
    seen.push(await servers.put(name, { server: { command: 'a', env: { A_TOKEN: 'canary-literal-3' } } }).catch((error: Error) => error.message));
  }
  seen.push(await servers.list(), await servers.findings(), await book.catalogue(['files', 'bad', 'worse']), text('mcp-pins.json'));
  const all = JSON.stringify(seen);
  for (const canary of CANARIES) t.notOk(all.includes(canary), canary);
  const { secrets } = await book
    .callable('files', 'read_file', '')
    .catch(async () => (await book.resolve([...book.mcp.entries().values()][0] as never)) as never as { secrets: string[] });
  t.strictSame(
    ['canary-stored-1', 'canary-variable-2', 'canary-provider-6', 'canary-hook-7'].filter((canary) => !secrets.includes(canary)),
    [],
    'whoever writes logs of the server knows them',
  );
});

t.test('a damaged auth.json is no reason to show nothing', async (t) => {
  const { servers, write, workspace } = serverRig(t);
  writeFileSync(`${workspace}/auth.json`, '{');
  write({ mcpServers: { files: { ...FILES, env: { A: '${auth:files.A}' } } } });
  t.match(await servers.list(), [{ state: 'failed', problem: /auth\.json can't be used/, secrets: [{ isStored: false }] }]);
  t.match(await failure(servers.setSecret('files', 'A', { value: 'x' })), { code: 'ADAPTER_NOT_CONFIGURED' });
});

t.test('settings that name no tool of an approved server are found', async (t) => {
  const { servers, write, approve } = serverRig(t);
  const probe = (tool: string): object => ({ read_file: { tool, with: { path: '/path' }, found: '' } });
  write({ mcpServers: { files: FILES }, blockhouse: { files: { probe: probe('reed_file') } } });
  t.match(await servers.findings(), [{ place: 'mcp.json, files', problem: /so none of its tools is offered/ }], 'of one that is held, that is all');
  await approve('files');
  const fault = 'the probe of read_file asks reed_file, which is no approved tool of it, so what becomes of its calls after a crash stays unknown';
  t.strictSame(
    (await servers.findings()).map(({ place, problem }) => [place, problem]),
    [['mcp.json, files', fault]],
  );
  write({ mcpServers: { files: FILES }, blockhouse: { files: { marks: { readOnly: ['read_*'] }, probe: probe('read_file') } } });
  t.strictSame(await servers.findings(), []);
});
