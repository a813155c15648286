import t from 'tap';
import {
  bytesOf,
  completeEntries,
  formatChat,
  isWaiting,
  MAX_ENTRIES,
  parseChat,
  wholeEntry,
  withoutKeys,
} from '../../../../core/block/conversation/chat-file.ts';
import { countQueue } from '../../../../core/block/conversation/counts.ts';
import { EntryIds } from '../../../../core/block/conversation/entry-ids.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';
import { AT, answerEntry, pair, userEntry } from '../../../support/block-files.ts';

const NOW = Date.parse(AT);
const TEN_YEARS = 10 * 365 * 24 * 3_600_000;

const queued = (id: string, fields: Partial<ChatEntry> = {}) => userEntry(id, { processed: false, status: 'queued', attempts: 0, error: null, ...fields });

t.test('entries are written one on each line, and read back unchanged', (t) => {
  t.equal(formatChat([]), '[]\n');
  const entries = [...pair('1'), queued('2', { content: 'lone \ud800, \u2028, \0, "\n' })];
  t.equal(formatChat(entries).split('\n').length, 6);
  t.same(parseChat(JSON.parse(formatChat(entries))), entries);
  t.end();
});

t.test('the error about a damaged file names the entry and its field', (t) => {
  const wrong: [unknown, RegExp][] = [
    [{}, /^it must contain an array of messages/],
    [null, /^it must contain an array/],
    [[userEntry('1'), 5], /^\[1\] must be an object/],
    [[{ role: 'user' }], /^\[0\]: content is required/],
    [[{ content: 'x' }], /^\[0\]: role is required/],
    [[userEntry('1'), { role: 'User', content: 'x' }], /^\[1\]: role must be one of user, assistant$/],
    [[{ role: 'system', content: 'x' }], /^\[0\]: role must be one of user, assistant$/],
    [[{ ...userEntry('1'), role: 'assistent' }], /^\[0\]: role must be one of user, assistant$/],
    [[{ role: 'user', content: 'x', replyTo: '1' }], /^\[0\]: replyTo is only allowed on an answer, but the role is user$/],
    [[userEntry('1'), userEntry('2', { replyTo: '1' })], /^\[1\]: replyTo is only allowed on an answer/],
    [[userEntry('1', { status: 'interrupted' })], /^\[0\]: status must be one of queued, processing, .* for role user$/],
    [[answerEntry('1', '0', { status: 'queued' })], /^\[0\]: status must be one of done, interrupted, failed for role assistant$/],
    [
      Array.from({ length: MAX_ENTRIES + 1 }, () => ({ role: 'user', content: 'x' })),
      /^it contains 12001 messages, but at most 12000 can be active; move the oldest ones to a file in chat-archive$/,
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

t.test('a message written by hand with a role and a content is queued; such an answer is done', (t) => {
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

t.test('the status of a message written by hand counts more than its processed', (t) => {
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

t.test('a copied line becomes a message of its own, and the answer stays with the first', (t) => {
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
  t.same(whole.map(isWaiting), [false, false, true, true, false]);
  t.end();
});

t.test('a message with the id of an earlier answer gets a new id', (t) => {
  const whole = completeEntries(parseChat([answerEntry('1'), { id: '1', role: 'user', content: 'x' }]), new EntryIds(() => NOW), AT);
  t.match(whole, [
    { id: '1', role: 'assistant' },
    { id: /^m/, role: 'user', status: 'queued' },
  ]);
  t.end();
});

t.test('the id of a completed entry sorts after all others, whatever the clock says', (t) => {
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

t.test('only a complete, valid entry counts as one of the archive', (t) => {
  const [entry] = pair('1');
  t.equal(wholeEntry(entry), entry);
  for (const value of [undefined, null, 5, [], {}, { role: 'user', content: 'x' }, { ...entry, role: 'system' }, { ...entry, status: 'interrupted' }]) {
    t.equal(wholeEntry(value), undefined);
  }
  t.equal(bytesOf(userEntry('é')), Buffer.byteLength(JSON.stringify(userEntry('é'))));
  t.end();
});

t.test('entries of elsewhere lose the names of keys, and nothing else', (t) => {
  const entry = (chain?: object[]) => ({ id: 'm', role: 'user', content: 'hi', ...(chain && { chain }) }) as never;
  const same = [entry(), entry([{ via: 'hook', hook: 'h' }])];
  t.equal(withoutKeys(same), same);
  const link = { via: 'block', block: 'b', links: 1 };
  t.same(withoutKeys([...same, entry([{ via: 'key', key: 'app', trusted: true }, link])]), [...same, entry([{ via: 'key' }, link])]);
  t.end();
});
