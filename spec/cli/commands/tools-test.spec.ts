import t from 'tap';
import { noTerminal, openTerminal } from '../terminal.ts';
import { toolDesk as desk } from '../../support/tools/tool-desk.ts';
import { readFileTool } from '../../support/tools/fake-sessions.ts';

t.test('a tool that only reads is called at once; another one only with --yes, where nobody can be asked', async (t) => {
  const { on, rig } = await desk(t);
  rig.sessions.lists.set('files', [readFileTool(), readFileTool({ name: 'write_file', annotations: undefined })]);
  rig.write({ mcpServers: { files: { command: 'a' } }, blockhouse: { files: { marks: { readOnly: ['*'], closedWorld: ['*'] } } } });
  await rig.approve('files');
  rig.sessions.outcome = async (_, { tool }) => ({
    kind: 'result',
    isError: tool === 'write_file',
    parts: [{ type: 'text', text: `Hi\u200b\nfrom ${tool}` }],
    ms: 3,
  });
  const args = ['--args', '{"path": "/srv/a.txt"}'];
  t.match(await on(['tools', 'test', 'files', 'read_file', ...args]), {
    code: 0,
    stdout: 'Hi\\u200b\nfrom read_file\n',
    stderr: /^3 ms, 4\d B, marks readOnly closedWorld\.\n$/,
  });
  t.match(await on(['tools', 'test', 'files', 'write_file', ...args]), { code: 2, stdout: '', stderr: /files\/write_file has no mark readOnly.*Add --yes/ });
  t.equal(rig.sessions.called.length, 1);
  t.match(await on(['tools', 'test', 'files', 'write_file', '--yes', ...args]), { code: 1, stdout: /from write_file/, stderr: /^It says that it failed: / });
  const { stdout } = await on(['tools', 'test', 'files', 'read_file', '--json', ...args]);
  t.match(JSON.parse(stdout), { success: true, result: { isError: false, ms: 3, marks: { readOnly: true } } });
});

t.test('each mistake says what to write', async (t) => {
  const { on, rig } = await desk(t);
  rig.write({ mcpServers: { files: { command: 'a' } } });
  await rig.approve('files');
  t.match(await on(['tools', 'test', 'files', 'other', '--args', '{}']), { code: 2, stderr: /files has no tool other\. `.* tools ls files/ });
  t.match(await on(['tools', 'test', 'files', 'read_file', '--yes', '--args', '[1]']), { code: 2, stderr: /--args must be a JSON object/ });
  t.match(await on(['tools', 'test', 'files', 'read_file', '--yes', '--args', '{']), { code: 2, stderr: /--args must be a JSON object.*line 1, column 2/ });
  t.match(await on(['tools', 'test', 'files', 'read_file', '--yes']), { code: 2, stderr: /required property 'path'/ });
  t.match(await on(['tools', 'test', 'files', '--args', '{}']), { code: 2, stderr: /Name it after the server/ });
  t.strictSame(rig.sessions.called, []);
});

t.test('at a terminal, an entry that is not the approved one is shown before anything is started or signed in to', { skip: noTerminal }, async (t) => {
  const { on, rig, workspace } = await desk(t);
  rig.write({ mcpServers: { files: { command: 'a' } } });
  await rig.approve('files');
  const before = rig.sessions.started.length;
  const asked = async (args: readonly string[], question: RegExp, answer: string, code: number): Promise<void> => {
    const terminal = openTerminal(t, [...args, 'files', '--workspace', workspace]);
    await terminal.shows(question);
    terminal.type(answer);
    terminal.press('Enter');
    await terminal.shows(new RegExp(`ended with ${code}`));
  };
  rig.write({ mcpServers: { files: { command: 'another', args: ['--evil'] } } });
  await asked(['tools', 'test'], /files starts, with your rights: another --evil\s+Start it once, to see its tools\? \[y\/N\]$/m, 'n', 1);
  t.equal(rig.sessions.started.length, before);
  await asked(['tools', 'test'], /Start it once/, 'y', 0);
  t.equal(rig.sessions.started.length, before + 1);
  const oauth = { grant: 'client_credentials', clientId: 'robot', issuer: 'https://evil.example' };
  await rig.servers.setSecret('files', 'client_secret', { value: 'of the issuer before' });
  rig.write({ mcpServers: { files: { url: 'https://evil.example/mcp' } }, blockhouse: { files: { oauth } } });
  await asked(['tools', 'login'], /as robot at https:\/\/evil\.example\s.*Sign in to it\? \[y\/N\]$/ms, 'n', 1);
  t.match(await on(['tools', 'test', 'files']), { stderr: /^(?!.*\[y\/N\])/s }, 'elsewhere nobody is asked');
});
