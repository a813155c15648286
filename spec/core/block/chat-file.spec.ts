import t from 'tap';
import {
  appendMessage,
  begin,
  bytesOf,
  completeEntries,
  countQueue,
  type Entries,
  EntryIds,
  failuresIn,
  formatChat,
  isWaiting,
  lastMessageAt,
  MAX_ENTRIES,
  type NewMessage,
  parseChat,
  queueAgain,
  recover,
  requeue,
  requeueAll,
  settle,
  wholeEntry,
  withEntry,
} from '../../../core/block/chat-file.ts';
import type { ChatEntry } from '../../../core/schemas/chat-entry.ts';
import { AT, answerEntry, pair, userEntry } from '../../support/block-files.ts';

const NOW = Date.parse(AT);
const HOUR = 3_600_000;
const TEN_YEARS = 10 * 365 * 24 * HOUR;

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

t.test('ids sort by time, and by order within a millisecond', (t) => {
  let now = NOW;
  const ids = new EntryIds(() => now);
  const made: string[] = [];
  for (let n = 0; n < 300; n += 1) {
    made.push(ids.next());
    if (n % 100 === 99) now += 1;
  }
  t.same([...made].sort(), made);
  t.equal(new Set(made).size, 300);
  t.end();
});

t.test('a clock that goes back an hour or forward ten years keeps ids in order', (t) => {
  let now = NOW;
  const ids = new EntryIds(() => now);
  const made = [ids.next()];
  for (const step of [-HOUR, 1, TEN_YEARS, -TEN_YEARS, 1]) {
    now += step;
    made.push(ids.next(), ids.next());
  }
  t.same([...made].sort(), made);
  t.end();
});

t.test('a restart under a clock that was set back goes on after what is there', (t) => {
  const before = new EntryIds(() => NOW + TEN_YEARS);
  const there = [before.next(), before.next(), before.next()];
  const ids = new EntryIds(() => NOW);
  ids.follow([userEntry('by-hand'), ...there.map((id) => userEntry(id)), userEntry('m-odd')]);
  const made = [ids.next(), ids.next()];
  t.same([...there, ...made].sort(), [...there, ...made]);
  ids.follow([userEntry(there[0] as string)]);
  t.ok(ids.next() > (made[1] as string), 'an older one takes nothing back');
  t.end();
});

t.test('what is written is what is read: one line for each entry', (t) => {
  t.equal(formatChat([]), '[]\n');
  const entries = [...pair('1'), queued('2', { content: 'lone \ud800, \u2028, \0, "\n' })];
  t.equal(formatChat(entries).split('\n').length, 6);
  t.same(parseChat(JSON.parse(formatChat(entries))), entries);
  t.end();
});

t.test('damage is told by its entry', (t) => {
  const wrong: [unknown, RegExp][] = [
    [{}, /^it must hold an array of messages/],
    [null, /^it must hold an array/],
    [[userEntry('1'), 5], /^\[1\] must be an object/],
    [[{ role: 'user' }], /^\[0\]: content is required/],
    [[{ content: 'x' }], /^\[0\]: role is required/],
    [[userEntry('1'), { role: 'User', content: 'x' }], /^\[1\]: role must be one of user, assistant$/],
    [[{ role: 'system', content: 'x' }], /^\[0\]: role must be one of user, assistant$/],
    [[{ ...userEntry('1'), role: 'assistent' }], /^\[0\]: role must be one of user, assistant$/],
    [[{ role: 'user', content: 'x', replyTo: '1' }], /^\[0\]: replyTo must be on an answer only, and the role is user$/],
    [[userEntry('1'), userEntry('2', { replyTo: '1' })], /^\[1\]: replyTo must be on an answer only/],
    [[userEntry('1', { status: 'interrupted' })], /^\[0\]: status must be one of queued, processing, .* where the role is user$/],
    [[answerEntry('1', '0', { status: 'queued' })], /^\[0\]: status must be one of done, interrupted, failed where the role is assistant$/],
    [
      Array.from({ length: MAX_ENTRIES + 1 }, () => ({ role: 'user', content: 'x' })),
      /^it holds 12001 messages, and at most 12000 can be active; move the oldest ones into a file in chat-archive$/,
    ],
    [[{ ...userEntry('1'), status: 'lost' }], /^\[0\]: status must be/],
    [[{ ...userEntry('1'), attempts: -1 }], /^\[0\]: attempts must be/],
    [[userEntry('1'), { role: 'user', content: 'by hand', timestamp: 123 }], /^\[1\]: timestamp must be a string, not a number/],
    [[{ role: 'user', content: 'by hand', channel: 'sms' }], /^\[0\]: channel must be one of/],
    [[{ role: 'user', content: 'by hand', status: 'waiting' }], /^\[0\]: status must be one of/],
    [[{ role: 'user', content: 'by hand', id: 7 }], /^\[0\]: id must be a string/],
  ];
  for (const [value, message] of wrong) t.throws(() => parseChat(value), { message });
  t.end();
});

