import { writeFileSync } from 'node:fs';
import t from 'tap';
import { toolDesk as desk } from '../../support/tools/tool-desk.ts';

t.test('case 51: servers of another program are imported and held, with their secrets in auth.json, and nothing is started', async (t) => {
  const { on, rig, workspace } = await desk(t);
  const file = `${workspace}/theirs.json`;
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: {
        'My Notes': { command: 'npx', args: ['-y', 'notes@1.2.3'], env: { NOTES_TOKEN: 'hunter2hunter2' } },
        bad: { type: 'sse', url: 'https://a.example/sse' },
      },
    }),
  );
  const imported = await on(['tools', 'import', file]);
  t.match(imported, {
    code: 0,
    stderr: /My-Notes is imported, and held\.\n.*became My-Notes\n.*moved to auth\.json as My-Notes\.NOTES_TOKEN\nnot imported: .*sse is not spoken/s,
  });
  t.notMatch(imported.stderr + imported.stdout, /hunter2/);
  t.match(rig.read('mcp.json'), { mcpServers: { 'My-Notes': { env: { NOTES_TOKEN: '${auth:My-Notes.NOTES_TOKEN}' } } } });
  t.match(rig.read('auth.json'), { mcp: { 'My-Notes': { NOTES_TOKEN: 'hunter2hunter2' } } });
  t.match(await rig.servers.list(), [{ name: 'My-Notes', state: 'held' }]);
  t.strictSame(rig.sessions.started, []);
  t.match(await on(['tools', 'import', file]), { code: 1, stderr: /My-Notes is there already; add --replace/ });
  t.match(JSON.parse((await on(['tools', 'import', file, '--replace', '--json'])).stdout), { imported: ['My-Notes'], skipped: [/sse/] });
  t.match(await on(['tools', 'import', `${workspace}/none.json`]), { code: 2, stderr: /is not there/ });
});
