// Runs whose calls are tasks of their server: what is recorded, when a task is asked for again, and what ends it.
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { cancelTasks } from '../../../../../core/block/reply/run/cancel-tasks.ts';
import { RunJournal } from '../../../../../core/block/reply/run/run-journal.ts';
import { BlockhouseError } from '../../../../../core/errors.ts';
import type { Conversation } from '../../../../../core/store/port.ts';
import type { ToolCallRequest, ToolHost, ToolOutcome } from '../../../../../core/tools/port.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { AT, answerRecord, callRecord, modelRecord, resultRecord, runRecord } from '../../../../support/tools/records.ts';
import { crashedIn, kindsOf, pay, type ToolCoreOptions, toolCore } from '../../../../support/tools/tool-core.ts';
import type { Said, Seen } from '../../../../support/tools/tool-model.ts';
import { until } from '../../../../support/until.ts';
import { withoutGrace } from '../../../../support/without-grace.ts';

t.setTimeout(120_000);

const TASK = { taskId: 'k1', ttlMs: null, pollMs: 100 } as const;
const said = (text: string): ToolOutcome => ({ kind: 'result', isError: false, parts: [{ type: 'text', text }], ms: 1 });
const taskRecord = (call = '1.1', at = AT): RunRecord => ({ t: 'task', call, at, ...TASK });

/** A core before a host that makes a task of each call, which ends when `end` says so. */
async function taskCore(t: Test, end: (call: ToolCallRequest) => Promise<ToolOutcome>, more: Partial<ToolCoreOptions> = {}) {
  const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [pay('bob')] : results.join('|')), ...more });
  const calls: ToolCallRequest[] = [];
  /** Those whose tasks are recorded. */
  const begun: ToolCallRequest[] = [];
  const reasons: unknown[] = [];
  one.host.call = async (call, signal) => {
    calls.push(call);
    const cut = new Promise<ToolOutcome>((resolve, reject) => {
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason);
        if (signal.reason === 'cancel') resolve(said('The server has cancelled the call.'));
        else reject(new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'cut off'));
      });
    });
    cut.catch(() => undefined); // it may be cut off before its task is recorded
    if (call.task === undefined) await call.onTask?.(TASK);
    begun.push(call);
    return Promise.race([cut, end(call)]);
  };
  return Object.assign(one, { calls, begun, reasons });
}

const never = (): Promise<ToolOutcome> => new Promise(() => undefined);
const inTask = (one: { readonly begun: readonly unknown[] }, count = 1): Promise<void> => until('it is called', () => one.begun.length >= count);

t.test('a stop leaves a task, and the next start asks for it: one call, one result', async (t) => {
  const one = await taskCore(t, (call) => (call.task === undefined ? never() : Promise.resolve(said('Paid.'))));
  const id = await one.post('Pay bob.');
  await inTask(one);
  withoutGrace(t);
  await one.blocks.stop('ada');
  t.strictSame(one.reasons, ['stop']);
  t.strictSame(kindsOf(await one.records(id)).slice(-2), ['call 1.1', 'task 1.1']);
  await one.blocks.start('ada');
  await one.outcome(id);
  t.match(await one.answerTo(id), { content: 'Paid.', steps: [{ outcome: 'done' }] });
  t.match(one.calls, [{ task: undefined }, { task: { ...TASK, ageMs: Number }, callId: `ada/${id}/1.1` }]);
});

t.test('a message that is cancelled in a task ends as the server says, and the entry names the call', async (t) => {
  const one = await taskCore(t, never);
  const id = await one.post('Pay bob.');
  await inTask(one);
  await one.blocks.cancel('ada', id);
  t.equal((await one.outcome(id)).status, 'cancelled');
  t.strictSame(one.reasons, ['cancel']);
  t.match(await one.answerTo(id), { steps: [{ outcome: 'done', preview: 'The server has cancelled the call.' }] });
});

