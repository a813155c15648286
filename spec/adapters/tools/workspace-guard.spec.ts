import t from 'tap';
import { folderOf, workspaceFault } from '../../../adapters/tools/workspace-guard.ts';

t.test('a text that names the workspace says where it stands; a bare word and the own folder of a server do not', async (t) => {
  const workspace = t.testdir({ tools: { files: {} } });
  const faultOf = (text: string) => workspaceFault(workspace, 'files', [['args[3]', text]]);
  t.equal(folderOf('/ws', 'files'), '/ws/tools/files');
  t.match(await faultOf(workspace), /^args\[3\] is the workspace, where .*; give it another folder$/);
  t.match(await faultOf(`a,b:${workspace}/auth.json`), /is in the workspace/);
  t.match(await faultOf('..'), /is in the workspace/, 'the folders of other servers');
  t.match(await faultOf('~/../..'), /is a folder above the workspace/);
  for (const text of ['', 'tools', '.', './x', 'a\0b', `${workspace}x`, 'file://%00', '--flag=', '@scope/name']) t.equal(await faultOf(text), undefined, text);
});
