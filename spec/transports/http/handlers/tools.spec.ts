import t from 'tap';
import { startServer } from '../../../support/server.ts';
import { FILES } from '../../../support/tools/server-rig.ts';
import { startManagedServer } from '../../../support/tools/managed-server.ts';

t.test('a server is made, looked at, approved, given a secret and removed', async (t) => {
  const { call, rig } = await startManagedServer(t);
  const settings = { marks: { readOnly: ['read_*'], closedWorld: ['*'] } };
  const made = await call('PUT', '/api/tools/files', { body: { server: FILES, settings } });
  t.match(made, { status: 200, json: { success: true, server: { name: 'files', state: 'held', server: FILES, settings } } });
  const { definition } = made.json['server'] as { definition: string };
  t.match(await call('GET', '/api/tools'), { status: 200, json: { servers: [{ name: 'files', definition, tools: [] }] } });
  const seen = await call('POST', '/api/tools/files/test', { body: { definition } });
  t.match(seen, { status: 200, json: { server: { state: 'held', era: 'legacy', tools: [{ name: 'read_file', state: 'new', now: { inputSchema: {} } }] } } });
  const [tool] = (seen.json['server'] as { tools: { hash: string }[] }).tools;
  const body = { definition, tools: { read_file: tool?.hash } };
  const approved = await call('POST', '/api/tools/files/approve', { body, headers: { 'x-blockhouse-channel': 'cli' } });
  t.match(approved, { status: 200, json: { server: { state: 'idle', tools: [{ state: 'approved', marks: { readOnly: true, closedWorld: true } }] } } });
  t.match(rig.read('mcp-pins.json'), { servers: { files: { approvedBy: 'cli' } } });
  t.match(await call('GET', '/api/tools/files'), { status: 200, json: { server: { tools: [{ now: { description: 'Reads a file.' } }] } } });
  rig.sessions.outcome = async () => ({ kind: 'result', isError: false, parts: [{ type: 'text', text: 'Hello' }], ms: 1 });
  const asked = { tool: 'read_file', hash: tool?.hash, arguments: { path: '/a' } };
  t.match(await call('POST', '/api/tools/files/call', { body: asked }), { status: 200, json: { success: true, result: { text: 'Hello', isError: false } } });
  await call('POST', '/api/halt', { body: {} });
  t.match(await call('POST', '/api/tools/files/call', { body: asked }), { status: 409, json: { code: 'WRONG_STATE' } });
  await call('DELETE', '/api/halt');
  t.equal(rig.sessions.called.length, 1, 'nothing is called while the kill switch is set');
  t.match(await call('PUT', '/api/tools/files/secrets/token', { body: { value: 'hunter2hunter2' } }), { status: 200, json: { success: true } });
  t.match(rig.read('auth.json'), { mcp: { files: { token: 'hunter2hunter2' } } });
  t.match(await call('DELETE', '/api/tools/files/secrets/token'), { status: 200, json: { success: true } });
  t.match(await call('DELETE', '/api/tools/files'), { status: 200, json: { success: true } });
  t.match(await call('GET', '/api/tools'), { json: { servers: [] } });
});

t.test('each refusal has its code and its cure', async (t) => {
  const { call, rig, url } = await startManagedServer(t);
  const definition = 'f'.repeat(64);
  const status = async (method: string, path: string, body?: unknown) => {
    const { status, json } = await call(method, path, body === undefined ? {} : { body });
    return `${status} ${String(json['code'])}`;
  };
  t.equal(await status('GET', '/api/tools/gone'), '404 TOOL_SERVER_NOT_FOUND');
  t.equal(await status('DELETE', '/api/tools/gone'), '404 TOOL_SERVER_NOT_FOUND');
  t.equal(await status('POST', '/api/tools/gone/test', { definition }), '404 TOOL_SERVER_NOT_FOUND');
  t.equal(await status('POST', '/api/tools/gone/approve', { definition, tools: {} }), '404 TOOL_SERVER_NOT_FOUND');
  t.equal(await status('PUT', '/api/tools/block', { server: FILES }), '400 TOOL_SERVER_REFUSED');
  t.equal(await status('PUT', '/api/tools/a%2F..%2Fb', { server: FILES }), '400 TOOL_SERVER_REFUSED');
  t.equal(await status('PUT', '/api/tools/self', { server: { url: `${url}/mcp` } }), '400 TOOL_SERVER_REFUSED');
  t.equal(await status('PUT', '/api/tools/files', { server: FILES, more: 1 }), '400 INVALID_REQUEST');
  t.equal(await status('PUT', '/api/tools/files', `{"server":${'['.repeat(500)}${']'.repeat(500)}}`), '400 INVALID_REQUEST');
  await call('PUT', '/api/tools/files', { body: { server: FILES } });
  t.equal(await status('POST', '/api/tools/files/test', { definition }), '409 TOOL_NOT_APPROVED');
  t.equal(await status('POST', '/api/tools/files/approve', { definition, tools: {} }), '409 TOOL_CHANGED');
  rig.sessions.lists.clear();
  const shown = (await call('GET', '/api/tools/files')).json['server'] as { definition: string };
  t.equal(await status('POST', '/api/tools/files/test', { definition: shown.definition }), '502 TOOL_SERVER_FAILED');
  t.equal(await status('PUT', '/api/tools/files/secrets/a.b', { value: 'x' }), '400 INVALID_REQUEST');
  rig.write('{');
  t.equal(await status('PUT', '/api/tools/more', { server: FILES }), '409 WORKSPACE_DAMAGED');
});