t.test('the kill switch cancels a task; after the release it is asked for, and not called again', async (t) => {
  const gone = async (call: ToolCallRequest): Promise<ToolOutcome> => (call.task === undefined ? never() : said('It was cancelled.'));
  const one = await taskCore(t, gone);
  const { call } = one.host;
  one.host.call = async (request, signal) => {
    const { kind } = await call(request, signal);
    if (request.task === undefined) throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', `bank has ended after ${kind}`); // the host is halted, too
    return said('It was cancelled.');
  };
  const id = await one.post('Pay bob.');
  await inTask(one);
  await one.blocks.halt();
  await one.inState('ada', 'paused');
  t.strictSame(one.reasons, ['cancel']);
  await one.blocks.unhalt();
  await one.outcome(id);
  t.match(await one.answerTo(id), { content: 'It was cancelled.', steps: [{ outcome: 'done' }] });
  t.equal(kindsOf(await one.records(id)).filter((kind) => kind === 'call 1.1').length, 1);
});

t.test('a crash: the task in the journal is asked for; one that is gone is unknown, or called again where that is harmless', async (t) => {
  const begun = [runRecord(), modelRecord(1), answerRecord(1, [pay('bob')]), callRecord('1.1'), taskRecord()];
  const kept = await taskCore(t, async () => said('Paid.'), { files: crashedIn(begun) });
  await kept.blocks.start('ada');
  await kept.outcome('m1');
  t.match(kept.calls, [{ task: TASK }]);
  t.ok((kept.calls[0]?.task?.ageMs ?? 0) > 0);
  await t.test('gone', async (t) => {
    const gone = async (): Promise<never> => {
      throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'bank does not know the task any more.');
    };
    const lost = await taskCore(t, gone, { files: crashedIn(begun) });
    await lost.blocks.start('ada');
    await lost.outcome('m1');
    t.match(await lost.answerTo('m1'), {
      content: /is not known: bank does not know the task any more\. It may have taken effect/,
      steps: [{ outcome: 'unknown' }],
    });
    t.equal(lost.calls.length, 1);
  });
  await t.test('not to be reached', async (t) => {
    const lost = await taskCore(t, async () => Promise.reject(new BlockhouseError('TOOL_NOT_BEGUN', 'bank is held.')), { files: crashedIn(begun) });
    await lost.blocks.start('ada');
    await lost.outcome('m1');
    t.match(await lost.answerTo('m1'), { steps: [{ outcome: 'unknown' }] }, 'it is no refusal: the call was made');
  });
  await t.test('harmless', async (t) => {
    const list = [runRecord(), modelRecord(1), answerRecord(1, [{ name: 'bank__list', arguments: {} }]), callRecord('1.1', 'list'), taskRecord()];
    const again = await taskCore(
      t,
      async (call) => (call.task === undefined ? said('None.') : Promise.reject(new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'gone'))),
      { files: crashedIn(list) },
    );
    await again.blocks.start('ada');
    await again.outcome('m1');
    t.match(again.calls, [{ task: TASK }, { task: undefined }]);
    t.match(await again.records('m1'), { length: Number });
    t.match(kindsOf(await again.records('m1')), ['run', 'model', 'answer', 'call 1.1', 'task 1.1', 'resume', 'call 1.1', 'task 1.1', 'result 1.1']);
  });
});

t.test('a message that is cancelled while nobody answers it: its tasks are cancelled at their servers', async (t) => {
  const begun = [runRecord(), modelRecord(1), answerRecord(1, [pay('bob'), pay('eve'), pay('ann')]), callRecord('1.1'), callRecord('1.2'), callRecord('1.3')];
  const records: RunRecord[] = [...begun, taskRecord('1.1'), taskRecord('1.2'), resultRecord('1.2')];
  const conversation = {
    steps: async () => records,
    appendSteps: async (_claim: unknown, _id: string, _from: number, added: RunRecord[]) => void records.push(...added),
  } as unknown as Conversation;
  const journal = await RunJournal.open({ conversation, claim: undefined, messageId: 'm1' });
  const asked: ToolCallRequest[] = [];
  const host = (call: ToolHost['call']) => ({
    call: (request: ToolCallRequest, signal: AbortSignal) => {
      asked.push(request);
      return call(request, signal);
    },
  });
  const options = { block: 'ada', messageId: 'm1', journal, at: () => AT };
  await cancelTasks({ ...options, host: host(async () => Promise.reject(new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'no'))) });
  t.match(asked, [{ server: 'bank', tool: 'pay', pin: 'pin-of-pay', callId: 'ada/m1/1.1', task: { ...TASK, ageMs: 0, isCancelled: true } }]);
  t.match(records.at(-1), { t: 'cancel', call: '1.1' }, 'it is on the disk before the server hears of it');
  t.equal(journal.state.callAt('1.1')?.outcome, undefined, 'the end of the run says it');
  await cancelTasks({ ...options, host: host(async () => said('The server has cancelled the call.')) });
  t.match(journal.state.callAt('1.1')?.outcome, { t: 'result', text: 'The server has cancelled the call.', open: true });
  t.equal(journal.state.callAt('1.3')?.outcome, undefined);
});

