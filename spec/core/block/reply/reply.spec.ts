// What becomes of a message that is answered.
import { existsSync } from 'node:fs';
import t from 'tap';
import type { ReplyStep } from '../../../../core/block/reply/reply-stream.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';
import { askedOf, RUNNABLE, startCore } from '../../../support/blocks.ts';
import { heldDaemon } from '../../../support/held-daemon.ts';
import { until } from '../../../support/until.ts';

t.test('messages are answered one by one, in order', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  for (const message of ['a', 'b', 'c']) await one.blocks.post('ada', { message }, 'cli');
  t.match(await one.blocks.history('ada'), [{ status: 'queued' }, { status: 'queued' }, { status: 'queued' }]);
  await one.blocks.start('ada');
  await until('all are answered', () => one.factsOf('message.finished').length === 3);
  const chat = await one.blocks.history('ada');
  t.strictSame(
    chat.map(({ content }) => content),
    ['a', 'b', 'c', 'You said: a', 'You said: b', 'You said: c'],
  );
  const [question, , , answer] = chat as [ChatEntry, ChatEntry, ChatEntry, ChatEntry];
  t.match(question, { status: 'done', processed: true, attempts: 1, error: null, startedAt: String, finishedAt: String });
  t.match(answer, { role: 'assistant', status: 'done', processed: true, channel: 'cli', replyTo: question.id, attempts: 1, error: null });
  t.match(answer, { provider: 'ollama', model: 'm', usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, costUsd: 0, stopReason: 'end_turn' });
  t.match(answer, { latencyMs: Number, ttftMs: Number, startedAt: String, finishedAt: String });
  t.strictSame(one.readJson('ada', 'chat'), chat, 'as it stands on disk');
});

t.test('the prompt holds instructions, goals, summary, pinned facts, history and the message', async (t) => {
  const one = await startCore(t);
  await one.create('ada', {
    ...RUNNABLE,
    systemPrompt: 'Be brief.',
    goals: ['Help.'],
    adapter: { ...RUNNABLE.adapter, temperature: 0.5, topP: 0.9, topK: 20, maxTokens: 77 },
  });
  await one.blocks.addFact('ada', { text: 'The sky is green.' });
  await one.blocks.addFact('ada', { text: 'Never shown.', pinned: false });
  one.write('ada', 'memory', { ...one.readJson('ada', 'memory'), summary: 'They met.' });
  await one.blocks.start('ada');
  await one.ask('ada', 'first');
  await one.ask('ada', 'second');
  const { messages } = askedOf(one.upstream.requests[1] as never);
  t.strictSame(messages.slice(1), [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: 'You said: first' },
    { role: 'user', content: 'second' },
  ]);
  const system = messages[0]?.content ?? '';
  for (const part of ['Be brief.', '- Help.', 'They met.', '- The sky is green.']) t.ok(system.includes(part), part);
  t.notOk(system.includes('Never shown.'));
  t.match(JSON.parse(one.upstream.requests[1]?.body ?? ''), { options: { num_predict: 77, temperature: 0.5, top_p: 0.9, top_k: 20 } });
  await until('the window is counted', () => one.readJson('ada', 'memory').window.messages === 4);
  t.match(one.readJson('ada', 'memory').window, { firstKeptId: null, maxTokens: 32_768 }, 'a local model takes less than the 100,000 of the configuration');
});

t.test('a follower gets the whole reply, whenever it joins', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  await one.blocks.start('ada');
  const early: ReplyStep[] = [];
  const leave = one.blocks.follow('ada', { onReply: (step) => early.push(step) });
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  const call = await daemon.call(0);
  call.say('one ');
  await until('the first word is there', () => early.length === 2);
  call.say('two ');
  await until('the second word is there', () => early.length === 3);
  const late: ReplyStep[] = [];
  const rest: ReplyStep[] = [];
  one.blocks.follow('ada', { onReply: (step) => late.push(step) });
  one.blocks.follow('ada', { onReply: (step) => rest.push(step), sinceSeq: early[1]?.seq });
  leave();
  call.answer('three');
  const { answerId } = await one.told('message.finished', { id });
  const done = { id, event: 'done', answerId, status: 'done', stopReason: 'end_turn' };
  t.match(early, [{ id, event: 'start', provider: 'ollama', model: 'm', attempt: 1 }, { text: 'one ' }, { text: 'two ' }]);
  t.equal(early.length, 3, 'and nothing after it has left');
  t.match(late, [{ event: 'start' }, { text: 'one two ' }, { text: 'three' }, done]);
  t.match(rest, [{ text: 'two ' }, { text: 'three' }, done]);
  for (const steps of [late, rest]) t.ok(steps.every(({ seq }, index) => index === 0 || seq > (steps[index - 1]?.seq ?? 0)));
});

t.test('the bus reports the steps of a message in order', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  await one.blocks.stop('ada');
  const told = one.facts
    .filter(({ type }) => type !== 'block.changed')
    .map(({ type, fact }) => (type === 'block.transitioned' ? `${fact['from']} → ${fact['to']}` : type));
  t.strictSame(told, [
    'block.created',
    'stopped → starting',
    'starting → idle',
    'message.queued',
    'idle → working',
    'message.started',
    'call.started',
    'call.finished',
    'call.billed',
    'message.finished',
    'working → idle',
    'idle → stopping',
    'stopping → stopped',
  ]);
  t.match(one.factsOf('message.finished'), [{ status: 'done', usage: { totalTokens: 5 }, costUsd: 0, latencyMs: Number }]);
});

