// Servers that make tasks of calls: what they are asked, what becomes of the calls, and what servers can do with tasks that they should not.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { overSessions } from '../../../adapters/tools/task-watch.ts';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import type { FullServerSettings } from '../../../adapters/tools/server.ts';
import type { JsonRecord, OpenTask, ToolCallRequest, ToolTask } from '../../../core/index.ts';
import { WHO } from '../../support/tools/task-desk.mjs';
import { sessionsRig, textOf } from '../../support/tools/sessions-rig.ts';
import { until } from '../../support/until.ts';
import { nodeServer } from '../../support/tools/stand-in-book.ts';

await loadSdk();

const SERVER = join(import.meta.dirname, '../../support/tools/task-server.mjs');

interface Options {
  readonly settings?: Partial<FullServerSettings>;
  readonly isReadOnly?: boolean;
  readonly how?: object;
}

/** Calls of one server that makes tasks. */
function tasks(t: Test, { settings = {}, isReadOnly = false, how = {} }: Options = {}) {
  const { sessions, workspace } = sessionsRig(t);
  const at = (name: string): string => join(workspace, name);
  const files = { file: at('tasks.json'), note: at('told'), book: at('effects') };
  const server = nodeServer('bank', [SERVER, JSON.stringify({ ...files, ...how })], { era: 'modern', settingsOf: settings, isReadOnly });
  const recorded: ToolTask[] = [];
  const lines = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []);
  let calls = 0;
  return {
    recorded,
    sessions,
    told: () => lines(files.note),
    effects: () => lines(files.book).length,
    call: (
      tool: string,
      args: JsonRecord = {},
      { signal = new AbortController().signal, ...more }: Partial<ToolCallRequest> & { signal?: AbortSignal } = {},
    ) => {
      calls += 1;
      const request: ToolCallRequest = {
        ...{ block: 'ada', server: 'bank', tool, arguments: args, pin: 'p', timeoutMs: 10_000, maxBytes: 8_388_608, callId: `ada/m/${calls}.1` },
        onTask: async (task) => void recorded.push(task),
        ...more,
      };
      return overSessions(request, signal, (one) => sessions.call(server, one, signal));
    },
  };
}

const unknown = (message: RegExp) => ({ code: 'TOOL_OUTCOME_UNKNOWN', message });

t.test('a task is recorded before it is asked for, and its result is that of the call', async (t) => {
  const { call, told, effects, recorded } = tasks(t);
  let before: readonly string[] = [];
  const onTask = async (task: ToolTask): Promise<void> => {
    await delay(150);
    before = told();
    recorded.push(task);
  };
  t.match(await call('pay', { to: 'bob', pollMs: 100, ttlMs: 60_000 }, { onTask }), { isError: false, parts: [{ text: 'Paid bob.' }] });
  t.strictSame(before, ['tools/call pay io.modelcontextprotocol/tasks']);
  t.strictSame(told(), ['tools/call pay io.modelcontextprotocol/tasks', 'tasks/get task-1']);
  t.strictSame(recorded, [{ taskId: 'task-1', ttlMs: 60_000, pollMs: 100 }]);
  t.equal(effects(), 1);
  t.equal(textOf(await call('pay', { direct: true })), 'at once', 'a server need not make one');
});

t.test('what a task ends with is the outcome: an error of the tool, a failure, a cancellation by the server', async (t) => {
  const { call } = tasks(t);
  t.match(await call('wrong'), { isError: true, parts: [{ text: 'The amount is missing.' }] });
  t.match(await call('failing'), { isError: true, parts: [{ text: 'The server could not finish the call. The bank is closed.' }] });
  t.match(await call('needing'), { isError: true, parts: [{ text: 'The server needs what it does not get here: Missing required client capability' }] });
});

