// The laws of a conversation, over any store (core/store/port.ts).
import type { Test } from 'tap';
import type { ChatEntry } from '../../../core/schemas/chat-entry.ts';
import type { Added, Conversation, MessageToAppend } from '../../../core/store/port.ts';
import { userEntry } from '../../support/block-files.ts';
import { MAX_RESULT_BYTES } from '../../../core/store/parts/run-lines.ts';
import type { RunRecord } from '../../../core/types.ts';
import type { Owned } from '../../support/owned.ts';
import { answerRecord, approvalOf, callRecord, modelRecord, resultRecord, runRecord } from '../../support/tools/records.ts';

/** Makes the conversation of a fresh block, for its owner. */
export type OpenConversation = (t: Test, clock: () => number) => Promise<Owned>;

const BEGIN = Date.parse('2026-11-20T14:03:22.123Z');
const RULES = { staleAfterMs: Number.POSITIVE_INFINITY, maxAttempts: 3 };

function message(content: string, fields: Partial<MessageToAppend> = {}): MessageToAppend {
  return { content, channel: 'web', clientId: undefined, cap: 10, ...fields };
}

async function add(conversation: Pick<Conversation, 'append'>, content: string, fields: Partial<MessageToAppend> = {}): Promise<Added> {
  const added = await conversation.append(message(content, fields));
  if (!('entry' in added)) throw new Error('it is archived');
  return added;
}

/** Everything that an answer of a model has. */
export function fullAnswer(conversation: Pick<Conversation, 'newId'>, replyTo: string, fields: Partial<ChatEntry> = {}): ChatEntry {
  const at = new Date(BEGIN + 5).toISOString();
  const shared = { role: 'assistant', status: 'done', replyTo, content: 'Hello', attempts: 1, error: null, startedAt: at, finishedAt: at } as const;
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  const rest = { provider: 'echo', model: 'echo-1', usage, costUsd: 0.25, latencyMs: 5, ttftMs: null, stopReason: 'end_turn' } as const;
  return { ...userEntry(conversation.newId()), ...shared, ...rest, ...fields };
}

