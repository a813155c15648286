import t from 'tap';
import { nodeNotice } from '../../../cli/serve/node-notice.ts';
import { parseFlags } from '../../../cli/serve/serve-flags.ts';
import { testFolder } from '../../support/test-folder.ts';
import { serve } from '../run.ts';

const at = (day: string): number => Date.parse(`${day}T12:00:00Z`);

t.test('a Node without security fixes is named with the day and with the versions that get them', (t) => {
  t.equal(
    nodeNotice('20.19.0', at('2026-11-27')),
    'Node 20 has had no security fixes since 2026-04-30; Node 22, 24 and 26 do. Blockhouse runs on it all the same. BLOCKHOUSE_NODE_NOTICE=off leaves this line out.',
  );
  t.match(nodeNotice('22.1.0', at('2027-05-01')), /^Node 22 has had no security fixes since 2027-04-30; Node 24 and 26 do\./);
  t.match(nodeNotice('24.1.0', at('2029-01-01')), /; Node 26 does\./);
  t.match(nodeNotice('26.1.0', at('2035-01-01')), /; newer versions do\./);
  for (const version of ['22.23.3', '24.9.0', '26.12.1', '28.0.0']) t.equal(nodeNotice(version, at('2026-11-27')), undefined, version);
  t.equal(nodeNotice('20.19.0', at('2026-04-30')), undefined, 'on the last day');
  t.end();
});

t.test('the server says it once at its start, and not with the variable', async (t) => {
  const known = nodeNotice(process.versions.node, Date.now());
  for (const [env, count] of [
    [{}, known === undefined ? 0 : 1],
    [{ BLOCKHOUSE_NODE_NOTICE: 'off' }, 0],
  ] as const) {
    const { child, ended } = await serve(t, testFolder(t), env);
    child.kill('SIGTERM');
    t.equal((await ended).stderr.split('no security fixes').length - 1, count);
  }
});

t.test('the flags of a server that is a program of its own are those of the command', (t) => {
  t.match(parseFlags(['--port', '0', '--ollama-port', '1', '--allow-remote', '--workers', '2']), {
    port: '0',
    ollamaPort: '1',
    allowRemote: true,
    workers: '2',
  });
  t.throws(() => parseFlags(['--colour']), { kind: 'usage', message: /--colour/ });
  t.end();
});