t.test('a task of an earlier session is asked for, and nothing is called', async (t) => {
  const { call, told, effects, recorded } = tasks(t);
  await call('pay', { to: 'bob' });
  const task = { ...(recorded[0] as ToolTask), ageMs: 50_000 } satisfies OpenTask;
  t.equal(textOf(await call('pay', { to: 'bob' }, { task })), 'Paid bob.');
  t.equal(effects(), 1);
  t.equal(told().filter((line) => line.startsWith('tools/call')).length, 1);
});

t.test('what a task asks a person is a question; its answer goes to the task, which is asked for further and not asked twice', async (t) => {
  const { call, recorded, told, effects } = tasks(t);
  t.match(await call('asking'), { kind: 'input-required', requests: { who: WHO } });
  const task: OpenTask = { ...(recorded[0] as ToolTask), ageMs: 50_000_000, pausedMs: 50_000_000 };
  const responses = { who: { action: 'accept', content: { name: 'Ada' } } };
  t.equal(textOf(await call('asking', {}, { task, input: { responses } })), JSON.stringify(responses), 'the time that people took does not count');
  t.ok(told().includes('tasks/update task-1'));
  t.equal(effects(), 1);
});

t.test('a task that is gone, or that its server does not want to be asked for, leaves the call unknown', async (t) => {
  const { call } = tasks(t);
  await t.rejects(call('gone'), unknown(/^bank does not know the task any more\.$/));
  for (const code of [-32_021, -32_003, -32_601]) await t.rejects(call('unspoken', { code }), unknown(/can't be asked for it/), `${code}`);
});

t.test('a question that fails is asked again', async (t) => {
  const { call } = tasks(t);
  t.equal(textOf(await call('stumbling')), 'at last');
});

t.test('a task past its time is unknown, but is asked for once more before', async (t) => {
  const { call, recorded } = tasks(t);
  await t.rejects(call('forever', { ttlMs: 50 }), unknown(/keeps a task for 50 ms/));
  await call('pay', { to: 'bob' });
  const task: OpenTask = { ...(recorded.at(-1) as ToolTask), ttlMs: 1, ageMs: 3_600_000 };
  t.equal(textOf(await call('pay', {}, { task })), 'Paid bob.', 'it has ended meanwhile');
});

t.test('a task that never ends is cancelled at maxCallMs, and what the server says of it is the outcome', async (t) => {
  const { call, told } = tasks(t, { settings: { maxCallMs: 300 } });
  t.match(await call('slow'), { isError: true, parts: [{ text: 'The server has cancelled the call. As you wished.' }] });
  t.ok(told().includes('tasks/cancel task-1'));
  await t.rejects(call('forever'), unknown(/has not ended within \d+ s, and the server does not say what became of it/));
  const reading = tasks(t, { settings: { maxCallMs: 300 }, isReadOnly: true });
  t.match(await reading.call('forever'), { isError: true }, 'a call that only reads has a result');
});

t.test('who cancels a call cancels its task; who stops leaves it', async (t) => {
  const { call, told } = tasks(t);
  /** Ends a call once its task is asked for. */
  const ended = async (reason: string, tool: string, taskId: string) => {
    const ending = new AbortController();
    const outcome = call(tool, {}, { signal: ending.signal });
    outcome.catch(() => undefined); // judged below
    await until('the task is asked for', () => told().includes(`tasks/get ${taskId}`));
    ending.abort(reason);
    return outcome;
  };
  t.match(await ended('cancel', 'slow', 'task-1'), { parts: [{ text: 'The server has cancelled the call. As you wished.' }] });
  t.match(await ended('cancel', 'stubborn', 'task-2'), { isError: false, parts: [{ text: 'It was too late to cancel.' }] });
  await t.rejects(ended('stop', 'slow', 'task-3'), unknown(/^The call was cut off\.$/));
  t.strictSame(
    told().filter((line) => line.startsWith('tasks/cancel')),
    ['tasks/cancel task-1', 'tasks/cancel task-2'],
  );
  const left: OpenTask = { taskId: 'task-3', ttlMs: null, pollMs: 100, ageMs: 10, isCancelled: true };
  t.match(
    await call('slow', {}, { task: left }),
    { parts: [{ text: 'The server has cancelled the call. As you wished.' }] },
    'later, it can be cancelled still',
  );
});

t.test('a server that ends while it has a task is started again, and asked', async (t) => {
  const { call, told, effects } = tasks(t, { how: { exitAfter: 1 } });
  t.equal(textOf(await call('pay', { to: 'bob', workMs: 400 })), 'Paid bob.');
  t.equal(effects(), 1);
  t.ok(told().filter((line) => line === 'tasks/get task-1').length > 1);
});

t.test('times that make no sense do no harm', async (t) => {
  const { call, recorded, told } = tasks(t);
  for (const pollMs of [0, -1, 'soon', null]) t.equal(textOf(await call('odd', { pollMs, workMs: 0 })), 'odd');
  t.strictSame(
    recorded.map(({ pollMs }) => pollMs),
    [1000, 1000, 1000, 1000],
  );
  recorded.length = 0;
  for (const ttlMs of [0, -5, 1e300, 1.5, 'long', {}]) await call('odd', { ttlMs, pollMs: 1, workMs: 0 });
  t.strictSame([...new Set(recorded.map(({ ttlMs, pollMs }) => `${ttlMs} ${pollMs}`))], ['null 100']);
  const stopped = new AbortController();
  recorded.length = 0;
  const onTask = async (task: ToolTask): Promise<void> => {
    recorded.push(task);
    setImmediate(() => stopped.abort('stop'));
  };
  await t.rejects(call('odd', { pollMs: 1e12 }, { signal: stopped.signal, onTask }), unknown(/cut off/));
  t.match(recorded, [{ pollMs: 60_000 }]);
  t.ok(told().length < 40, `${told().length} requests`);
});

t.test('an id that is too long, empty or of another call leaves the call unknown', async (t) => {
  const { call, recorded } = tasks(t);
  for (const length of [0, 1025, 1_000_000]) await t.rejects(call('long', { length }), unknown(/whose id can't be used/), `${length}`);
  t.equal(textOf(await call('long', { length: 1024 })), 'long');
  // Until the task is recorded, both have heard of theirs.
  const onTask = async (task: ToolTask): Promise<void> => {
    recorded.push(task);
    await delay(200);
  };
  const [first, second] = await Promise.allSettled([call('twin', {}, { onTask }), call('twin', {}, { onTask })]);
  t.match(
    [first, second].find(({ status }) => status === 'fulfilled'),
    { value: { parts: [{ text: 'one of two' }] } },
  );
  t.match(
    [first, second].find(({ status }) => status === 'rejected'),
    { reason: unknown(/the id of the task of another call/) },
  );
  t.equal(recorded.length, 2, 'only the first of the two is recorded');
});

t.test('answers that are about another task, or say nothing, end in unknown', async (t) => {
  const { call } = tasks(t);
  for (const tool of ['renamed', 'nonsense']) await t.rejects(call(tool), unknown(/answers about a task with what says nothing of it/), tool);
});

t.test('a result that is too large fails its call alone, and a flood of notes disturbs nothing', async (t) => {
  const { call } = tasks(t, { settings: { maxResultBytes: 100_000 }, how: { flood: 2000 } });
  t.match(await call('big', { bytes: 200_000 }), { isError: true, parts: [{ text: /larger than 100000 bytes/ }] });
  t.equal(textOf(await call('pay', { to: 'bob' })), 'Paid bob.');
});

t.test('what a server says of a task that goes on comes as it is said', async (t) => {
  const { call } = tasks(t);
  const said: unknown[] = [];
  const outcome = await call('pay', { workMs: 300, says: 'Half of\u0007 it' }, { onProgress: (progress) => void said.push(progress) });
  t.match(outcome, { isError: false });
  t.ok(said.length > 0);
  for (const one of said) t.strictSame(one, { isTask: true, message: 'Half of it' });
});