t.test('a message by hand, of a role and a content alone, is queued; an answer by hand is done', (t) => {
  const entries = parseChat([
    { role: 'user', content: 'x' },
    { role: 'assistant', content: 'y' },
    { role: 'user', content: 'old', processed: true },
    { role: 'assistant', content: 'z', mine: 1 },
  ]);
  t.same(countQueue(entries), { queued: 1, processing: 0, failed: 0, oldestQueuedAt: null }, 'it waits before it is completed');
  const whole = completeEntries(entries, new EntryIds(() => NOW), AT);
  t.match(whole, [
    { role: 'user', content: 'x', status: 'queued', processed: false, channel: 'web', timestamp: AT, id: /^m/ },
    { role: 'assistant', status: 'done', processed: true },
    { role: 'user', status: 'done', processed: true },
    { role: 'assistant', status: 'done', mine: 1 },
  ]);
  t.same(parseChat(JSON.parse(formatChat(whole))), whole);
  t.same(
    whole.map(({ id }) => id),
    whole.map(({ id }) => id).sort(),
  );
  t.equal(completeEntries(whole, new EntryIds(() => NOW), AT), whole, 'the same array when there is nothing to do');
  t.end();
});

t.test('what a message by hand says of its status is what it is, whatever it says of being processed', (t) => {
  const entries = parseChat([
    { role: 'user', content: 'x', status: 'queued', processed: true },
    { role: 'user', content: 'y', status: 'failed' },
  ]);
  t.match(completeEntries(entries, new EntryIds(() => NOW), AT), [
    { status: 'queued', processed: false },
    { status: 'failed', processed: true },
  ]);
  t.end();
});

t.test('a line that was copied becomes a message of its own, and the answer stays with the first', (t) => {
  const [first, answer] = pair('1') as [ChatEntry, ChatEntry];
  const entries = parseChat([
    first,
    answer,
    { id: '1', role: 'user', content: 'by hand' },
    queued('1', { content: 'copied' }),
    { ...answer, content: 'again' },
  ]);
  const whole = completeEntries(entries, new EntryIds(() => NOW), AT);
  t.same(whole.slice(0, 2), [first, answer]);
  t.match(whole.slice(2), [
    { id: /^m/, role: 'user', content: 'by hand', status: 'queued', processed: false },
    { id: /^m/, role: 'user', content: 'copied', status: 'queued', processed: false },
    { id: /^m/, role: 'assistant', content: 'again', status: 'done' },
  ]);
  t.equal(new Set(whole.map(({ id }) => id)).size, 5);
  const options = { now: NOW, at: AT, staleAfterMs: HOUR, maxAttempts: 4 };
  t.equal(recover(whole, options), whole, 'both still wait');
  t.end();
});

t.test('an answer that has taken the id of a message leaves the message one of its own', (t) => {
  const whole = completeEntries(parseChat([answerEntry('1'), { id: '1', role: 'user', content: 'x' }]), new EntryIds(() => NOW), AT);
  t.match(whole, [
    { id: '1', role: 'assistant' },
    { id: /^m/, role: 'user', status: 'queued' },
  ]);
  t.end();
});

