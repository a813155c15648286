import t from 'tap';
import {
  appendMessage,
  begin,
  type NewMessage,
  nextIn,
  queueAgain,
  recover,
  requeue,
  requeueAll,
  settle,
} from '../../../../core/block/conversation/chat-changes.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';
import type { Entries } from '../../../../core/store/port.ts';
import { AT, answerEntry, pair, userEntry } from '../../../support/block-files.ts';

const NOW = Date.parse(AT);
const HOUR = 3_600_000;

const queued = (id: string, fields: Partial<ChatEntry> = {}) => userEntry(id, { processed: false, status: 'queued', attempts: 0, error: null, ...fields });
const processing = (id: string, fields: Partial<ChatEntry> = {}) => queued(id, { status: 'processing', attempts: 1, startedAt: AT, ...fields });
const message = (fields: Partial<NewMessage> = {}): NewMessage => ({
  id: 'new',
  content: 'hi',
  channel: 'api',
  clientId: undefined,
  at: AT,
  cap: 3,
  ...fields,
});
const statuses = (entries: Entries) => entries.map(({ status }) => status);

t.test('a new message is queued at the end, and its position is the number of messages that wait before it', (t) => {
  const first = appendMessage(pair('1'), message());
  t.match(first.result, { position: 0, isNew: true, entry: { id: 'new', status: 'queued', processed: false, attempts: 0 } });
  const second = appendMessage([...first.value, processing('p')], message({ id: 'later' }));
  t.equal(second.result.position, 2);
  t.same(second.value.at(-1)?.id, 'later');
  t.equal('clientId' in (second.value.at(-1) ?? {}), false);
  t.end();
});

t.test('the same clientId gives the earlier entry, whatever its status, even at the cap', (t) => {
  const { value } = appendMessage([queued('1'), queued('2')], message({ clientId: 'mine' }));
  const again = appendMessage(value, message({ id: 'other', clientId: 'mine', content: 'else' }));
  t.equal(again.value, value);
  t.match(again.result, { isNew: false, position: 2, entry: { id: 'new', content: 'hi' } });
  const done = value.map((entry): ChatEntry => (entry.id === 'new' ? { ...entry, status: 'done', processed: true } : entry));
  t.match(appendMessage(done, message({ clientId: 'mine' })).result, { isNew: false, position: 0, entry: { status: 'done' } });
  t.end();
});

t.test('a message that is asked again keeps what has tainted it, also with another text, because that may be a part of the first one', (t) => {
  const done = (fields: Partial<ChatEntry>) => [userEntry('1', fields)];
  const asked = (entries: Entries, fields: Partial<NewMessage> = {}) =>
    appendMessage(entries, message({ content: undefined, again: { id: '1', asks: undefined }, ...fields })).result.entry;
  const hook = { messageId: '1', via: 'hook' as const };
  const first = asked(done({ chain: [{ via: 'hook', hook: 'h' }] }));
  t.match(first, { replaces: '1', taint: [hook] });
  t.equal('chain' in first, false, 'it was asked by a person, and costs no key');
  t.match(asked(done({ chain: [{ via: 'hook', hook: 'h' }] }), { content: 'else' }), { content: 'else', taint: [hook] });
  t.strictSame(asked([...done({}), userEntry('2', { taint: [hook] })], { again: { id: '2', asks: undefined } }).taint, [hook], 'and so on');
  t.equal('taint' in asked(done({ chain: [{ via: 'key', key: 'app', trusted: true }] })), false);
  t.equal('taint' in asked(done({})), false);
  t.end();
});

t.test('the queue is full at the cap, and when the waiting text is too long', (t) => {
  const entries = [...pair('0'), queued('1'), processing('2'), queued('3')];
  t.throws(() => appendMessage(entries, message()), { code: 'QUEUE_FULL', status: 429, retryAfterMs: 5000 });
  t.equal(appendMessage(entries, message({ cap: 4 })).value.length, 6, 'settled ones do not count');
  const long = Array.from({ length: 40 }, (_, n) => queued(`${n}`, { content: 'x'.repeat(200_000) }));
  t.throws(() => appendMessage(long, message({ cap: 100, content: 'x'.repeat(400_000) })), { code: 'QUEUE_FULL' });
  t.end();
});

t.test('a message that failed is queued again at the end if there is room', (t) => {
  const failed = userEntry('1', { status: 'failed', attempts: 4, startedAt: AT, finishedAt: AT, nextAttemptAt: AT });
  const entries = [failed, answerEntry('1a', '1', { status: 'interrupted' }), queued('2')];
  const { value, result } = queueAgain(entries, failed, { at: 'now', cap: 2 });
  t.same(result, {
    id: '1',
    role: 'user',
    content: failed.content,
    channel: 'web',
    timestamp: 'now',
    status: 'queued',
    processed: false,
    attempts: 0,
    error: null,
  });
  t.same(value, [entries[2], result]);
  t.throws(() => queueAgain(entries, failed, { at: 'now', cap: 1 }), { code: 'QUEUE_FULL', status: 429, retryAfterMs: 5000 });
  const long = Array.from({ length: 40 }, (_, n) => queued(`${n}`, { content: 'x'.repeat(200_000) }));
  t.throws(() => queueAgain([...long, failed], { ...failed, content: 'x'.repeat(400_000) }, { at: 'now', cap: 100 }), { code: 'QUEUE_FULL' });
  for (const entry of [queued('1'), userEntry('1'), answerEntry('1a', '1')])
    t.throws(() => queueAgain([entry], entry, { at: 'now', cap: 9 }), { code: 'WRONG_STATE' });
  t.end();
});

