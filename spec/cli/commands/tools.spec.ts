import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { testFolder } from '../../support/test-folder.ts';
import { noTerminal, openTerminal } from '../terminal.ts';
import { toolDesk as desk } from '../../support/tools/tool-desk.ts';
import { readFileTool } from '../../support/tools/fake-sessions.ts';

const PEM = String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));

t.test('without a terminal: a server is added and held, looked at, approved and removed, and nothing is started unasked', async (t) => {
  const { on, rig } = await desk(t);
  t.match(await on(['tools', 'ls']), { code: 0, stdout: '', stderr: /^There are no servers of tools\. For example: `.* tools add files / });
  const added = await on(['tools', 'add', 'notes', '--env', 'NOTES=/srv/notes', '--', 'notes-server', '--stdio']);
  t.match(added, { code: 0, stdout: '', stderr: /^notes: It is not approved; look at it with `blockhouse tools test notes --workspace / });
  t.match(rig.read('mcp.json'), { mcpServers: { notes: { command: 'notes-server', args: ['--stdio'], env: { NOTES: '/srv/notes' } } } });
  t.match(await on(['tools', 'approve', 'notes']), { code: 2, stderr: /has shown no tools yet/ });
  const { stderr: unseen } = await on(['tools', 'diff', 'notes']);
  t.match(unseen, /^It is not approved; look at it with `.* tools test notes/);
  t.notMatch(unseen, /Nothing has changed/, 'of a server that has shown nothing yet');
  t.strictSame(rig.sessions.started, []);
  t.match(await on(['tools', 'test', 'notes']), { code: 1, stderr: /did not start/ });
  rig.sessions.lists.set('notes', [readFileTool(), readFileTool({ name: 'write_note', description: 'Writes.', annotations: undefined })]);
  t.match(await on(['tools', 'test', 'notes']), {
    code: 0,
    stdout: /^TOOL +STATE .*\nread_file +new .*\nwrite_note +new /,
    stderr: /2 tools: 2 new\.\nTo offer them: `.* tools approve notes/,
  });
  t.match(await on(['tools', 'approve', 'notes', 'other']), { code: 2, stderr: /no tool other/ });
  t.match(await on(['tools', 'approve', 'notes', 'read_file']), {
    code: 0,
    stderr: /notes is approved\. 2 tools: 1 approved, 1 new\. To give them to a block: `.* config set '?<block>'? '?tools\.servers=\["notes"\]'?/,
  });
  t.match(await on(['tools', 'approve', 'notes']), { code: 0, stderr: /2 tools: 2 approved\./ });
  t.match(await on(['tools', 'ls']), { code: 0, stdout: /^SERVER +STATE +TOOLS +NOT OFFERED .*\nnotes +idle +2 +0 +\d+ +notes-server --stdio\n$/ });
  t.match(JSON.parse((await on(['tools', 'ls', 'notes', '--json'])).stdout), { server: { tools: [{ name: 'read_file', state: 'approved' }, {}] } });
  t.match(await on(['tools', 'add', 'notes', '--', 'evil']), { code: 2, stderr: /already\. Add --replace/ });
  t.match(await on(['tools', 'add', 'notes', '--replace', '--', 'evil']), { code: 0, stderr: /not the approved one any more/ });
  t.match(await on(['tools', 'rm', 'notes']), { code: 2, stderr: /Add --yes/ });
  t.match(await on(['tools', 'rm', 'notes', '--yes']), { code: 0, stderr: /^The server is removed/ });
  t.match(await on(['tools', 'ls', 'notes']), { code: 2, stderr: /no server of tools named "notes"/ });
});

t.test('at a terminal, each step is asked for, and nothing is done that was not agreed to', { skip: noTerminal }, async (t) => {
  const { on, rig, workspace } = await desk(t);
  rig.sessions.lists.set('notes', [readFileTool()]);
  const state = async (): Promise<unknown> =>
    JSON.parse((await on(['tools', 'ls', 'notes', '--json'])).stdout).server.tools.map((tool: { state: string }) => tool.state);
  const asked = async (args: readonly string[], answers: readonly [question: RegExp, answer: string][], code: number): Promise<void> => {
    const terminal = openTerminal(t, args);
    for (const [question, answer] of answers) {
      await terminal.shows(question);
      terminal.type(answer);
      terminal.press('Enter');
    }
    await terminal.shows(new RegExp(`ended with ${code}`));
  };
  const add = ['tools', 'add', 'notes', '--replace', '--workspace', workspace, '--', 'notes-server'];
  await asked(add, [[/Start it once, to see its tools\? \[y\/N\]$/m, 'n']], 0);
  t.strictSame(rig.sessions.started, []);
  const looked: [RegExp, string][] = [
    [/Start it once/, 'y'],
    [/Do you trust it in that/, 'n'],
  ];
  await asked(add, [...looked, [/Approve it with these tools\?/, 'n']], 0);
  t.strictSame(await state(), ['new']);
  const approve = ['tools', 'approve', 'notes', '--workspace', workspace];
  await asked(approve, [[/Approve this\?/, 'n']], 1);
  t.strictSame(await state(), ['new']);
  await asked(approve, [[/Approve this\?/, 'y']], 0);
  t.strictSame(await state(), ['approved']);
});

t.test('what has changed is shown line by line, and what is not seen as an escape', async (t) => {
  const { on, rig } = await desk(t);
  rig.write({ mcpServers: { files: { command: 'a' } } });
  await rig.approve('files');
  t.match(await on(['tools', 'diff', 'files']), { code: 0, stdout: '', stderr: /Nothing has changed/ });
  await rig.servers.noteListed('files', [readFileTool({ description: 'Reads a file.\u200b\u{e0041}\ufe0f\u001b[2J' }), readFileTool({ name: 'more' })]);
  const { stdout, stderr } = await on(['tools', 'diff', 'files']);
  t.match(stdout, /^more is new:\n\+ \{/);
  t.match(stdout, /\nread_file changed:\n- +"description": "Reads a file\.",\n\+ +"description": "Reads a file\.\\u200b\\u\{e0041\}\\ufe0f\\u001b\[2J",\n/);
  t.match(stderr, /tools approve files/);
  for (const hidden of ['\u200b', '\u001b', '\ufe0f']) t.notOk(stdout.includes(hidden));
  t.match((await on(['tools', 'diff', 'files', 'more'])).stdout, /^more is new:/);
  t.match(await on(['tools', 'diff', 'files', 'more', 'moer']), { code: 2, stdout: '', stderr: /files has no tool moer\. `.* tools ls files.*` lists them/ });
});

t.test('short names stand for exact versions, and their arguments are checked', async (t) => {
  const { on, rig } = await desk(t);
  t.match(await on(['tools', 'add', 'files', '/srv/shared']), { code: 0, stderr: /not approved/ });
  t.match(await on(['tools', 'add', 'web']), { code: 0, stderr: /uvx/ });
  t.match(await on(['tools', 'add', 'github']), { code: 0, stderr: /was not tried.*tools secret set github\.token/s });
  t.match(await on(['tools', 'add', 'git']), { code: 2, stderr: /takes the folder of a repository/ });
  t.match(await on(['tools', 'add', 'time', 'now']), { code: 2, stderr: /takes no argument/ });
  t.match(await on(['tools', 'add', 'time', '--custom', '--', 'my-clock']), { code: 0 });
  t.match(rig.read('mcp.json'), {
    mcpServers: { files: { command: 'npx', args: ['-y', /@\d{4}\.\d+\.\d+$/, '/srv/shared'] }, github: { url: /^https:/ }, time: { command: 'my-clock' } },
    blockhouse: { files: { marks: { readOnly: ['read_*', 'list_*', 'directory_tree', 'search_files', 'get_file_info'] } } },
  });
  t.match(await on(['tools', 'add', 'x']), { code: 2, stderr: /either a command after --, or --url/ });
  t.match(await on(['tools', 'add', 'x', '--url', 'https://a.example/mcp', '--header', 'X-A: b']), { code: 0 });
  t.match(await on(['tools', 'add', 'y', '--url', 'https://a.example/mcp', '--env', 'A=b']), { code: 2, stderr: /--env is for a command/ });
  t.match(await on(['tools', 'add', 'y', '--header', 'A: b', '--', 'c']), { code: 2, stderr: /--header is for --url/ });
  t.match(await on(['tools', 'add', 'y', '--env', 'hunter2', '--', 'c']), { code: 2, stderr: /--env must be NAME=value/ });
  t.match(await on(['tools', 'add', 'y', '--env', 'A_TOKEN=hunter2', '--', 'c']), { code: 2, stderr: /tools secret set y\.A_TOKEN/ });
});

t.test('how a server is signed in to is said when it is added, and nothing of it must be written into mcp.json by hand', async (t) => {
  const folder = testFolder(t, { 'crm.pem': PEM, 'text.pem': 'no key' });
  const { on, rig } = await desk(t);
  const add = (...more: string[]) => on(['tools', 'add', 'crm', '--replace', '--url', 'https://crm.example/mcp', ...more]);
  const oauth = () => (rig.read('mcp.json') as { blockhouse?: Record<string, { oauth?: object }> }).blockhouse?.['crm']?.oauth;
  const client = ['--client-id', 'my-blocks', '--issuer', 'https://auth.example'];
  t.match(await add(...client, '--grant', 'client_credentials'), { code: 0, stderr: /crm\.client_secret is not stored.*tools secret set crm\.client_secret/ });
  t.strictSame(oauth(), { grant: 'client_credentials', clientId: 'my-blocks', issuer: 'https://auth.example' });
  const keyFile = join(folder, 'crm.pem');
  t.match(await add(...client, '--key-file', keyFile, '--key-id', 'k1', '--scope', 'read write'), { code: 0 });
  t.strictSame(oauth(), {
    grant: 'client_credentials',
    clientId: 'my-blocks',
    issuer: 'https://auth.example',
    scope: 'read write',
    method: 'private_key_jwt',
    keyFile,
    keyId: 'k1',
  });
  for (const [name, why] of [
    ['gone.pem', /key of its client can't be\s+read \(.*gone\.pem:\s+ENOENT\)/],
    ['text.pem', /is no\s+private\s+key/],
  ] as const)
    t.match(await add(...client, '--key-file', keyFile.replace('crm.pem', name)), { code: 2, stderr: why }, name);
  t.match(oauth(), { keyFile }, 'nothing was written');
  t.match(await add(...client, '--grant', 'authorization_code', '--key-file', keyFile), { code: 0 }, 'a person signs in, with a key');
  t.match(oauth(), { grant: 'authorization_code', method: 'private_key_jwt', keyFile });
  t.match(await add(...client, '--method', 'private_key_jwt'), { code: 0, stderr: /tools secret set crm\.client_key/ });
  t.match(await add('--client-id', 'my-blocks'), { code: 0 });
  t.strictSame(oauth(), { clientId: 'my-blocks' });
  t.match(await add('--client-id', 'my-blocks', '--key-file', '~/k.pem'), { code: 2, stderr: /give --client-id\s+and\s+--issuer/ });
  t.match(await add(...client, '--grant', 'implicit'), { code: 2, stderr: /--grant must be client_credentials or authorization_code/ });
  t.match(await add(...client, '--grant', 'authorization_code', '--method', 'client_secret'), {
    code: 2,
    stderr: /--method client_secret is for --grant\s+client_credentials/,
  });
  t.match(await on(['tools', 'add', 'z', '--client-id', 'x', '--', 'c']), { code: 2, stderr: /A sign-in \(--client-id, --issuer and the like\) is for --url/ });
});
