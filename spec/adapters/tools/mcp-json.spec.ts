import { chmodSync, statSync } from 'node:fs';
import t from 'tap';
import { failure, FILES, serverRig } from '../../support/tools/server-rig.ts';

t.test('a damaged mcp.json leaves the last good one in use, and nothing overwrites it', async (t) => {
  const { servers, book, write, text, approve } = serverRig(t);
  write({ mcpServers: { files: FILES } });
  await approve('files');
  const deep = `{"mcpServers":${'['.repeat(200)}${']'.repeat(200)}}`;
  const damages: [unknown, RegExp][] = [
    ['{"mcpServers": {"files": {"command": "evil"}', /not valid JSON/],
    ['', /empty/],
    ['[]', /must contain a JSON object/],
    [deep, /nests deeper/],
    [`{"mcpServers":{},"x":[${'1,'.repeat(60_000)}1]}`, /more than 50000/],
    [`{"x":"${'y'.repeat(1_100_000)}"}`, /larger than/],
    ['{"mcpServers":{"files":{"command":"a"},"files":{"command":"evil"}}}', /the field "files" twice/],
    ['{"mcpServers":{"files":{"command":"a","command":"evil"}}}', /the field "command" twice/],
    [{ mcpServers: [] }, /mcpServers must be an object/],
    [{ mcpServers: {}, blockhouse: { gone: {} } }, /blockhouse\.gone has settings for a server that is not/],
    [{ mcpServers: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`s${index}`, FILES])) }, /more than 200 servers/],
  ];
  for (const [damage, reason] of damages) {
    write(damage);
    t.match(await servers.list(), [{ name: 'files', state: 'idle', server: FILES }]);
    t.match(await servers.findings(), [{ severity: 'error', place: 'mcp.json', problem: reason }]);
    t.equal((await book.catalogue(['files'])).tools.length, 1);
    const before = text('mcp.json');
    t.match(await failure(servers.put('more', { server: FILES })), { code: 'WORKSPACE_DAMAGED', message: reason });
    t.match(await failure(servers.remove('files')), { code: 'WORKSPACE_DAMAGED' });
    t.equal(text('mcp.json'), before);
  }
  write({ mcpServers: { files: FILES } });
  t.strictSame(await servers.findings(), []);
});

