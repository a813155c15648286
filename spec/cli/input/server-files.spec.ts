import t from 'tap';
import { CURATED_NAMES, curatedServer } from '../../../cli/input/curated-servers.ts';
import { readServerFile, withoutComments } from '../../../cli/input/server-files.ts';

const read = (text: string | object) => readServerFile(Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)));

t.test('case 51: files of five programs are read', async (t) => {
  const github = { command: 'docker', args: ['run', '-i', 'github-server'], env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'ghp_abcdefghijkl' } };
  const desktop = await read({ globalShortcut: '', mcpServers: { github } });
  t.match(desktop, {
    servers: [
      {
        name: 'github',
        server: { command: 'docker', env: { GITHUB_PERSONAL_ACCESS_TOKEN: '${auth:github.GITHUB_PERSONAL_ACCESS_TOKEN}' } },
        secrets: { GITHUB_PERSONAL_ACCESS_TOKEN: 'ghp_abcdefghijkl' },
      },
    ],
    skipped: [],
  });
  const cursor = await read({ mcpServers: { crm: { url: 'https://crm.example/mcp', headers: { Authorization: 'Bearer hunter2hunter2' } } } });
  t.match(cursor.servers, [{ server: { headers: { Authorization: 'Bearer ${auth:crm.token}' } }, secrets: { token: 'hunter2hunter2' } }]);
  const editor = await read(`// servers
    { "inputs": [{ "id": "key", "type": "promptString" }],
      "servers": { /* one */ "maps": { "type": "stdio", "command": "npx", "args": ["-y", "maps//server@1.0.0", "\${userHome}/maps",], "env": { "KEY": "\${input:key}" }, "envFile": ".env" }, } }`);
  t.match(editor.servers, [
    {
      server: { args: ['-y', 'maps//server@1.0.0', '~/maps'], env: { KEY: '${auth:maps.key}' } },
      secrets: {},
      notes: [/envFile was left out/, /needs the secret maps\.key/],
    },
  ]);
  t.match((await read({ mcp: { servers: { a: { command: 'b' } } } })).servers, [{ name: 'a' }], 'settings.json and openclaw.json');
  const goose = await read(`GOOSE_MODEL: x
extensions:
  developer: { type: builtin, enabled: true }
  fetcher:
    type: stdio
    cmd: uvx
    args: [mcp-server-fetch]
    env_keys: [FETCH_KEY]
    envs: { LEVEL: 3, FETCH_TOKEN: hunter2hunter2 }
    enabled: false
  remote: { type: streamable_http, uri: 'https://a.example/mcp', headers: { X-Api-Key: hunter2hunter2 } }
`);
  t.match(goose, {
    servers: [
      {
        name: 'fetcher',
        server: {
          command: 'uvx',
          args: ['mcp-server-fetch'],
          env: { FETCH_KEY: '${auth:fetcher.FETCH_KEY}', LEVEL: '3', FETCH_TOKEN: '${auth:fetcher.FETCH_TOKEN}' },
        },
        notes: [/was disabled there/, /needs the secret fetcher\.FETCH_KEY/, /names no version/, /moved to auth\.json as fetcher\.FETCH_TOKEN/],
      },
      { name: 'remote', server: { type: 'http', url: 'https://a.example/mcp', headers: { 'X-Api-Key': '${auth:remote.X-Api-Key}' } } },
    ],
    skipped: [/developer has the type builtin/],
  });
});

t.test('of a text with secrets in it, all the rest stays', async (t) => {
  const args = ['-c', 'A_TOKEN=hunter2hunter2 node x.js --password "hunter3hunter3" -v', 'https://a.example/?api_key=hunter4hunter4&x=1'];
  const { servers } = await read({ mcpServers: { a: { command: 'sh', args, env: { C: '{"token": "hunter5hunter5", "x": 1}' } } } });
  t.match(servers, [
    {
      server: {
        args: ['-c', 'A_TOKEN=${auth:a.A_TOKEN} node x.js --password "${auth:a.password}" -v', 'https://a.example/?api_key=${auth:a.api_key}&x=1'],
        env: { C: '{"token": "${auth:a.token}", "x": 1}' },
      },
      secrets: { A_TOKEN: 'hunter2hunter2', password: 'hunter3hunter3', api_key: 'hunter4hunter4', token: 'hunter5hunter5' },
    },
  ]);
});

t.test('a secret leaves arguments and addresses, too, and two of one name do not meet', async (t) => {
  const { servers } = await read({
    mcpServers: {
      a: {
        command: 'mcp-remote',
        args: ['https://a.example', '--header', 'Authorization: Bearer hunter2', '--api-key=hunter3', '--token', 'hunter4'],
        env: { token: 'hunter5' },
      },
      b: { url: 'https://b.example/mcp?api_key=hunter6&page=1' },
    },
  });
  t.notMatch(JSON.stringify(servers.map(({ server, notes }) => [server, notes])), /hunter/);
  t.strictSame(Object.values({ ...servers[0]?.secrets, ...servers[1]?.secrets }).sort(), ['hunter2', 'hunter3', 'hunter4', 'hunter5', 'hunter6']);
  t.match(servers[0]?.server, {
    args: ['https://a.example', '--header', /^Authorization: Bearer \$\{auth:a\.token/, '--api-key=${auth:a.api-key}', '--token', /^\$\{auth:a\.token/],
  });
  t.equal(servers[1]?.server['url'], 'https://b.example/mcp?api_key=${auth:b.api_key}&page=1');
});

t.test('names are made to fit and stay different, and odd files are refused without their text', async (t) => {
  const { servers, skipped } = await read(
    '{"mcpServers":{"Brave Search":{"command":"a"},"brave/search":{"command":"b"},"block":{"command":"c"},"":{"command":"d"},"__proto__":{"command":"e"},"x":5}}',
  );
  t.strictSame(
    servers.map(({ name }) => name),
    ['Brave-Search', 'brave-search-2', 'server-block', 'server', 'proto__'].map((name) => (name === 'proto__' ? 'proto' : name)),
  );
  t.strictSame(skipped, ['x is no entry of a server']);
  for (const text of ['{"mcpServers":[]}', '{}', '[]', 'a: b', '{ not json hunter2', ': hunter2\n - x', ''])
    await t.rejects(read(text), { kind: 'usage', message: /^(?!.*hunter2)/ }, text);
  const fault = '// mine\n{\n  /* two\n lines */ "mcpServers": {"a": hunter2},\n}';
  await t.rejects(read(fault), { message: 'The file is no valid JSON: line 4, column 31.' }, 'comments keep their room, so the place is that of the file');
  t.equal(withoutComments('{"a": "// no /* comment */ ,]", // yes\n "b": [1,],}'), `{"a": "// no /* comment */ ,]", ${' '.repeat(6)}\n "b": [1 ] }`);
});

t.test('each short name gives an entry of one version, or an address', async (t) => {
  for (const name of CURATED_NAMES) {
    const given = ['files', 'git', 'sqlite'].includes(name) ? ['/srv/x'] : [];
    t.match(JSON.stringify(curatedServer(name, given)?.server), /@\d[\d.]+"|"https:\/\//, name);
  }
  t.equal(curatedServer('other', []), undefined);
  t.equal(curatedServer('constructor', []), undefined);
});