t.test('what is completed sorts after what is there, whatever the clock says', (t) => {
  const [there] = [new EntryIds(() => NOW + TEN_YEARS).next()];
  const ids = new EntryIds(() => NOW);
  const entries = [userEntry(there), { role: 'user', content: 'by hand' } as ChatEntry];
  const whole = completeEntries(entries, ids, AT);
  t.ok((whole[1]?.id ?? '') > there);
  const others = new EntryIds(() => NOW);
  completeEntries([userEntry(there)], others, AT);
  t.ok(others.next() > there, 'also when there was nothing to complete');
  t.end();
});

t.test('a new message is queued at the end, and its position counts those that wait', (t) => {
  const first = appendMessage(pair('1'), message());
  t.match(first.result, { position: 0, isNew: true, entry: { id: 'new', status: 'queued', processed: false, attempts: 0 } });
  const second = appendMessage([...first.value, processing('p')], message({ id: 'later' }));
  t.equal(second.result.position, 2);
  t.same(second.value.at(-1)?.id, 'later');
  t.equal('clientId' in (second.value.at(-1) ?? {}), false);
  t.end();
});

t.test('the same clientId gives the entry that is there, whatever has become of it, also at the cap', (t) => {
  const { value } = appendMessage([queued('1'), queued('2')], message({ clientId: 'mine' }));
  const again = appendMessage(value, message({ id: 'other', clientId: 'mine', content: 'else' }));
  t.equal(again.value, value);
  t.match(again.result, { isNew: false, position: 2, entry: { id: 'new', content: 'hi' } });
  const done = withEntry(value, 'new', (entry) => ({ ...entry, status: 'done', processed: true }));
  t.match(appendMessage(done, message({ clientId: 'mine' })).result, { isNew: false, position: 0, entry: { status: 'done' } });
  t.end();
});

t.test('beyond the cap, or too much waiting text, the queue is full', (t) => {
  const entries = [...pair('0'), queued('1'), processing('2'), queued('3')];
  t.throws(() => appendMessage(entries, message()), { code: 'QUEUE_FULL', status: 429, retryAfterMs: 5000 });
  t.equal(appendMessage(entries, message({ cap: 4 })).value.length, 6, 'settled ones do not count');
  const long = Array.from({ length: 40 }, (_, n) => queued(`${n}`, { content: 'x'.repeat(200_000) }));
  t.throws(() => appendMessage(long, message({ cap: 100, content: 'x'.repeat(400_000) })), { code: 'QUEUE_FULL' });
  t.end();
});

