// Processes that do not want to end.
import t from 'tap';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import { runs, sessionsRig } from '../../support/tools/sessions-rig.ts';
import { until } from '../../support/until.ts';

await loadSdk();

t.test('halt ends all calls, and a server that is deaf to all, with what it has started, within three seconds', async (t) => {
  const { hostile, call, sessions, pids, told } = sessionsRig(t);
  const server = hostile({ deaf: true, atStart: 'grandchild' });
  const running = call(server, 'hang');
  await until('both run', () => pids().length === 2);
  await call(server, 'echo');
  const from = performance.now();
  const [, halted] = await Promise.all([
    t.rejects(running, { code: 'TOOL_OUTCOME_UNKNOWN', message: 'The call was cut off.' }),
    sessions.halt().then(() => performance.now()),
  ]);
  t.strictSame(pids().filter(runs), []);
  t.ok(halted - from < 10_000, `${halted - from} ms`);
  t.match(
    told(),
    ['started', 'started'].map((word) => new RegExp(word)),
  );
  t.ok(told().includes('cancelled') && told().includes('SIGTERM'));
  t.equal((await call(server, 'echo')).isError, false, 'afterwards calls are made again');
});

t.test(
  'what a server has started outside of its group ends with it',
  { skip: process.platform !== 'linux' && 'what left its group is found on Linux alone' },
  async (t) => {
    const { hostile, call, sessions, pids } = sessionsRig(t);
    await call(hostile({ atStart: 'detached' }), 'echo');
    await until('both run', () => pids().length === 2);
    const [, started = 0] = pids();
    t.teardown(() => runs(started) && process.kill(started, 'SIGKILL'));
    await sessions.halt();
    await until('the system has ended it, too', () => !runs(started)); // a killed process is there for a moment
  },
);