/** Every law as a fact. */
export function conversationSuite(t: Test, store: string, open: OpenConversation): void {
  const opened = async (t: Test) => {
    const clock = { ms: BEGIN };
    return { conversation: await open(t, () => clock.ms), clock };
  };

  t.test(`${store}: a message goes its way from append to its answer`, async (t) => {
    const { conversation } = await opened(t);
    const at = new Date(BEGIN).toISOString();
    const { entry, position, isNew } = await add(conversation, 'hi', { channel: 'cli', clientId: 'mine' });
    t.match({ position, isNew }, { position: 0, isNew: true });
    const queued = {
      content: 'hi',
      role: 'user',
      status: 'queued',
      processed: false,
      channel: 'cli',
      clientId: 'mine',
      attempts: 0,
      error: null,
      timestamp: at,
    };
    t.match(entry, queued);
    t.strictSame(await conversation.entries(), [entry]);
    const { next, queued: waiting, over } = await conversation.recover(RULES);
    t.strictSame({ next, waiting, over }, { next: entry, waiting: 1, over: [] });
    t.strictSame(await conversation.begin(entry.id), { ...entry, status: 'processing', attempts: 1, startedAt: at });
    const answer = fullAnswer(conversation, entry.id);
    t.equal(await conversation.settle(entry.id, { status: 'done', error: null, finishedAt: at }, answer), true);
    const done = { ...entry, status: 'done', processed: true, attempts: 1, startedAt: at, finishedAt: at };
    t.strictSame(await conversation.message(entry.id), { entry: done, answer });
    t.strictSame(await conversation.entries(), [done, answer]);
    t.strictSame(await conversation.recover(RULES), { queued: 0, next: undefined, over: [] });
    await t.rejects(conversation.message('nobody'), { code: 'MESSAGE_NOT_FOUND' });
  });

  t.test(`${store}: C1: entries are in the order in which they came, whatever the clock says`, async (t) => {
    const { conversation, clock } = await opened(t);
    const ids: string[] = [];
    for (const step of [0, -3_600_000, 7_200_000, 1]) {
      clock.ms += step;
      ids.push((await add(conversation, String(step))).entry.id);
    }
    t.strictSame(
      (await conversation.entries()).map(({ id }) => id),
      ids,
    );
    t.strictSame([...ids].sort(), ids, 'C5: each id is greater than all before it');
    t.equal((await conversation.recover(RULES)).next?.id, ids[0]);
  });

  t.test(`${store}: the last message is asked again once, and its earlier version stays`, async (t) => {
    const { conversation } = await opened(t);
    const first = (await add(conversation, 'one')).entry;
    const again = (id: string, fields: Partial<MessageToAppend> = {}) =>
      conversation.append({ ...message('', fields), content: fields.content, again: { id, asks: undefined } });
    await t.rejects(again(first.id), { code: 'WRONG_STATE', message: /is queued/ });
    await conversation.begin(first.id);
    const answer = fullAnswer(conversation, first.id);
    await conversation.settle(first.id, { status: 'done' }, answer);
    await t.rejects(again('nobody'), { code: 'MESSAGE_NOT_FOUND' });
    const outcomes = await Promise.allSettled([again(answer.id, { clientId: 'mine' }), again(first.id), again(first.id, { content: 'other' })]);
    t.strictSame(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
    const [, , second] = await conversation.entries();
    t.match(second, { role: 'user', status: 'queued', replaces: first.id });
    for (const outcome of outcomes) if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'WRONG_STATE' });
    await conversation.cancel(second?.id ?? '');
    const asks = { provider: 'p', model: 'm' };
    const third = (await add(conversation, 'three', { again: { id: second?.id ?? '', asks }, clientId: 'third' })).entry;
    t.match(third, { content: 'three', replaces: second?.id, asks });
    t.match(await add(conversation, 'x', { again: { id: second?.id ?? '', asks }, clientId: 'third' }), { entry: { id: third.id }, isNew: false });
    t.strictSame(await conversation.message(third.id), { entry: third, answer: null });
    await t.rejects(again(first.id), { code: 'WRONG_STATE', message: /Only the last message/ });
    t.equal((await conversation.entries()).length, 4);
  });

  t.test(`${store}: the same clientId is the same message, also at the same moment and when the queue is full`, async (t) => {
    const { conversation } = await opened(t);
    const both = await Promise.all([add(conversation, 'a', { clientId: 'x' }), add(conversation, 'b', { clientId: 'x' })]);
    t.equal(both[0].entry.id, both[1].entry.id);
    t.strictSame(both.map(({ isNew }) => isNew).sort(), [false, true]);
    await add(conversation, 'c', { clientId: 'y' });
    t.match(await add(conversation, 'd', { clientId: 'y', cap: 2 }), { isNew: false, position: 1, entry: { content: 'c' } });
  });

  t.test(`${store}: an id with a character that a database does not know is an id like others`, async (t) => {
    const { conversation } = await opened(t);
    const { entry } = await add(conversation, 'a', { clientId: 'x\0y' });
    t.match(await add(conversation, 'b', { clientId: 'x\0y' }), { isNew: false, entry: { id: entry.id, content: 'a' } });
    t.match(await add(conversation, 'c', { clientId: 'xy' }), { isNew: true });
    await t.rejects(conversation.cancel('m\0'), { code: 'MESSAGE_NOT_FOUND' });
    await t.rejects(conversation.append(message('e', { cap: 2 })), { code: 'QUEUE_FULL', message: /2 messages are already waiting \(queue.cap is 2\)/ });
    const big = 'x'.repeat(5 * 1024 * 1024);
    await add(conversation, big);
    await t.rejects(conversation.append(message(big)), { code: 'QUEUE_FULL', message: /bytes in total/ });
    t.equal((await conversation.entries()).length, 3);
  });

  t.test(`${store}: C2, C3: a message has one status and one answer, whoever is first`, async (t) => {
    const { conversation } = await opened(t);
    const { entry } = await add(conversation, 'hi');
    t.equal((await Promise.all([conversation.begin(entry.id), conversation.begin(entry.id)])).filter((begun) => begun !== undefined).length, 1);
    const answers = [fullAnswer(conversation, entry.id), fullAnswer(conversation, entry.id)];
    const kept = await Promise.all(answers.map((answer) => conversation.settle(entry.id, { status: 'done' }, answer)));
    t.strictSame([...kept].sort(), [false, true]);
    t.equal(await conversation.settle(entry.id, { status: 'failed' }, undefined), false);
    t.equal(await conversation.requeue(entry.id, { countsAsAttempt: true }), false);
    await t.rejects(conversation.cancel(entry.id), { code: 'WRONG_STATE', message: 'The message is done already.' });
    t.strictSame(
      (await conversation.entries()).map(({ status }) => status),
      ['done', 'done'],
    );
    t.equal(await conversation.begin('nobody'), undefined);
  });

  t.test(`${store}: a message goes back into the queue, with the reason, and the attempt counts or does not`, async (t) => {
    const { conversation } = await opened(t);
    const { entry } = await add(conversation, 'hi');
    await conversation.begin(entry.id);
    const nextAttemptAt = new Date(BEGIN + 1000).toISOString();
    const error = { code: 'UPSTREAM_FAILED', message: 'Busy.', retryable: true };
    t.equal(await conversation.requeue(entry.id, { countsAsAttempt: true, nextAttemptAt, error }), true);
    t.strictSame((await conversation.entries())[0], { ...entry, attempts: 1, nextAttemptAt, error });
    t.match(await conversation.recover(RULES), { queued: 1, next: { id: entry.id, nextAttemptAt } });
    t.match(await conversation.begin(entry.id), { attempts: 2, error, nextAttemptAt: undefined });
    t.equal(await conversation.requeue(entry.id, { countsAsAttempt: false }), true);
    t.match((await conversation.entries())[0], { status: 'queued', attempts: 1, error });
    await conversation.begin(entry.id);
    await conversation.requeueAll();
    t.match((await conversation.entries())[0], { status: 'queued', attempts: 2, processed: false });
    await conversation.requeueAll();
  });

  t.test(`${store}: recovery queues again what broke off, and gives up what is over`, async (t) => {
    const { conversation, clock } = await opened(t);
    const { entry: crashing } = await add(conversation, 'kills its server');
    const { entry: second } = await add(conversation, 'second');
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await conversation.begin(crashing.id);
      t.match(
        await conversation.recover({ ...RULES, maxAttempts: 2 }),
        attempt <= 2 ? { queued: 2, next: { id: crashing.id }, over: [] } : { queued: 1, next: { id: second.id } },
      );
    }
    t.match((await conversation.entries())[0], { status: 'failed', processed: true, error: { code: 'CRASHED' } });
    clock.ms += 60_001;
    const { entry: fresh } = await add(conversation, 'fresh');
    const { over, next, queued } = await conversation.recover({ ...RULES, staleAfterMs: 60_000 });
    t.match({ over, next, queued }, { over: [{ id: second.id, status: 'expired', error: { code: 'EXPIRED' } }], next: { id: fresh.id }, queued: 1 });
    t.equal((await add(conversation, 'last', { cap: 2 })).position, 1, 'what is over does not wait');
  });

  t.test(`${store}: anybody cancels a message and sends it again`, async (t) => {
    const { conversation, clock } = await opened(t);
    const { entry } = await add(conversation, 'hi');
    clock.ms += 1000;
    const at = new Date(clock.ms).toISOString();
    t.match(await conversation.cancel(entry.id), { entry: { id: entry.id, status: 'cancelled', processed: true, finishedAt: at }, hadFailed: false });
    await t.rejects(conversation.cancel(entry.id), { code: 'WRONG_STATE' });
    const { entry: other } = await add(conversation, 'other', { cap: 1 });
    await t.rejects(conversation.retry(entry.id, 1), { code: 'QUEUE_FULL' });
    t.strictSame(await conversation.retry(entry.id, 2), { ...entry, timestamp: at });
    await t.rejects(conversation.retry(entry.id, 9), { code: 'WRONG_STATE', message: /this one is queued/ });
    t.strictSame(
      (await conversation.entries()).map(({ id }) => id),
      [other.id, entry.id],
      'it goes to the end',
    );
    await conversation.begin(other.id);
    t.match(await conversation.cancel(other.id), { entry: { status: 'cancelled' } });
    t.equal(await conversation.settle(other.id, { status: 'done' }, fullAnswer(conversation, other.id)), false, 'nobody answers what was cancelled');
    await conversation.begin(entry.id);
    await conversation.settle(entry.id, { status: 'failed', error: { code: 'X', message: 'x', retryable: false } }, undefined);
    t.match(await conversation.cancel(entry.id), { hadFailed: true });
    await t.rejects(conversation.cancel('nobody'), { code: 'MESSAGE_NOT_FOUND' });
    await t.rejects(conversation.retry('nobody', 9), { code: 'MESSAGE_NOT_FOUND' });
  });

  t.test(`${store}: a message that is sent again loses its answer`, async (t) => {
    const { conversation } = await opened(t);
    const { entry } = await add(conversation, 'hi');
    await conversation.begin(entry.id);
    await conversation.settle(entry.id, { status: 'cancelled' }, fullAnswer(conversation, entry.id, { status: 'interrupted' }));
    t.equal((await conversation.entries()).length, 2);
    await conversation.retry(entry.id, 9);
    t.match(await conversation.entries(), [{ id: entry.id, status: 'queued' }]);
    await conversation.begin(entry.id);
    t.equal(await conversation.settle(entry.id, { status: 'done' }, fullAnswer(conversation, entry.id)), true);
  });

  t.test(`${store}: C5: a border lies between all entries and those that come later`, async (t) => {
    const { conversation, clock } = await opened(t);
    const { entry } = await add(conversation, 'hi');
    clock.ms -= 3_600_000;
    const border = await conversation.border();
    t.ok(border > entry.id);
    const { entry: later } = await add(conversation, 'later');
    t.ok(later.id > border);
  });

  t.test(`${store}: a page has what comes before or after an entry`, async (t) => {
    const { conversation } = await opened(t);
    const ids: string[] = [];
    for (const content of ['a', 'b', 'c', 'd']) ids.push((await add(conversation, content)).entry.id);
    const page = async (place: Parameters<Conversation['page']>[0]): Promise<string> => (await conversation.page(place)).map(({ content }) => content).join('');
    t.equal(await page({ limit: 2 }), 'cd');
    t.equal(await page({ limit: 9 }), 'abcd');
    t.equal(await page({ limit: 2, before: ids[3] }), 'bc');
    t.equal(await page({ limit: 2, since: ids[0] }), 'bc');
    t.equal(await page({ limit: 2, since: ids[3] }), '');
    await t.rejects(page({ limit: 2, before: 'nobody' }), { code: 'MESSAGE_NOT_FOUND' });
    await t.rejects(page({ limit: 2, since: 'nobody' }), { code: 'MESSAGE_NOT_FOUND' });
  });

  t.test(`${store}: every text comes back as it was sent`, async (t) => {
    const { conversation } = await opened(t);
    for (const content of ['', 'tab\tline\r\n\u2028', 'NUL \0 in it', 'half \ud83d a pair', '👋 e\u0301 \uffff', `'"; drop table x; --`]) {
      const { entry } = await add(conversation, content);
      t.equal(JSON.stringify((await conversation.message(entry.id)).entry), JSON.stringify(entry));
    }
  });

  runLaws(t, store, opened);
}