t.test('what may be queued again is queued at the end, as long as there is room', (t) => {
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

t.test('the outcome and the answer are one change, and there is only one of them', (t) => {
  const answer = answerEntry('1a', '1');
  const { value, result } = settle([processing('1'), queued('2')], '1', { status: 'done', finishedAt: AT }, answer);
  t.equal(result, true);
  t.match(value, [{ id: '1', status: 'done', processed: true, finishedAt: AT }, { id: '2' }, answer]);
  t.same(settle(value, '1', { status: 'done' }, answer), { value, result: false }, 'a second answer is not taken');
  for (const status of ['queued', 'failed', 'cancelled', 'expired'] as const) {
    const entries = [userEntry('1', { status })];
    t.same(settle(entries, '1', { status: 'done' }, answer), { value: entries, result: false }, status);
  }
  t.same(settle([processing('1')], '1', { status: 'failed' }, undefined).value.length, 1);
  t.end();
});

t.test('what is put back into the queue keeps its place; the attempt counts or not', (t) => {
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
  t.equal(requeue(entries, '2', { countsAsAttempt: true }).result, false);
  t.equal(requeue(entries, 'unknown', { countsAsAttempt: true }).value, entries);
  t.end();
});

t.test('all that is being processed goes back into the queue at once', (t) => {
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

t.test('only what is whole is an entry of the archive', (t) => {
  const [entry] = pair('1');
  t.equal(wholeEntry(entry), entry);
  for (const value of [undefined, null, 5, [], {}, { role: 'user', content: 'x' }, { ...entry, role: 'system' }, { ...entry, status: 'interrupted' }]) {
    t.equal(wholeEntry(value), undefined);
  }
  t.equal(bytesOf(userEntry('é')), Buffer.byteLength(JSON.stringify(userEntry('é'))));
  t.end();
});

t.test('failed messages are counted, and the last of them is named', (t) => {
  t.same(failuresIn([...pair('1'), queued('2'), answerEntry('3', '1', { status: 'failed' })]), { count: 0, since: null, last: null });
  t.same(failuresIn([userEntry('1', { status: 'failed', error: null })]), {
    count: 1,
    since: AT,
    last: { id: '1', at: AT, code: 'UNKNOWN', message: 'The cause was not recorded.' },
  });
  t.end();
});

t.test('after a crash', (t) => {
  const limits = { now: NOW, at: AT, staleAfterMs: 24 * HOUR, maxAttempts: 4 };
  const old = new Date(NOW - 25 * HOUR).toISOString();
  const rows: [string, Entries, string[]][] = [
    ['what was being processed is queued again', [processing('1')], ['queued']],
    ['also when it is old: it gets its one more attempt', [processing('1', { timestamp: old })], ['queued']],
    ['one attempt more than usual', [processing('1', { attempts: 4 })], ['queued']],
    ['and no more', [processing('1', { attempts: 5 })], ['failed']],
    ['a queued message runs', [queued('1')], ['queued']],
    ['an old one is expired', [queued('1', { timestamp: old })], ['expired']],
    ['a message that has its answer is done', [processing('1'), queued('2'), answerEntry('1a', '1'), answerEntry('2a', '2')], ['done', 'done', 'done', 'done']],
    ['what has its outcome keeps it', [...pair('1'), userEntry('2', { status: 'failed' })], ['done', 'done', 'failed']],
    ['a clock that was set back expires nothing', [queued('1', { timestamp: new Date(NOW + HOUR).toISOString() })], ['queued']],
    ['a time that is none expires nothing', [queued('1', { timestamp: 'yesterday' })], ['queued']],
  ];
  for (const [name, entries, wanted] of rows) t.same(statuses(recover(entries, limits)), wanted, name);
  const sound = [...pair('1'), queued('2')];
  t.equal(recover(sound, limits), sound, 'the same array when there is nothing to do');
  t.match(recover([processing('1', { attempts: 9 })], limits)[0], { processed: true, finishedAt: AT, error: { code: 'CRASHED', retryable: true } });
  t.match(recover([queued('1', { timestamp: old })], limits)[0], { processed: true, finishedAt: AT, error: { code: 'EXPIRED' } });
  t.end();
});

t.test('the queue is counted, and the last message is the last of the array', (t) => {
  const entries = [
    userEntry('0', { status: 'failed' }),
    queued('1', { timestamp: '2026-01-01T00:00:00.000Z' }),
    processing('2'),
    queued('3'),
    answerEntry('4', undefined, { status: 'failed' }),
  ];
  t.same(countQueue(entries), { queued: 2, processing: 1, failed: 1, oldestQueuedAt: '2026-01-01T00:00:00.000Z' });
  t.same(entries.map(isWaiting), [false, true, true, true, false]);
  t.same(
    [{ role: 'user' }, { role: 'user', processed: true }, { role: 'assistant' }].map((entry) => isWaiting(entry as ChatEntry)),
    [true, false, false],
  );
  t.equal(lastMessageAt([]), null);
  t.equal(lastMessageAt(entries), AT);
  t.equal(
    withEntry(entries, 'unknown', (entry) => ({ ...entry })),
    entries,
  );
  t.equal(
    withEntry(entries, '1', (entry) => entry),
    entries,
  );
  t.end();
});
