// Servers that do what they should not. None of them leaves a process behind.
import t from 'tap';
import { DISCOVER_MS, MODERN } from '../../../adapters/tools/era.ts';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import { runs, sessionsRig, textOf } from '../../support/tools/sessions-rig.ts';
import { until } from '../../support/until.ts';

await loadSdk();

t.test('a call is answered in both eras, with its id, and the process stays for the next one', async (t) => {
  for (const era of ['legacy', 'modern'] as const) {
    const { hostile, call, sessions, pids, told } = sessionsRig(t);
    const server = hostile({ era });
    t.match(await call(server, 'echo', { text: 'one' }), { kind: 'result', isError: false, parts: [{ type: 'text', text: 'one' }] }, era);
    t.match(textOf(await call(server, 'meta', {}, { callId: 'ada/m1/1.1' })), '"dev.blockhouse/callId":"ada/m1/1.1"', era);
    t.equal(pids().length, 1, era);
    t.equal(sessions.stateOf('hostile').state, 'ready');
    await sessions.close();
    t.ok(told().includes('end of input'));
    t.notOk(runs(pids()[0] ?? 0));
    await t.rejects(call(server, 'echo'), { code: 'TOOL_NOT_BEGUN' });
  }
});

t.test('the era is found on processes that end afterwards, and tools are listed', async (t) => {
  for (const [era, starts] of [
    ['legacy', 2],
    ['modern', 1],
  ] as const) {
    const { hostile, sessions, pids, call } = sessionsRig(t);
    const server = hostile({ era }, {}, { era: undefined });
    const seen = await sessions.look(server, new AbortController().signal);
    t.equal(seen.era, era, `${MODERN} is asked for, for ${DISCOVER_MS} ms`);
    t.match(seen.tools[0], { name: 'echo', description: 'The tool echo.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
    t.equal(pids().length, starts, era);
    t.strictSame(pids().filter(runs), []);
    t.equal(textOf(await call(server, 'echo', { text: 'found' })), 'found', 'and is used for calls');
    t.equal(pids().length, starts + 1);
  }
});

t.test('a server that does not start fails the call before it has begun, with its last words', async (t) => {
  const { hostile, call, sessions, pids } = sessionsRig(t);
  await t.rejects(call(hostile({ atStart: 'exit' }), 'echo'), {
    code: 'TOOL_NOT_BEGUN',
    message: 'hostile did not start: ended with code 3: No settings file was found.',
  });
  t.match(sessions.stateOf('hostile'), { state: 'idle', problem: /No settings file/ });
  const missing = { ...hostile(), definition: 'another', start: { kind: 'stdio', command: '/nowhere/server', args: [], env: {} } } as const;
  await t.rejects(call(missing, 'echo'), { code: 'TOOL_NOT_BEGUN', message: 'hostile did not start: there is no command /nowhere/server.' });
  const silent = hostile({ atStart: 'silent' }, { startTimeoutMs: 300 }, { definition: 'third' });
  await t.rejects(call(silent, 'echo'), { code: 'TOOL_NOT_BEGUN', message: /^hostile did not start: it did not answer within/ });
  t.strictSame(pids().filter(runs), []);
});

t.test(
  'a call that takes too long is a result where the tool only reads, and unknown elsewhere; the server is asked to cancel it, and its late answer is dropped',
  async (t) => {
    const { hostile, call, told, pids } = sessionsRig(t);
    const server = hostile();
    await t.rejects(call(server, 'late', { delayMs: 400 }, { timeoutMs: 100 }), { code: 'TOOL_OUTCOME_UNKNOWN', message: /^hostile did not answer within/ });
    await until('it is told to the server', () => told().includes('cancelled'));
    const { isError, parts } = await call({ ...server, isReadOnly: true }, 'late', { delayMs: 400 }, { timeoutMs: 100 });
    t.match({ isError, parts }, { isError: true, parts: [{ text: /^hostile did not answer within/ }] });
    t.equal(textOf(await call(server, 'late', { delayMs: 600 })), 'late', 'the answer to the right call');
    t.equal(pids().length, 1);
  },
);

t.test('one process for all blocks, or one for each', async (t) => {
  const { hostile, call, pids } = sessionsRig(t);
  const shared = hostile();
  await Promise.all(['ada', 'bob'].map((block) => call(shared, 'echo', {}, { block })));
  t.equal(pids().length, 1);
  const own = hostile({}, { share: 'block' }, { name: 'own' });
  await Promise.all(['ada', 'bob', 'ada'].map((block) => call(own, 'echo', {}, { block })));
  t.equal(pids().length, 3);
});

t.test('the server that has been idle for longest makes room, and one that works is waited for', async (t) => {
  const { hostile, call, sessions } = sessionsRig(t, { maxProcesses: 2 });
  const named = (name: string) => ({ ...hostile(), name });
  await call(named('first'), 'echo');
  await call(named('second'), 'echo');
  await call(named('third'), 'echo');
  t.strictSame(
    ['first', 'second', 'third'].map((name) => sessions.stateOf(name).state),
    ['idle', 'ready', 'ready'],
  );
  const working = [call(named('second'), 'echo', { text: 'w', delayMs: 300 }), call(named('third'), 'echo', { text: 'w', delayMs: 600 })];
  t.equal(textOf(await call(named('first'), 'echo', { text: 'waited' })), 'waited');
  t.equal(sessions.stateOf('second').state, 'idle');
  await Promise.all(working);
});

t.test('another definition ends the old process', async (t) => {
  const { hostile, call, pids } = sessionsRig(t);
  await call(hostile(), 'echo');
  await call(hostile({}, {}, { definition: 'another' }), 'echo');
  await until('the old one is gone', () => pids().filter(runs).length === 1);
  t.equal(pids().length, 2);
});
