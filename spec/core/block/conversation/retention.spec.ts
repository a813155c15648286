import t from 'tap';
import { bytesOf } from '../../../../core/block/conversation/chat-file.ts';
import { ACTIVE_BYTES, ACTIVE_ENTRIES, activeOf, MOVED_AT_ONCE, splitOld } from '../../../../core/block/conversation/retention.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';
import type { Entries } from '../../../../core/store/port.ts';
import { answerEntry, userEntry } from '../../../support/block-files.ts';

const MIB = 1024 * 1024;
const queued = (id: string, fields: Partial<ChatEntry> = {}) => userEntry(id, { processed: false, status: 'queued', ...fields });
const settled = (count: number, fields: Partial<ChatEntry> = {}) => Array.from({ length: count }, (_, n) => userEntry(`${n}`, fields));
const ids = (entries: Entries) => entries.map(({ id }) => id);

t.test('exactly the newest 500 are active; older ones move together', (t) => {
  const entries = settled(600);
  const { kept, old } = splitOld(entries);
  t.equal(kept.length, ACTIVE_ENTRIES);
  t.same([...old, ...kept], entries);
  const some = entries.slice(0, ACTIVE_ENTRIES + MOVED_AT_ONCE.entries);
  t.same(splitOld(some), { kept: some, old: [] }, 'some more wait for the next move');
  t.same(activeOf(some), some.slice(-ACTIVE_ENTRIES));
  const few = entries.slice(0, ACTIVE_ENTRIES);
  t.equal(splitOld(few).kept, few);
  t.equal(activeOf(few), few);
  t.end();
});

t.test("waiting messages stay, however old or long they are, and don't count towards the limits", (t) => {
  const waiting = Array.from({ length: 600 }, (_, n) => queued(`w${n}`, { content: 'x'.repeat(10_000) }));
  const byHand = { role: 'user', content: 'by hand' } as ChatEntry;
  const entries = [byHand, ...waiting, ...settled(600)];
  const { kept, old } = splitOld(entries);
  t.same(kept.slice(0, 601), [byHand, ...waiting]);
  t.same(ids(old), ids(settled(100)));
  t.same(splitOld(waiting), { kept: waiting, old: [] });
  t.end();
});

t.test('few entries with much text move too, until the rest is within the limit', (t) => {
  const entries = settled(80, { content: 'x'.repeat(75_000) });
  const { kept, old } = splitOld(entries);
  t.ok(kept.reduce((sum, entry) => sum + bytesOf(entry), 0) <= ACTIVE_BYTES);
  t.same([...old, ...kept], entries);
  t.ok(kept.length > 50);
  t.end();
});

t.test("long entries don't push out the newest ones", (t) => {
  const long = (id: string) => [userEntry(id), answerEntry(`${id}a`, id, { content: 'x'.repeat(5.5 * MIB) })];
  const entries = [...settled(100), ...long('long')];
  t.same(ids(splitOld(entries).kept), ids(entries.slice(-20)));
  t.same(splitOld(long('1')), { kept: long('1'), old: [] });
  const many = Array.from({ length: 10 }, (_, n) => long(`l${n}`)).flat();
  t.same(ids(splitOld(many).kept), ['l8', 'l8a', 'l9', 'l9a'], 'though there is an end to it');
  t.end();
});

t.test('an entry that is too long for chat.json moves alone', (t) => {
  const huge = answerEntry('1a', '1', { content: 'x'.repeat(25 * MIB) });
  const entries = [...settled(3), userEntry('1'), huge];
  t.same(splitOld(entries), { kept: entries.slice(0, 4), old: [huge] });
  t.end();
});
