import t from 'tap';
import { openDesk, openDeskOfProcess, runHere } from '../run.ts';

t.test('status shows the server, and stop ends it; without one both end with 6', async (t) => {
  const { on, server, workspace } = await openDeskOfProcess(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  const { pid } = server.child;
  t.match(JSON.parse((await on(['status', '--json'])).stdout), {
    running: true,
    workspace,
    url: server.url,
    pid,
    blocks: 1,
    monitorsRunning: 1,
    halted: false,
    approvals: 0,
  });
  await on(['halt']);
  t.match(
    (await on(['status'])).stdout,
    new RegExp(`^server +${server.url}, version .*\\nprocess +${pid}, started .*\\n(?:.*\\n)*blocks +1, 1 monitor running\\nhalted +.*unhalt`),
  );
  t.match(await on(['stop']), { code: 0, stdout: '', stderr: `Stopped the server of ${workspace} (process ${pid}).\n` });
  t.equal((await server.ended).code, 0);
  t.match(await on(['status']), { code: 6, stdout: '', stderr: /^No server is running for the workspace .*; `.* serve .*` starts one\.\n$/ });
  t.match(JSON.parse((await on(['status', '--json'])).stdout), { running: false, workspace });
  t.match(await on(['stop', '--json']), { code: 6, stderr: /^No server is running/ });
  t.match(await runHere(t, ['status', '--workspace', `${workspace}/none`]), { code: 6 });
});

t.test('stop with a name or --all leaves the server alone', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  t.equal((await on(['stop', 'one'])).code, 0);
  t.equal((await on(['stop', '--all'])).code, 0);
  t.equal((await on(['status'])).code, 0);
});
