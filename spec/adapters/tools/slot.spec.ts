// When a server is started again, and when it is stopped.
import t from 'tap';
import { Places } from '../../../adapters/tools/places.ts';
import type { RunningServer } from '../../../adapters/tools/running-server.ts';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import { Slot } from '../../../adapters/tools/slot.ts';
import { runs, sessionsRig } from '../../support/tools/sessions-rig.ts';
import { nodeServer } from '../../support/tools/stand-in-book.ts';
import { until } from '../../support/until.ts';

await loadSdk();

t.test('after five exits it is failed, until it is looked at again', async (t) => {
  const clock = { ms: 0 };
  const { hostile, call, sessions, pids } = sessionsRig(t, { now: () => clock.ms });
  const server = hostile();
  for (let exits = 1; exits <= 5; exits += 1) {
    await t.rejects(call(server, 'exit'), { code: 'TOOL_OUTCOME_UNKNOWN', message: 'hostile ended with code 1: Something is wrong.' });
    await until('the exit is noted', () => sessions.stateOf('hostile').state !== 'stopping' && sessions.stateOf('hostile').problem !== undefined);
    clock.ms += 1000;
  }
  t.match(sessions.stateOf('hostile'), { state: 'failed', problem: 'hostile ended with code 1: Something is wrong.' });
  await t.rejects(call(server, 'echo'), { code: 'TOOL_NOT_BEGUN', message: /has ended 5 times within ten minutes\. hostile ended with code 1/ });
  t.equal(pids().length, 5, 'it is not started');
  await sessions.look({ ...server, era: undefined }, new AbortController().signal);
  t.equal((await call(server, 'echo')).isError, false);
  for (let exits = 1; exits <= 5; exits += 1) {
    await t.rejects(call(server, 'exit'), { code: 'TOOL_OUTCOME_UNKNOWN' });
    await until('the exit is noted', () => sessions.stateOf('hostile').state !== 'ready' && sessions.stateOf('hostile').state !== 'stopping');
    clock.ms += 1000;
  }
  clock.ms += 600_000;
  t.equal((await call(server, 'echo')).isError, false, 'and after ten minutes');
});

t.test('calls beyond the concurrency of a server wait, in their order', async (t) => {
  const { hostile, call, told } = sessionsRig(t);
  const server = hostile({}, { concurrency: 2 });
  await Promise.all(['a', 'b', 'c', 'd'].map((text) => call(server, 'echo', { text, delayMs: 50 })));
  let most = 0;
  let now = 0;
  for (const line of told()) {
    now += line.startsWith('begins') ? 1 : line.startsWith('ends') ? -1 : 0;
    most = Math.max(most, now);
  }
  t.equal(most, 2);
  t.strictSame(
    told().flatMap((line) => (line.startsWith('begins') ? [line.at(-1)] : [])),
    ['a', 'b', 'c', 'd'],
  );
});

t.test('an idle server is stopped', async (t) => {
  const { hostile, call, sessions, pids } = sessionsRig(t);
  const server = hostile({}, { idleStopMs: 50 });
  const facts: string[] = [];
  sessions.onServer((fact) => facts.push(fact.kind === 'exited' ? `${fact.server} ${fact.reason}` : `${fact.server} ${fact.kind}`));
  await call(server, 'echo');
  await until('it is stopped', () => sessions.stateOf('hostile').state === 'idle');
  t.strictSame(pids().filter(runs), []);
  t.equal(sessions.stateOf('hostile').problem, undefined, 'which is no fault');
  t.strictSame(facts, ['hostile started', 'hostile ended with code 0']);
  t.equal((await call(server, 'echo')).isError, false);
});

t.test('a server whose calls are cut off while it starts is idle then: it makes room for others, and is stopped', async (t) => {
  let ends = 0;
  const running: RunningServer = {
    hasEnded: false,
    ended: new Promise(() => undefined),
    onTools: undefined,
    call: () => Promise.reject(new Error('nobody calls it')),
    list: async () => [],
    end: async () => {
      ends += 1;
    },
  };
  const starts: ((one: RunningServer) => void)[] = [];
  const parts = {
    places: new Places(1),
    backOffMs: 1,
    now: () => performance.now(),
    start: () => new Promise<RunningServer>((resolve) => starts.push(resolve)),
    list: async () => [],
    onTools: () => undefined,
    onServer: () => undefined,
  };
  const startCut = async (name: string, idleStopMs: number): Promise<Slot> => {
    const server = nodeServer(name, [], { settingsOf: { idleStopMs } });
    const slot = new Slot(server, parts);
    const own = new AbortController();
    const before = starts.length;
    const cut = t.rejects(slot.call(server, {} as never, own.signal), { code: 'TOOL_NOT_BEGUN' });
    await until('it starts', () => starts.length > before);
    own.abort(new Error('the message is cancelled'));
    await cut;
    starts.at(-1)?.(running);
    return slot;
  };
  const first = await startCut('first', 60_000);
  await until('it runs', () => first.state.state === 'ready');
  await startCut('second', 1);
  t.equal(first.state.state, 'idle', 'it has made room');
  await until('the second is stopped', () => ends === 2);
});