t.test('nobody but the owner comes: not without the token, not with a key of an application, not a foreign page', async (t) => {
  const { call, core, rig } = await startManagedServer(t);
  const { key } = (await call('POST', '/api/keys', { body: { name: 'app', rights: ['blocks'] } })).json as { key: string };
  await call('PUT', '/api/tools/files', { body: { server: FILES } });
  const before = [rig.text('mcp.json'), rig.text('mcp-pins.json'), rig.text('auth.json')];
  const { definition } = (await core.toolServers().get('files')) as { definition: string };
  const doors: [string, string, unknown?][] = [
    ['GET', '/api/tools'],
    ['GET', '/api/tools/files'],
    ['PUT', '/api/tools/evil', { server: { command: 'evil' } }],
    ['DELETE', '/api/tools/files'],
    ['POST', '/api/tools/files/test', { definition }],
    ['POST', '/api/tools/files/call', { tool: 'read_file', hash: definition, arguments: {} }],
    ['POST', '/api/tools/files/approve', { definition, tools: {} }],
    ['PUT', '/api/tools/files/secrets/token', { value: 'x' }],
    ['DELETE', '/api/tools/files/secrets/token'],
  ];
  for (const [method, path, body] of doors) {
    const sent = body === undefined ? {} : { body };
    t.equal((await call(method, path, { ...sent, token: false })).status, 401, `${method} ${path}`);
    t.match(await call(method, path, { ...sent, token: false, headers: { authorization: `Bearer ${key}` } }), { status: 403, json: { code: 'KEY_FORBIDDEN' } });
    t.equal((await call(method, path, { ...sent, headers: { origin: 'https://evil.example' } })).status, 403);
    t.equal((await call(method, path, { ...sent, headers: { host: 'evil.example' } })).status, 403);
  }
  t.strictSame([rig.text('mcp.json'), rig.text('mcp-pins.json'), rig.text('auth.json')], before, 'nothing has changed');
  t.strictSame(rig.sessions.started, []);
});

t.test('case 39: no answer of these routes has a secret, and none stands in a log line', async (t) => {
  const server = await startManagedServer(t);
  const { call, rig, log } = server;
  const canary = 'canary-secret-4711';
  const answers = [
    await call('PUT', '/api/tools/files', { body: { server: { ...FILES, env: { A: '${auth:files.A}' } } } }),
    await call('PUT', '/api/tools/files/secrets/A', { body: { value: canary } }),
    await call('PUT', '/api/tools/files/secrets/B', { body: { value: `${canary}\n` } }),
    await call('PUT', '/api/tools/bad', { body: { server: { command: 'a', env: { A_TOKEN: canary }, args: ['--password', canary] } } }),
  ];
  rig.write({
    mcpServers: { files: { ...FILES, env: { A: '${auth:files.A}' } }, bad: { command: 'a', env: { A_TOKEN: canary }, args: ['--password', canary] } },
  });
  for (const path of ['/api/tools', '/api/tools/files', '/api/tools/bad', '/api/doctor', '/api/settings']) answers.push(await call('GET', path));
  t.notOk(JSON.stringify([answers.map(({ text }) => text), log]).includes(canary));
});

t.test('a client that leaves ends the look', async (t) => {
  const { call, open, rig } = await startManagedServer(t);
  await call('PUT', '/api/tools/files', { body: { server: FILES } });
  const { definition } = (await rig.servers.get('files')) as { definition: string };
  const look = rig.sessions.look.bind(rig.sessions);
  let request: ReturnType<typeof open> | undefined;
  const left = new Promise<void>((resolve) => {
    rig.sessions.look = async (server, signal) => {
      const aborted = new Promise((leave) => signal.addEventListener('abort', leave));
      request?.destroy();
      await aborted;
      resolve();
      return look(server, signal);
    };
  });
  request = open('POST', '/api/tools/files/test', { body: { definition } });
  request.on('error', () => undefined);
  await left;
  t.strictSame((await rig.servers.get('files')).tools, []);
});

t.test('a server without a host of tools says so', async (t) => {
  const { call } = await startServer(t);
  t.match(await call('GET', '/api/tools'), { status: 409, json: { code: 'WRONG_STATE' } });
});
