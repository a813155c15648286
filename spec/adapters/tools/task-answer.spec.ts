// How answers about tasks are read.
import t from 'tap';
import { handable, isTaskResult, readTask, readTaskAnswer } from '../../../adapters/tools/task-answer.ts';

const TASK = { taskId: 'a', ttlMs: null, pollMs: 1000 } as const;

t.test('an answer with a task is handed on as one that the client package takes, and no server can write one like it', async (t) => {
  const { result } = handable({ id: 1, result: { resultType: 'task', taskId: 'a' } });
  t.match(result, { resultType: 'complete', content: [], taskId: 'a' });
  t.ok(isTaskResult({ ...(result as object) }), 'also as a copy');
  const ordinary = { id: 1, result: { resultType: 'complete', content: [], taskId: 'a', task: true } };
  t.equal(handable(ordinary), ordinary);
  t.notOk(isTaskResult(ordinary.result));
  t.notOk(isTaskResult(undefined));
});

t.test('times are kept within bounds, and those that make no sense are as not given', async (t) => {
  const times = (ttlMs: unknown, pollIntervalMs: unknown) => readTask({ taskId: 'a', ttlMs, pollIntervalMs });
  t.strictSame(times(5000, 2000), { taskId: 'a', ttlMs: 5000, pollMs: 2000 });
  t.strictSame(times(null, 1e12), { ...TASK, pollMs: 60_000 });
  t.strictSame(times('x', 0.001), { ...TASK, pollMs: 100 });
  for (const poll of [0, -1, Number.NaN, '5', undefined]) t.strictSame(times(-1, poll), TASK);
});

t.test('an id is a text that a header takes', async (t) => {
  for (const taskId of ['', 'x'.repeat(1025), 'a\u0000b', 5, null, undefined]) t.equal(readTask({ taskId }), undefined);
});

t.test('each status is one kind of answer, with the words of the server cut and cleaned', async (t) => {
  const read = (answer: object) => readTaskAnswer({ taskId: 'a', ...answer }, TASK);
  t.strictSame(read({ status: 'working', pollIntervalMs: 3000, ttlMs: 9000 }), { kind: 'working', task: { taskId: 'a', ttlMs: 9000, pollMs: 3000 } });
  t.strictSame(read({ status: 'working' }), { kind: 'working', task: TASK });
  t.strictSame(read({ status: 'completed', result: { content: [{ type: 'text', text: 'done' }] } }), {
    kind: 'ended',
    result: { isError: false, parts: [{ type: 'text', text: 'done' }] },
  });
  t.match(read({ status: 'completed' }), { kind: 'ended', result: { isError: true } });
  const said = (answer: object) => (read(answer) as unknown as { result: { parts: { text: string }[] } }).result.parts[0]?.text;
  t.equal(said({ status: 'failed', error: { code: -1, message: 'No\u0007.' } }), 'The server could not finish the call. No.');
  t.equal(said({ status: 'failed', statusMessage: 'No disk.' }), 'The server could not finish the call. No disk.');
  t.ok((said({ status: 'cancelled', statusMessage: 'y'.repeat(1_000_000) }) ?? '').length < 600);
  const cut = `${'No disk. '.repeat(55)}sk-${'1'.repeat(40)}`;
  for (const answer of [
    { status: 'failed', error: { message: cut } },
    { status: 'failed', statusMessage: cut },
    { status: 'working', statusMessage: cut },
  ])
    t.notMatch(JSON.stringify(read(answer)), 'sk-', 'a word is cut off whole: half of a secret is not found, and so not masked');
  t.strictSame(read({ status: 'input_required' }), { kind: 'asking', requests: {} });
  t.strictSame(read({ status: 'input_required', inputRequests: { who: {} } }), { kind: 'asking', requests: { who: {} } });
  for (const answer of [{ status: 'over' }, { taskId: 'b', status: 'completed' }, {}]) t.strictSame(read(answer), { kind: 'unreadable' });
  t.strictSame(readTaskAnswer('completed', TASK), { kind: 'unreadable' });
});