/** A server that was killed in a task, again and again, so that the next start gives the message up. */
const GIVEN_UP = { attempts: 12 };
const BEGUN = [runRecord(), modelRecord(1), answerRecord(1, [pay('bob')]), callRecord('1.1'), taskRecord()];

t.test('a message that fails with a task: its server is asked to cancel it, and what it says is the outcome', async (t) => {
  const one = await taskCore(t, async (call) => said(call.task?.isCancelled ? 'The server has cancelled the call.' : 'Paid.'), {
    files: crashedIn(BEGUN, undefined, GIVEN_UP),
  });
  await one.blocks.start('ada');
  t.match(await one.outcome('m1'), { status: 'failed', error: { code: 'CRASHED' } });
  t.match(one.calls, [{ callId: 'ada/m1/1.1', task: { ...TASK, isCancelled: true } }]);
  t.strictSame(kindsOf(await one.records('m1')).slice(4), ['task 1.1', 'cancel 1.1', 'result 1.1', 'end']);
  t.match(await one.answerTo('m1'), { content: /bank\/pay .* ran/, steps: [{ outcome: 'done', preview: 'The server has cancelled the call.' }] });
});

t.test('a server that is away, or that says nothing: the message has failed all the same, and its entry says that the task may go on', async (t) => {
  const away = async (): Promise<never> => Promise.reject(new BlockhouseError('TOOL_NOT_BEGUN', 'bank did not start.'));
  const one = await taskCore(t, away, { files: crashedIn(BEGUN, undefined, GIVEN_UP) });
  await one.blocks.start('ada');
  t.match(await one.outcome('m1'), { status: 'failed' });
  const why = 'the message has failed, and its task may go on, because its server could not be asked to cancel it: bank did not start';
  t.match((await one.records('m1')).slice(-2), [{ t: 'unknown', call: '1.1', why }, { t: 'end' }]);
  t.match(await one.answerTo('m1'), { content: /bank\/pay .* may have run/, steps: [{ outcome: 'unknown', preview: why }] });
  await t.test('deaf', async (t) => {
    const deaf = async (): Promise<never> => Promise.reject(new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'The server does not say what became of it.'));
    const other = await taskCore(t, deaf, { files: crashedIn(BEGUN, undefined, GIVEN_UP) });
    await other.blocks.start('ada');
    t.match(await other.outcome('m1'), { status: 'failed' });
    t.match((await other.records('m1')).at(-2), { t: 'unknown', why: /does not say what became of it/ });
    t.equal(other.calls.length, 1, 'it is asked once');
  });
});

t.test('a crash after a task was to be cancelled: the next start cancels it, and does not wait for it', async (t) => {
  const one = await taskCore(t, async (call) => said(call.task?.isCancelled ? 'It was cancelled.' : 'Paid.'), {
    files: crashedIn([...BEGUN, { t: 'cancel', call: '1.1', at: AT }]),
  });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.match(one.calls, [{ task: { ...TASK, isCancelled: true } }]);
  t.match(await one.answerTo('m1'), { content: 'It was cancelled.' });
});

t.test('a block that goes into the archive: its tasks are cancelled, and after a restore the message goes on with what their server has said', async (t) => {
  let hasAnswered = false;
  const slowly = async (): Promise<ToolOutcome> => {
    await delay(20);
    hasAnswered = true;
    return said('It was cancelled.');
  };
  const one = await taskCore(t, (call) => (call.task?.isCancelled ? slowly() : never()));
  const id = await one.post('Pay bob.');
  await inTask(one);
  withoutGrace(t);
  const { archiveName } = await one.blocks.archive('ada');
  t.match(one.calls, [{ task: undefined }, { task: { isCancelled: true } }]);
  t.ok(hasAnswered, 'before the block has moved');
  await one.blocks.restore(archiveName);
  await one.blocks.start('ada');
  await one.outcome(id);
  t.match(await one.answerTo(id), { content: 'It was cancelled.' });
  t.equal(one.calls.length, 2, 'nothing is asked again');
  t.strictSame(kindsOf(await one.records(id)).slice(3, 7), ['call 1.1', 'task 1.1', 'cancel 1.1', 'result 1.1']);
});

