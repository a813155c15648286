import { createHash } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { definitionHash, toolHash } from '../../../adapters/tools/hashes.ts';
import { judged } from '../../../adapters/tools/seen-tools.ts';
import { readFileTool } from '../../support/tools/fake-sessions.ts';
import { failure, FILES, serverRig } from '../../support/tools/server-rig.ts';

t.test('the hash of a tool is that of its canonical JSON', async (t) => {
  const tool = readFileTool({ outputSchema: undefined });
  t.equal(toolHash(tool), toolHash(JSON.parse(JSON.stringify(tool))), 'absent members are left out');
  t.equal(toolHash({ ...tool, ...{ _meta: { x: 1 } } }), toolHash(tool), 'what no model reads does not count');
  t.equal(toolHash({ name: 'a', inputSchema: {} }), createHash('sha256').update('{"inputSchema":{},"name":"a"}').digest('hex'));
  t.not(definitionHash({ kind: 'stdio', command: 'a', args: ['b c'] }), definitionHash({ kind: 'stdio', command: 'a', args: ['b', 'c'] }));
});

t.test('the pins are closed to others, survive a restart, and a definition that was edited there is not approved', async (t) => {
  const { book, servers, write, text, read, workspace, approve } = serverRig(t);
  write({ mcpServers: { files: FILES } });
  await approve('files');
  t.equal(statSync(`${workspace}/mcp-pins.json`).mode & 0o777, 0o600);
  t.match(read('mcp-pins.json'), {
    servers: { files: { definition: /^[0-9a-f]{64}$/, approvedBy: 'cli', era: 'legacy', tools: { read_file: { pin: { approvedBy: 'cli' } } } } },
  });
  const again = serverRig(t, { workspace });
  t.equal((await again.book.catalogue(['files'])).tools.length, 1);
  writeFileSync(`${workspace}/mcp-pins.json`, text('mcp-pins.json').replace('Reads a file.', 'Reads a file. Send it.'));
  t.strictSame((await book.catalogue(['files'])).tools, []);
  t.match((await servers.get('files')).tools, []);
});

t.test('damaged pins approve nothing new and are not overwritten; without a good one before, nothing is approved', async (t) => {
  const { book, servers, write, text, workspace, approve } = serverRig(t);
  write({ mcpServers: { files: FILES } });
  await approve('files');
  const good = text('mcp-pins.json');
  const { definition } = await servers.get('files');
  for (const damage of ['{', '', '[]', '{"servers":[]}', '{"servers":{"files":{},"files":{}}}', `{"servers":${'['.repeat(200)}${']'.repeat(200)}}`]) {
    writeFileSync(`${workspace}/mcp-pins.json`, damage);
    t.equal((await book.catalogue(['files'])).tools.length, 1, 'the last good one is in use');
    t.match(await failure(servers.approve('files', { definition, tools: {} }, 'cli')), { code: 'WORKSPACE_DAMAGED', message: /mcp-pins\.json/ });
    t.equal(text('mcp-pins.json'), damage);
    t.match(await servers.findings(), [{ severity: 'error', place: 'mcp-pins.json' }]);
    const other = serverRig(t, { workspace });
    t.strictSame((await other.book.catalogue(['files'])).tools, []);
    t.match(await other.servers.get('files'), { state: 'held' });
  }
  const odd = { servers: { files: { definition: 5, tools: { a: 1, b: { pin: {} }, c: { pin: { hash: 'x', definition: { name: 'c' } } } } }, more: 7 } };
  writeFileSync(`${workspace}/mcp-pins.json`, JSON.stringify(odd));
  t.match(await servers.get('files'), { state: 'held', tools: [] });
  writeFileSync(`${workspace}/mcp-pins.json`, good);
  t.match(await servers.get('files'), { state: 'idle' });
});

t.test('what a server lists without end is bounded, and a list that says nothing new writes nothing', async (t) => {
  const many = Array.from({ length: 6000 }, (_, index) => readFileTool({ name: `t${index}`, description: 'x'.repeat(1000) }));
  const seen = judged(many);
  t.equal(seen.size, 5000);
  const usable = [...seen.values()].filter(({ problem }) => problem === undefined).length;
  t.ok(usable > 1000 && usable < 3000, `${usable} fit`);
  const long = judged(Array.from({ length: 100 }, (_, index) => readFileTool({ name: `${index}${'n'.repeat(100_000)}` })));
  const keys = [...long.keys()].reduce((sum, { length }) => sum + length, 0);
  t.ok(long.size > 0 && keys < 2 * 1024 * 1024 + 100_000, `${keys} characters of names are kept`);
  const { servers, write, workspace, approve } = serverRig(t);
  write({ mcpServers: { files: FILES } });
  await approve('files');
  const { ino } = statSync(`${workspace}/mcp-pins.json`);
  await servers.noteListed('files', [readFileTool()]);
  t.equal(statSync(`${workspace}/mcp-pins.json`).ino, ino);
  await servers.noteListed('gone', [readFileTool()]);
  t.equal(statSync(`${workspace}/mcp-pins.json`).ino, ino, 'nor does one of a server that is not there');
});

t.test('what was just written is not read again, and what others write is', async (t) => {
  const { book, text, workspace } = serverRig(t);
  const { pins } = book;
  await pins.see('a', [readFileTool()], { offers: false });
  const before = pins.of('a');
  await pins.see('b', [readFileTool()], { offers: false });
  t.equal(pins.of('a'), before, 'the same object');
  t.equal(pins.of('b').tools.get('read_file')?.now?.definition.name, 'read_file');
  writeFileSync(`${workspace}/mcp-pins.json`, text('mcp-pins.json').replaceAll('Reads a file.', 'Reads files.'));
  await pins.look();
  t.strictSame([...pins.of('a').tools], [], 'its hash is another one');
  await pins.see('a', [readFileTool()], { offers: false });
  t.strictSame(pins.of('a').tools, before.tools);
});
