// What becomes of a message whose answer is ended before its time.
import { existsSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { ReplyStep } from '../../../../core/block/reply/reply-stream.ts';
import { RUNNABLE, type StartedCore, startCore } from '../../../support/blocks.ts';
import { type HeldCall, type HeldDaemon, heldDaemon } from '../../../support/held-daemon.ts';
import { until } from '../../../support/until.ts';

interface Streaming {
  readonly one: StartedCore;
  readonly daemon: HeldDaemon;
  readonly call: HeldCall;
  readonly id: string;
  readonly steps: ReplyStep[];
}

/** A block in the middle of an answer; with '' the model has said nothing yet. */
async function streaming(t: Parameters<typeof startCore>[0], said = 'Half'): Promise<Streaming> {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada', { ...RUNNABLE, retry: { baseMs: 1 } });
  await one.blocks.start('ada');
  const steps: ReplyStep[] = [];
  one.blocks.follow('ada', { onReply: (step) => steps.push(step) });
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  const call = await daemon.call(0);
  if (said !== '') call.say(said);
  await until('the text has come', () => said === '' || steps.some(({ event }) => event === 'content'));
  return { one, daemon, call, id, steps };
}

t.test('a reply may end after a stop, and later messages stay queued', async (t) => {
  const { one, daemon, call, id } = await streaming(t);
  await one.blocks.post('ada', { message: 'next' }, 'web');
  const stopped = one.blocks.stop('ada');
  await one.told('block.transitioned', { to: 'stopping' });
  call.answer(' and half.');
  t.match(await stopped, { message: 'ada is stopped.', pulse: { state: 'stopped', desired: 'stopped', currentTask: null, stoppedAt: String } });
  t.match(await one.blocks.history('ada'), [
    { id, status: 'done' },
    { content: 'next', status: 'queued' },
    { content: 'Half and half.', status: 'done' },
  ]);
  t.equal(daemon.calls.length, 1);
});

t.test('a second stop ends the reply: its text so far is kept as interrupted, and its cost is estimated', async (t) => {
  const { one, call, id, steps } = await streaming(t);
  await Promise.all([one.blocks.stop('ada'), one.told('block.transitioned', { to: 'stopping' }).then(() => one.blocks.stop('ada'))]);
  t.match(await one.blocks.history('ada'), [
    { id, status: 'done', processed: true, error: null },
    { content: 'Half', status: 'interrupted', replyTo: id, usage: { outputTokens: 1, estimated: true } },
  ]);
  await until('the call has ended', () => call.isClosed);
  t.match(steps.at(-1), { event: 'done', status: 'interrupted' });
  t.match(one.factsOf('message.finished'), [{ id, status: 'interrupted', answerId: String }]);
  t.match(one.readJson('ada', 'costs'), { calls: 1, failedCalls: 1, totalOutput: 1 });
});

t.test('an interrupted message without any text waits for the next run, and its attempt counts', async (t) => {
  const { one, daemon, id, steps } = await streaming(t, '');
  await Promise.all([one.blocks.stop('ada'), one.told('block.transitioned', { to: 'stopping' }).then(() => one.blocks.stop('ada'))]);
  t.match(await one.blocks.history('ada'), [{ id, status: 'queued', processed: false, attempts: 1, error: null }]);
  t.match(steps.at(-1), { event: 'error', code: 'CANCELLED', willRetry: true });
  t.match(one.readJson('ada', 'costs'), { calls: 1, failedCalls: 1, totalInput: 1, totalOutput: 0, lastCall: { usage: { estimated: true } } });
  await one.blocks.start('ada');
  (await daemon.call(1)).answer('Whole.');
  await one.told('message.finished', { id, status: 'done' });
});

t.test('the server stops its monitors within its grace period, and resumes them at the next start', async (t) => {
  const { one, id } = await streaming(t);
  await one.core.close();
  t.match(one.readJson('ada', 'chat'), [
    { id, status: 'done' },
    { content: 'Half', status: 'interrupted' },
  ]);
  t.match(one.readJson('ada', 'pulse'), { state: 'stopped', desired: 'running' });
  const next = await startCore(t, { workspace: one.workspace });
  await next.told('block.transitioned', { block: 'ada', to: 'idle' });
  t.equal(next.factsOf('message.started').length, 0, 'an interrupted answer is an answer');
});

t.test('a cancelled answer keeps its text so far, and the monitor goes on', async (t) => {
  const { one, daemon, id, steps } = await streaming(t);
  t.match(await one.blocks.cancel('ada', id), { id, status: 'cancelled', processed: true });
  t.match((await one.blocks.history('ada'))[1], { content: 'Half', status: 'interrupted', replyTo: id });
  t.match(one.factsOf('message.finished'), [{ id, status: 'cancelled' }]);
  t.match(steps.at(-1), { event: 'done', status: 'interrupted' });
  const next = await one.blocks.post('ada', { message: 'next' }, 'web');
  (await daemon.call(1)).answer('Fine.');
  await one.told('message.finished', { id: next.id, status: 'done' });
});

t.test('an answer can be cancelled before it has any text', async (t) => {
  const { one, id, steps } = await streaming(t, '');
  t.match(await one.blocks.cancel('ada', id), { id, status: 'cancelled', error: null });
  t.equal((await one.blocks.history('ada')).length, 1);
  t.match(steps.at(-1), { event: 'error', code: 'CANCELLED', willRetry: false });
  t.match(one.factsOf('message.finished'), [{ id, status: 'cancelled', code: 'CANCELLED' }]);
});

t.test('a message that was removed by hand gets no partial answer', async (t) => {
  for (const said of ['Half', '']) {
    await t.test(said === '' ? 'before it began' : 'while it grew', async (t) => {
      const { one, id, steps } = await streaming(t, said);
      one.write('ada', 'chat', []);
      await t.rejects(one.blocks.cancel('ada', id), { code: 'MESSAGE_NOT_FOUND' });
      t.strictSame(one.readJson('ada', 'chat'), []);
      t.match(steps.at(-1), { event: 'error', code: 'CANCELLED', willRetry: false });
    });
  }
});

t.test('a reply and its call end when the message is removed or given an outcome by hand', async (t) => {
  for (const edit of ['removed', 'cancelled', 'file gone'] as const) {
    await t.test(edit, async (t) => {
      const { one, daemon, call, steps } = await streaming(t);
      const [entry] = one.readJson('ada', 'chat');
      if (edit === 'file gone') rmSync(one.folder('ada', 'chat.json'));
      else one.write('ada', 'chat', edit === 'removed' ? [] : [{ ...entry, status: 'cancelled', processed: true }]);
      await until('the call has ended', () => call.isClosed);
      await one.inState('ada', 'idle');
      t.match(await one.blocks.history('ada'), edit === 'cancelled' ? [{ status: 'cancelled' }] : []);
      t.match(steps.at(-1), { event: 'error', code: 'CANCELLED', willRetry: false });
      t.match(one.readJson('ada', 'costs'), { calls: 1, failedCalls: 1, lastCall: { usage: { outputTokens: 1, estimated: true } } });
      const next = await one.blocks.post('ada', { message: 'next' }, 'web');
      (await daemon.call(1)).answer('Fine.');
      await one.told('message.finished', { id: next.id, status: 'done' });
    });
  }
});

t.test('a reply goes on while other entries are edited, and while an editor replaces the file', async (t) => {
  const { one, call, id } = await streaming(t);
  const text = one.readText('ada', 'chat');
  one.write('ada', 'chat', [{ role: 'user', content: 'older', processed: true }, ...JSON.parse(text)]);
  await until('the edit was seen', () => one.factsOf('block.changed').some(({ file }) => file === 'chat') && one.readJson('ada', 'chat').length === 2);
  rmSync(one.folder('ada', 'chat.json'));
  setTimeout(() => one.write('ada', 'chat', text), 20);
  await delay(300);
  call.answer(' and half.');
  await one.told('message.finished', { id, status: 'done' });
  t.match(await one.blocks.history('ada'), [{ id, status: 'done' }, { content: 'Half and half.' }]);
});

t.test('a block that is archived during a reply is moved after it', async (t) => {
  const { one, call, id } = await streaming(t);
  const archived = one.blocks.archive('ada');
  await one.told('block.transitioned', { to: 'stopping' });
  t.ok(existsSync(one.folder('ada')), 'nothing has moved yet');
  call.answer(' and half.');
  const { archiveName } = await archived;
  t.notOk(existsSync(one.folder('ada')));
  t.match((await one.blocks.archives())[0], { archiveName, wasRunning: true, queuedMessages: 0 });
  await one.blocks.restore(archiveName);
  t.match(await one.blocks.history('ada'), [
    { id, status: 'done' },
    { content: 'Half and half.', status: 'done' },
  ]);
  t.match((await one.blocks.details('ada')).pulse, { state: 'stopped', desired: 'stopped' });
});

t.test('a block that is reset during a reply gets the answer and forgets it', async (t) => {
  const { one, daemon, call, id } = await streaming(t);
  await one.blocks.reset('ada');
  call.answer(' and half.');
  await one.told('message.finished', { id, status: 'done' });
  await one.blocks.post('ada', { message: 'next' }, 'web');
  const next = await daemon.call(1);
  t.strictSame(next.asked.messages, [{ role: 'user', content: 'next' }]);
  next.answer('Fine.');
});
