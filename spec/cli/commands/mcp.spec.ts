import { existsSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/client';
import { callMcp, type McpClient } from '../../support/mcp-clients.ts';
import { sweep } from '../../support/sweep.ts';
import { testFolder } from '../../support/test-folder.ts';
import { openDesk, runHere } from '../run.ts';

const request = (id: number, method: string, params: object = {}): string => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

/** What the program passes on is the same in each; the revisions have their specs where they are spoken. */
for (const mode of ([{ pin: '2026-07-28' }, 'legacy'] as const).slice(0, sweep(2, 1)))
  t.test(`the official client starts the program, and speaks with it (${JSON.stringify(mode)})`, async (t) => {
    const { on, workspace } = await openDesk(t);
    await on(['new', 'ada']);
    const client = new Client({ name: 'spec', version: '1' }, { versionNegotiation: { mode } });
    const args = [new URL('../../../dist/cli/main.js', import.meta.url).pathname, 'mcp', '--workspace', workspace];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'pipe' }));
    t.teardown(() => client.close());
    t.equal((await client.listTools()).tools.length, 5);
    t.match(await callMcp(client as unknown as McpClient, 'list_blocks'), { structuredContent: { blocks: [{ name: 'ada' }] } });
    t.match(await callMcp(client as unknown as McpClient, 'why', { block: 'nobody' }), { isError: true });
  });

t.test('nothing goes to standard output but answers, and the end of the input ends it', async (t) => {
  const { on } = await openDesk(t);
  const { code, stdout, stderr } = await on(['mcp'], { input: `${request(1, 'initialize', { protocolVersion: '2025-11-25' })}${request(2, 'tools/list')}` });
  t.match({ code, stderr }, { code: 0, stderr: '' });
  const answers = stdout.trimEnd().split('\n');
  t.strictSame(answers.map((line) => (JSON.parse(line) as { id: number }).id).sort(), [1, 2]);
});

t.test('with a key it may do what the key may', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'ada']);
  const keyOf = async (name: string, ...args: string[]) => (await on(['key', 'new', name, ...args])).stdout.trim();
  const ask = async (key: string) =>
    JSON.parse((await on(['mcp'], { input: request(1, 'tools/call', { name: 'list_blocks' }), env: { BLOCKHOUSE_MCP_KEY: key } })).stdout) as object;
  t.match(await ask(await keyOf('agent', '--right', 'mcp', '--block', 'ada')), { id: 1, result: { structuredContent: { blocks: [{ name: 'ada' }] } } });
  t.match(await ask(await keyOf('app')), { id: 1, error: { message: /no right to MCP/ } });
});

t.test('without a server it starts none, and says so', async (t) => {
  const workspace = `${testFolder(t)}/workspace`;
  const { code, stdout, stderr } = await runHere(t, ['mcp', '--workspace', workspace], { input: request(1, 'ping') });
  t.not(code, 0);
  t.match({ stdout, stderr }, { stdout: '', stderr: /There is no workspace .*serve/ });
  t.notOk(existsSync(workspace));
});

t.test('started by a server of tools of a block of its workspace, it refuses, and by one of another workspace not', async (t) => {
  const { on, workspace } = await openDesk(t);
  const start = (mark: string) => on(['mcp'], { input: request(1, 'ping'), env: { BLOCKHOUSE_SERVER: mark } });
  t.match(await start('ours'), { code: 0, stdout: /"result"/ });
  writeFileSync(`${workspace}/.servers.json`, JSON.stringify({ mark: 'ours', servers: [] }));
  t.match(await start('ours'), { code: 2, stdout: '', stderr: /call themselves/ });
  t.match(await start('theirs'), { code: 0, stdout: /"result"/ });
});