const AT = new Date(BEGIN).toISOString();
const asked = (id: string): RunRecord => ({ t: 'ask', call: '1.1', approval: approvalOf(id) });
const decided = (approval: string): RunRecord => ({ t: 'decision', approval, decision: 'approve', by: { channel: 'cli', name: 'token' }, at: AT });

/** The journals of runs, and messages that wait for a person. */
function runLaws(t: Test, store: string, opened: (t: Test) => Promise<{ readonly conversation: Owned; readonly clock: { ms: number } }>): void {
  t.test(`${store}: records are appended in their order, once for each number, and another one in its place is refused`, async (t) => {
    const { conversation } = await opened(t);
    const { entry } = await add(conversation, 'pay');
    await conversation.begin(entry.id);
    t.strictSame(await conversation.steps(entry.id), []);
    const records = [runRecord(), modelRecord(1), answerRecord(1, []), callRecord('1.1'), resultRecord('1.1', { text: 'NUL \0, half \ud83d' })];
    await conversation.appendSteps(entry.id, 0, records.slice(0, 2));
    await conversation.appendSteps(entry.id, 0, records.slice(0, 2));
    await conversation.appendSteps(entry.id, 2, []);
    await conversation.appendSteps(entry.id, 1, records.slice(1, 3));
    t.strictSame(await conversation.steps(entry.id), records.slice(0, 3));
    await t.rejects(conversation.appendSteps(entry.id, 2, [callRecord('9.9'), callRecord('9.8')]), { code: 'REVISION_MISMATCH' });
    await t.rejects(conversation.appendSteps(entry.id, 7, [callRecord('9.9')]));
    await conversation.appendSteps(entry.id, 3, records.slice(3));
    const once = conversation.appendSteps(entry.id, 5, [callRecord('2.1')]);
    const twice = conversation.appendSteps(entry.id, 5, [callRecord('2.2')]);
    t.strictSame((await Promise.allSettled([once, twice])).map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    t.strictSame((await conversation.steps(entry.id)).slice(0, 5), records);
    t.equal((await conversation.steps(entry.id)).length, 6);
    t.strictSame(await conversation.steps('nobody'), []);
  });

  t.test(`${store}: a message that waits for a person keeps its place, and nothing overtakes it`, async (t) => {
    const { conversation } = await opened(t);
    const { entry } = await add(conversation, 'pay');
    const { entry: second } = await add(conversation, 'second');
    await conversation.begin(entry.id);
    await conversation.appendSteps(entry.id, 0, [runRecord(), modelRecord(1), answerRecord(1, []), asked('a1')]);
    t.equal(await conversation.requeue(entry.id, { countsAsAttempt: false, waitingFor: ['a1'], error: null }), true);
    t.match((await conversation.entries())[0], { status: 'waiting-approval', processed: false, waitingFor: ['a1'], attempts: 0 });
    t.match(await conversation.recover({ ...RULES, staleAfterMs: 0 }), { queued: 1, next: { id: entry.id, status: 'waiting-approval' }, over: [] });
    await t.rejects(conversation.append(message('third', { cap: 2 })), { code: 'QUEUE_FULL' });
    await conversation.decide(entry.id, 4, [decided('a1')]);
    t.match((await conversation.steps(entry.id)).at(-1), { t: 'decision', approval: 'a1' });
    await t.rejects(conversation.decide(entry.id, 4, [{ ...decided('a1'), at: new Date(BEGIN + 1).toISOString() } as RunRecord]), {
      code: 'REVISION_MISMATCH',
    });
    const begun = await conversation.begin(entry.id);
    t.match(begun, { status: 'processing', attempts: 1 });
    t.equal(begun?.waitingFor, undefined);
    t.equal(await conversation.settle(entry.id, { status: 'done' }, fullAnswer(conversation, entry.id)), true);
    t.match(await conversation.recover(RULES), { queued: 1, next: { id: second.id } });
  });

  t.test(`${store}: a message that waits for a person is cancelled, or settled, and the next one has its turn`, async (t) => {
    const { conversation } = await opened(t);
    for (const ends of ['cancel', 'settle'] as const) {
      const { entry } = await add(conversation, 'pay');
      const { entry: next } = await add(conversation, 'next');
      await conversation.begin(entry.id);
      await conversation.requeue(entry.id, { countsAsAttempt: false, waitingFor: ['a1'] });
      if (ends === 'cancel') await conversation.cancel(entry.id);
      else await conversation.settle(entry.id, { status: 'cancelled' }, undefined);
      const ended = (await conversation.message(entry.id)).entry;
      t.match(ended, { status: 'cancelled', processed: true });
      t.equal(ended.waitingFor, undefined);
      t.match(await conversation.recover(RULES), { queued: 1, next: { id: next.id } });
      t.ok(await conversation.begin(next.id));
      await conversation.settle(next.id, { status: 'done' }, undefined);
    }
    t.equal((await add(conversation, 'last', { cap: 1 })).position, 0);
  });

  t.test(`${store}: an attempt of a run that has got on does not count, and one that has not is not given up here`, async (t) => {
    const { conversation } = await opened(t);
    const { entry } = await add(conversation, 'pay');
    for (const [hasGotOn, attempts] of [
      [true, 0],
      [false, 1],
      [true, 1],
      [false, 2],
    ] as const) {
      await conversation.begin(entry.id);
      t.match(await conversation.recover({ ...RULES, maxAttempts: 0, runs: new Map([[entry.id, hasGotOn]]) }), {
        queued: 1,
        next: { id: entry.id, status: 'queued', attempts },
        over: [],
      });
    }
  });

  t.test(`${store}: whole results are kept up to a size, the newest ones, and go with the journals of what is over`, async (t) => {
    const { conversation } = await opened(t);
    const { entry } = await add(conversation, 'pay');
    await conversation.begin(entry.id);
    const whole = Buffer.from(JSON.stringify({ isError: false, parts: [] }));
    await conversation.keepResult(entry.id, '1.1', whole);
    await conversation.keepResult(entry.id, '1.1', whole);
    t.strictSame(Buffer.from((await conversation.result(entry.id, '1.1')) ?? []), whole);
    for (const [id, ref] of [
      ['nobody', '1.1'],
      [entry.id, '1.2'],
      [entry.id, '../1'],
    ] as const)
      t.equal(await conversation.result(id, ref), undefined);
    const half = Buffer.alloc(MAX_RESULT_BYTES / 2, 'x');
    for (const ref of ['1.2', '1.3']) {
      await new Promise((resolve) => setTimeout(resolve, 5)); // files are told apart by their time
      await conversation.keepResult(entry.id, ref, half);
    }
    t.equal(await conversation.result(entry.id, '1.1'), undefined, 'the oldest one has no room beside them');
    t.ok(half.equals((await conversation.result(entry.id, '1.2')) ?? Buffer.alloc(0)));
    await conversation.appendSteps(entry.id, 0, [runRecord()]);
    t.equal(await conversation.clearSteps(), 0, 'the message waits');
    await conversation.settle(entry.id, { status: 'done' }, undefined);
    t.equal(await conversation.clearSteps(), 3);
    t.strictSame(await conversation.steps(entry.id), []);
    t.equal(await conversation.result(entry.id, '1.2'), undefined);
  });
}