t.test('a file that was never good has no servers, and says so to those who ask for one', async (t) => {
  const { servers, book, write } = serverRig(t);
  write('{');
  t.strictSame(await servers.list(), []);
  t.match((await book.catalogue(['files'])).problems, [{ problem: /mcp\.json can't be used: it is not valid JSON/ }]);
  t.match(await failure(servers.get('files')), { code: 'TOOL_SERVER_NOT_FOUND', message: /mcp\.json can't be used/ });
});

t.test('a change keeps what other programs have in the file, and the file is closed to others', async (t) => {
  const { servers, write, read, workspace } = serverRig(t);
  write({ inputs: [{ id: 'x' }], mcpServers: { other: { command: 'other', alwaysAllow: ['a'] } } });
  chmodSync(`${workspace}/mcp.json`, 0o644);
  await servers.list();
  t.equal(statSync(`${workspace}/mcp.json`).mode & 0o777, 0o600);
  await servers.put('files', { server: FILES, settings: { callTimeoutMs: 5 } });
  t.strictSame(read('mcp.json'), {
    inputs: [{ id: 'x' }],
    mcpServers: { other: { command: 'other', alwaysAllow: ['a'] }, files: FILES },
    blockhouse: { files: { callTimeoutMs: 5 } },
  });
  await servers.put('files', { server: { ...FILES, args: [] } });
  t.match(read('mcp.json'), { blockhouse: { files: { callTimeoutMs: 5 } } }, 'settings that are not given stay');
  t.equal(statSync(`${workspace}/mcp.json`).mode & 0o777, 0o600);
  await servers.remove('files');
  t.strictSame(read('mcp.json'), { inputs: [{ id: 'x' }], mcpServers: { other: { command: 'other', alwaysAllow: ['a'] } } });
});

t.test('a file that is full takes no further server, and changes of those that it has', async (t) => {
  const { servers, write } = serverRig(t);
  write({ mcpServers: Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`s${index}`, FILES])) });
  await servers.put('s7', { server: { ...FILES, args: ['other'] } });
  t.match(
    (await servers.list()).find(({ name }) => name === 's7'),
    { server: { args: ['other'] } },
  );
  t.match(await failure(servers.put('more', { server: FILES })), { code: 'TOOL_SERVER_REFUSED', message: /has 200 servers already/ });
});

t.test('a name such as __proto__ is a name like any other: it changes no other object, and is refused', async (t) => {
  const { servers, write } = serverRig(t);
  write('{"mcpServers":{"__proto__":{"command":"evil"},"constructor":{"command":"a"}},"blockhouse":{"__proto__":{"newTools":"offer"}}}');
  t.match(await servers.list(), [
    { name: '__proto__', state: 'failed', problem: /its name must have/i },
    { name: 'constructor', state: 'held' },
  ]);
  t.equal(({} as { command?: string }).command, undefined);
});

t.test('case 40: a server that is given the workspace, a folder above it or one in it is refused, also through a link', async (t) => {
  const { servers, write, workspace } = serverRig(t, {
    workspace:
      t.testdir({ ws: { blocks: {}, tools: { files: {} } }, shared: {}, up: t.fixture('symlink', 'ws'), far: { in: t.fixture('symlink', '../ws/blocks') } }) +
      '/ws',
  });
  const above = workspace.slice(0, -'/ws'.length);
  const bad: [string[], Record<string, string>?][] = [
    [[workspace]],
    [[`${workspace}/`]],
    [[`${above}/shared/../ws`]],
    [[above]],
    [['/']],
    [[`${workspace}/blocks`]],
    [[`${workspace}/auth.json`]],
    [[`${workspace}/blocks/new/folder`]],
    [['../..']],
    [['..']],
    [[`${above}/up`]],
    [[`${above}/up/blocks`]],
    [[`${above}/far/in/ada`]],
    [[`--root=${workspace}`]],
    [['-v', `${workspace}:/data:rw`]],
    [[`--mount=type=bind,src=${above},dst=/x`]],
    [[`file://${workspace}`]],
    [['${DIR}']],
    [['~/ws']],
    [[], { ROOT: workspace }],
    [[], { DIRS: `/srv:${above}/up` }],
  ];
  for (const [args, env = {}] of bad) {
    const { servers: ours } = serverRig(t, { workspace, env: { DIR: workspace, HOME: above } });
    t.match(
      await failure(ours.put('files', { server: { command: 'a', args, env } })),
      { code: 'TOOL_SERVER_REFUSED', message: /workspace/ },
      JSON.stringify([args, env]),
    );
    write({ mcpServers: { files: { command: 'a', args, env } } });
    t.match(await ours.list(), [{ state: 'failed', problem: /workspace/ }]);
  }
  for (const args of [
    [`${above}/shared`],
    [`${above}/wsx`],
    ['.'],
    ['data'],
    [`${workspace}/tools/files/x`],
    ['https://a.example/mcp'],
    ['-y', '@scope/name@1.0.0'],
  ]) {
    write({ mcpServers: { files: { command: 'a', args } } });
    t.match(await servers.list(), [{ state: 'held' }], JSON.stringify(args));
  }
});

t.test('case 40: a link that was turned to the workspace after the approval is seen before the next call', async (t) => {
  const { symlinkSync, unlinkSync } = await import('node:fs');
  const folder = t.testdir({ ws: {}, shared: {}, way: t.fixture('symlink', 'shared') });
  const { book, write, approve } = serverRig(t, { workspace: `${folder}/ws` });
  write({ mcpServers: { files: { command: 'a', args: [`${folder}/way`] } } });
  await approve('files');
  const pin = (await book.catalogue(['files'])).tools[0]?.pin ?? '';
  t.equal((await book.callable('files', 'read_file', pin)).name, 'files');
  unlinkSync(`${folder}/way`);
  symlinkSync('ws', `${folder}/way`);
  t.match(await failure(book.callable('files', 'read_file', pin)), { code: 'TOOL_NOT_BEGUN', message: /args\[0\] is the workspace/ });
});
