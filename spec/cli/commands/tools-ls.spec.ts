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
