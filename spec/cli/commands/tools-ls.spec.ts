import t from 'tap';
import { toolDesk as desk } from '../../support/tools/tool-desk.ts';
import { readFileTool } from '../../support/tools/fake-sessions.ts';

t.test('the tools of a block stand with their rules, and a server goes before a block of the same name', async (t) => {
  const { on, rig } = await desk(t);
  rig.sessions.lists.set('files', [readFileTool(), readFileTool({ name: 'write_file', annotations: undefined })]);
  rig.write({ mcpServers: { files: { command: 'a' } }, blockhouse: { files: { marks: { readOnly: ['*'], closedWorld: ['*'] } } } });
  await rig.approve('files');
  for (const name of ['ada', 'files', 'plain']) await on(['new', name]);
  const tools = { servers: ['files', 'gone'], allow: ['files/read_*', { tool: 'files/write_file', where: { path: '~/out/**' } }] };
  t.match(await on(['config', 'set', 'ada', `tools=${JSON.stringify(tools)}`]), { code: 0 });
  const shown = await on(['tools', 'ls', 'ada']);
  t.match(shown, { code: 0, stderr: /^gone: There is no server gone in mcp\.json\.\n$/ });
  t.match(shown.stdout, /^TOOL +STATE +RULE +MARKS +TOKENS +CALLS TODAY\nfiles\/read_file +approved +allow \(files\/read_\*\) +readOnly closedWorld +\d+ +0\n/);
  t.match(shown.stdout, /\nfiles\/write_file +approved +ask, some allowed \(default\) +- +\d+ +0\n$/);
  t.match((await on(['tools', 'ls', 'files'])).stdout, /^TOOL +STATE +MARKS /, 'the server');
  t.match(await on(['tools', 'ls', '--block', 'files']), { code: 0, stdout: '', stderr: /^The block files has no tools\. For example: `.* config set files / });
  t.match(JSON.parse((await on(['tools', 'ls', 'ada', '--json'])).stdout), {
    servers: [{ name: 'files' }, { name: 'gone', state: 'failed' }],
    tools: [{ rule: 'allow' }, {}],
  });
  t.match(await on(['tools', 'ls', 'nobody']), { code: 2, stderr: /no server of tools named "nobody"/ });
  t.match(await on(['tools', 'ls', 'files', '--block', 'ada']), { code: 2, stderr: /either a name or --block/ });
});

t.test('of a server that was never started nobody says how many tools it has', async (t) => {
  const { on, rig } = await desk(t);
  rig.write({ mcpServers: { files: { command: 'a' } } });
  t.match(await on(['tools', 'ls']), { code: 0, stdout: /\nfiles +held +- +- +- +a\n$/ });
  t.match(await on(['tools', 'ls', 'files']), { code: 0, stdout: '', stderr: /^files: It is not approved.*\nThe tools of files are not known yet\.\n$/ });
  const { definition } = await rig.servers.get('files');
  await rig.servers.approve('files', { definition, tools: {} }, 'cli');
  t.match((await on(['tools', 'ls', 'files'])).stderr, /^The tools of files are not known yet\. `.* tools test files .*` starts it once and lists them\.\n$/);
  rig.sessions.lists.set('files', []);
  await rig.approve('files');
  t.match(await on(['tools', 'ls']), { stdout: /\nfiles +idle +0 +0 +0 +a\n$/ });
  t.match(await on(['tools', 'ls', 'files']), { stdout: '', stderr: 'files has no tools.\n' });
});