t.test('a block that gets another name keeps its tasks', async (t) => {
  const one = await taskCore(t, (call) => (call.task === undefined ? never() : Promise.resolve(said(call.task.isCancelled ? 'It was cancelled.' : 'Paid.'))));
  const id = await one.post('Pay bob.');
  await inTask(one);
  withoutGrace(t);
  await one.blocks.rename('ada', { name: 'eve' });
  for (let tries = 0; tries < 500 && !(await one.blocks.history('eve')).some(({ replyTo }) => replyTo === id); tries += 1) await delay(20);
  t.match((await one.blocks.history('eve')).at(-1), { content: 'Paid.' });
});

const takenAway = (call: ToolCallRequest): Promise<ToolOutcome> => (call.task?.isCancelled ? Promise.resolve(said('It was cancelled.')) : never());
const CANNOT = { say: ({ results }: Seen): Said => (results.length === 0 ? [pay('bob')] : 'I could not pay.') };

t.test('a block that loses all its tools while a task runs: the task is cancelled, and the run goes on with what its server says', async (t) => {
  const one = await taskCore(t, takenAway, CANNOT);
  const id = await one.post('Pay bob.');
  await inTask(one);
  withoutGrace(t);
  await one.blocks.stop('ada');
  await one.blocks.updateConfig('ada', { tools: null });
  await one.blocks.start('ada');
  t.equal((await one.outcome(id)).status, 'done');
  t.match(await one.answerTo(id), { content: 'I could not pay.', steps: [{ tool: 'bank/pay', outcome: 'done', preview: 'It was cancelled.' }] });
  t.strictSame(kindsOf(await one.records(id)).slice(3), ['call 1.1', 'task 1.1', 'resume', 'cancel 1.1', 'result 1.1', 'model', 'answer', 'end']);
  t.match(one.calls, [{ task: undefined }, { task: { isCancelled: true } }]);
  t.equal(one.calls.length, 2);
});

t.test('so does one that loses the server of the tool, also while it was away', async (t) => {
  const one = await taskCore(t, takenAway, { files: crashedIn(BEGUN), ...CANNOT });
  await one.blocks.updateConfig('ada', { tools: { servers: ['block'] } });
  await one.blocks.start('ada');
  t.equal((await one.outcome('m1')).status, 'done');
  t.match(await one.answerTo('m1'), { content: 'I could not pay.', steps: [{ outcome: 'done', preview: 'It was cancelled.' }] });
  t.strictSame(
    one.calls.map(({ task }) => task?.isCancelled),
    [true],
  );
});

t.test('so does one that was stopped cleanly, and whose tools were all taken away before the next server began', async (t) => {
  const timestamp = new Date().toISOString(); // a queued message expires after a day
  const one = await taskCore(t, takenAway, { files: crashedIn(BEGUN, undefined, { status: 'queued', attempts: 0, timestamp }), ...CANNOT });
  await one.blocks.updateConfig('ada', { tools: null });
  await one.blocks.start('ada');
  t.equal((await one.outcome('m1')).status, 'done');
  t.match(await one.answerTo('m1'), { content: 'I could not pay.', steps: [{ outcome: 'done', preview: 'It was cancelled.' }] });
});

t.test(
  'a server that can not be asked any more for the task of a tool that was taken away: nobody knows what became of it, and everybody reads why',
  async (t) => {
    const away = async (): Promise<never> => Promise.reject(new BlockhouseError('TOOL_NOT_BEGUN', 'bank is held.'));
    const one = await taskCore(t, away, { files: crashedIn(BEGUN), say: ({ results }) => results.join('|') });
    await one.blocks.updateConfig('ada', { tools: null });
    await one.blocks.start('ada');
    t.equal((await one.outcome('m1')).status, 'done');
    const why = 'the block has not got its tool any more, and its task may go on, because its server could not be asked to cancel it: bank is held';
    t.match(await one.answerTo('m1'), { content: new RegExp(why), steps: [{ outcome: 'unknown', preview: why }] });
  },
);