t.test('a message is begun once, and only while it is queued', (t) => {
  const { value, result } = begin([queued('1', { nextAttemptAt: AT })], '1', AT);
  t.match(result, { status: 'processing', attempts: 1, startedAt: AT });
  t.equal(result?.nextAttemptAt, undefined);
  t.equal(begin(value, '1', AT).result, undefined);
  t.equal(begin(value, 'unknown', AT).value, value);
  t.equal(begin([queued('1', { attempts: 3 })], '1', AT).result?.attempts, 4);
  t.end();
});

t.test('the outcome and the answer are one change, which is made once', (t) => {
  const answer = answerEntry('1a', '1');
  const { value, result } = settle([processing('1'), queued('2')], '1', { status: 'done', finishedAt: AT }, answer);
  t.equal(result, true);
  t.match(value, [{ id: '1', status: 'done', processed: true, finishedAt: AT }, { id: '2' }, answer]);
  t.same(settle(value, '1', { status: 'done' }, answer), { value, result: false }, 'a second answer is not taken');
  for (const status of ['failed', 'cancelled', 'expired'] as const) {
    const entries = [userEntry('1', { status })];
    t.same(settle(entries, '1', { status: 'done' }, answer), { value: entries, result: false }, status);
  }
  t.same(settle([processing('1')], '1', { status: 'failed' }, undefined).value.length, 1);
  t.end();
});

t.test('a message that goes back into the queue keeps its place; the attempt counts or not', (t) => {
  const entries = [processing('1', { attempts: 2 }), queued('2')];
  const error = { code: 'X', message: 'x', retryable: true };
  t.match(requeue(entries, '1', { countsAsAttempt: true, nextAttemptAt: AT, error }), {
    result: true,
    value: [{ id: '1', status: 'queued', processed: false, attempts: 2, nextAttemptAt: AT, error }, { id: '2' }],
  });
  const back = requeue(entries, '1', { countsAsAttempt: false }).value[0];
  t.match(back, { attempts: 1, error: null });
  t.equal(back?.startedAt, undefined);
  t.equal(requeue([processing('1', { attempts: 0 })], '1', { countsAsAttempt: false }).value[0]?.attempts, 0, 'never less than none');
  t.equal(requeue(entries, 'unknown', { countsAsAttempt: true }).value, entries);
  t.end();
});

t.test('an answer is kept, and an attempt is counted, even if an editor has put the message back to queued meanwhile', (t) => {
  const entries = [queued('1', { attempts: 1 })];
  const answer = answerEntry('a', '1');
  t.match(settle(entries, '1', { status: 'done', finishedAt: AT }, answer), { result: true, value: [{ id: '1', status: 'done', processed: true }, answer] });
  t.match(requeue(entries, '1', { countsAsAttempt: true, nextAttemptAt: AT }).value[0], { status: 'queued', attempts: 2, nextAttemptAt: AT });
  t.equal(requeue(entries, '1', { countsAsAttempt: false }).value, entries, 'nothing to change');
  t.end();
});

t.test('all messages that are being processed go back into the queue at once', (t) => {
  const entries = [...pair('0'), processing('1'), queued('2'), processing('3', { attempts: 2 })];
  t.match(requeueAll(entries), [
    { id: '0' },
    { id: '0a' },
    { id: '1', status: 'queued', attempts: 1 },
    { id: '2' },
    { id: '3', status: 'queued', attempts: 2 },
  ]);
  t.equal(requeueAll(entries.slice(0, 2)).length, 2);
  const sound = [...pair('0'), queued('2')];
  t.equal(requeueAll(sound), sound);
  t.end();
});

t.test('a recovery gives each message the right status', (t) => {
  const limits = { now: NOW, at: AT, staleAfterMs: 24 * HOUR, maxAttempts: 4 };
  const old = new Date(NOW - 25 * HOUR).toISOString();
  const rows: [string, Entries, string[]][] = [
    ['a message that was being processed is queued again', [processing('1')], ['queued']],
    ['so is an old one, which gets one more attempt', [processing('1', { timestamp: old })], ['queued']],
    ['it gets one attempt more than usual', [processing('1', { attempts: 4 })], ['queued']],
    ['it gets no attempt after that', [processing('1', { attempts: 5 })], ['failed']],
    ['a queued message stays queued', [queued('1')], ['queued']],
    ['an old queued message is expired', [queued('1', { timestamp: old })], ['expired']],
    ['a message with an answer is done', [processing('1'), queued('2'), answerEntry('1a', '1'), answerEntry('2a', '2')], ['done', 'done', 'done', 'done']],
    ['a message with an outcome keeps it', [...pair('1'), userEntry('2', { status: 'failed' })], ['done', 'done', 'failed']],
    ['a clock that was set back expires nothing', [queued('1', { timestamp: new Date(NOW + HOUR).toISOString() })], ['queued']],
    ['a timestamp that is no time expires nothing', [queued('1', { timestamp: 'yesterday' })], ['queued']],
  ];
  for (const [name, entries, wanted] of rows) t.same(statuses(recover(entries, limits)), wanted, name);
  const sound = [...pair('1'), queued('2')];
  t.equal(recover(sound, limits), sound, 'the same array when there is nothing to do');
  t.match(recover([processing('1', { attempts: 9 })], limits)[0], { processed: true, finishedAt: AT, error: { code: 'CRASHED', retryable: true } });
  t.match(recover([queued('1', { timestamp: old })], limits)[0], { processed: true, finishedAt: AT, error: { code: 'EXPIRED' } });
  t.end();
});

t.test('of entries with the same id, only the first can have its turn', async (t) => {
  const queued = { status: 'queued', processed: false } as const;
  t.match(nextIn([userEntry('1', { status: 'cancelled' }), userEntry('1', queued), userEntry('2', queued)]), { id: '2' });
  t.equal(nextIn([userEntry('1', { status: 'done' })]), undefined);
});