t.test('pulse.json shows each phase of a reply', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  await one.blocks.start('ada');
  const phases: string[] = [];
  one.core.events.on('block.changed', ({ file }) => {
    const phase = file === 'pulse' ? (one.readJson('ada', 'pulse').currentTask?.phase ?? 'none') : undefined;
    if (phase !== undefined && phase !== phases.at(-1)) phases.push(phase);
  });
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  const call = await daemon.call(0);
  await until('the wait is shown', () => phases.includes('waiting-model'));
  call.say('one');
  await until('text is shown', () => phases.includes('streaming'));
  t.match(one.readJson('ada', 'pulse'), { state: 'working', status: 'BUSY', currentTask: { messageId: id, attempt: 1, outputChars: 3 } });
  call.end();
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  await until('it is written', () => one.readJson('ada', 'pulse').state === 'idle');
  t.strictSame(
    phases.filter((phase) => phase !== 'none' && phase !== 'saving'), // which is often over before it is written
    ['waiting-model', 'streaming'],
  );
  t.match(one.readJson('ada', 'pulse'), { currentTask: null, lastRun: String, queue: { queued: 0, processing: 0 } });
});

t.test('a message that a person writes into chat.json is answered while the monitor runs', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  one.write('ada', 'chat', [{ role: 'user', content: 'hi' }]);
  await one.told('message.finished', { status: 'done' });
  t.match(await one.blocks.history('ada'), [
    { id: String, content: 'hi', status: 'done', channel: 'web' },
    { content: 'You said: hi', status: 'done' },
  ]);
});

t.test('an edit by hand during a reply is kept, and so is the answer', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  await one.blocks.start('ada');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  const call = await daemon.call(0);
  const [entry] = one.readJson('ada', 'chat');
  one.write('ada', 'chat', [
    { role: 'user', content: 'older', processed: true },
    { ...entry, content: 'hi there', note: 'mine' },
  ]);
  call.answer('Hello.');
  await one.told('message.finished', { id });
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  t.match(one.readJson('ada', 'chat'), [
    { content: 'older', status: 'done' },
    { content: 'hi there', note: 'mine', status: 'done' },
    { content: 'Hello.', replyTo: id },
  ]);
});

t.test('an editor that saves the message as it was before its reply began loses no answer, and no model is asked again', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  await one.blocks.start('ada');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  const call = await daemon.call(0);
  const [{ startedAt: _begun, ...entry }] = one.readJson('ada', 'chat');
  one.write('ada', 'chat', [{ ...entry, status: 'queued', attempts: 0 }]);
  await one.told('block.changed', { file: 'chat' });
  call.answer('Hello.');
  await one.told('message.finished', { id });
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  t.match(one.readJson('ada', 'chat'), [
    { id, status: 'done' },
    { content: 'Hello.', replyTo: id },
  ]);
  t.match(one.readJson('ada', 'costs'), { calls: 1 });
});

t.test('the answer to a message that was removed by hand is discarded, and its readers are told', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  await one.blocks.start('ada');
  const steps: ReplyStep[] = [];
  one.blocks.follow('ada', { onReply: (step) => steps.push(step) });
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  const call = await daemon.call(0);
  one.write('ada', 'chat', []);
  call.answer('Hello.');
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  t.strictSame(one.readJson('ada', 'chat'), []);
  t.match(steps.at(-1), { event: 'error', code: 'CANCELLED', willRetry: false });
  t.match(one.readJson('ada', 'costs'), { calls: 1 }, 'it cost something all the same');
});

t.test('messages that are removed or settled before their turn are skipped', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  await one.blocks.start('ada');
  for (const message of ['a', 'b', 'c']) await one.blocks.post('ada', { message }, 'web');
  const [, b] = one.readJson('ada', 'chat');
  const call = await daemon.call(0);
  t.match(await one.blocks.cancel('ada', b.id), { status: 'cancelled' });
  call.answer('A.');
  (await daemon.call(1)).answer('C.');
  await until('both are answered', () => one.factsOf('message.finished').length === 3);
  t.strictSame(
    daemon.calls.map(({ asked }) => asked.messages.at(-1)?.content),
    ['a', 'c'],
  );
});

t.test('an answer that fills the window is followed by a summary', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, memory: { maxContextTokens: 256, thresholdPercent: 10, keepMessages: 0 } });
  await one.blocks.start('ada');
  await one.ask('ada', 'a long word '.repeat(20));
  await one.told('block.transitioned', { from: 'working', to: 'compacting' });
  await one.told('block.transitioned', { from: 'compacting', to: 'idle' });
  t.match(one.readJson('ada', 'memory'), { summary: /^You said/, compactionCount: 1, compactions: [{ trigger: 'threshold', outcome: 'summarized' }] });
  t.ok(existsSync(one.folder('ada', 'chat.json')));
  t.equal((await one.blocks.history('ada')).length, 2, 'nothing was deleted');
});
