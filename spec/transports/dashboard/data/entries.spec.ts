import t from 'tap';
import type { ChatEntry } from '../../../../core/types.ts';
import { type Entries, isShort, linesOf, withNewest, withOlder, withVersion } from '../../../../transports/dashboard/data/entries.ts';
import type { Outgoing } from '../../../../transports/dashboard/data/outbox.ts';

const entry = (id: string, more: Partial<ChatEntry> = {}): ChatEntry => ({
  id,
  role: 'user',
  content: id,
  timestamp: '2026-11-23T06:00:00.000Z',
  processed: true,
  status: 'done',
  channel: 'web',
  ...more,
});
const answer = (id: string, replyTo: string, more: Partial<ChatEntry> = {}): ChatEntry => entry(id, { role: 'assistant', replyTo, ...more });
const known = (...list: readonly ChatEntry[]): Entries => withNewest(new Map(), list, true);
const shown = (entries: Entries, reply?: { id: string; key: string }): readonly string[] => linesOf(entries, reply, ({ id }) => id).map(({ key }) => key);

t.test('an entry that has not changed stays the same object, and a page without a change is the same chat', async (t) => {
  const before = known(entry('1'), entry('2'));
  t.equal(withNewest(before, [entry('1'), entry('2')], true), before);
  const after = withNewest(before, [entry('1'), entry('2', { status: 'failed' }), entry('3')], true);
  t.equal(after.get('1'), before.get('1'));
  t.equal(after.get('2')?.status, 'failed');
});

t.test('a newest page takes away what it should have and has not, and keeps what is older', async (t) => {
  const before = known(entry('1'), entry('2'), entry('3'), entry('4'));
  t.strictSame([...withNewest(before, [entry('3'), entry('5')], false).keys()], ['1', '2', '3', '5']);
  t.strictSame([...withNewest(before, [entry('5')], true).keys()], ['5'], 'a page that begins the chat is all of it');
  t.strictSame([...withNewest(before, [], true).keys()], [], 'a chat that was cleared');
});

t.test('older entries come before, once', async (t) => {
  t.strictSame([...withOlder(known(entry('3'), entry('4')), [entry('1'), entry('2'), entry('3')]).keys()], ['1', '2', '3', '4']);
});

t.test('an answer stands below its message, and what waits stands last with the number before it', async (t) => {
  const entries = known(
    entry('1'),
    entry('2', { status: 'processing' }),
    entry('3', { status: 'queued' }),
    answer('4', '1'),
    entry('5', { status: 'queued' }),
    answer('6', 'not-loaded'),
  );
  t.strictSame(shown(entries, { id: '2', key: 'reply' }), ['1', '4', '2', 'reply', '6', '3', '5']);
  const waiting = linesOf(entries, { id: '2', key: 'reply' }, ({ id }) => id).flatMap((line) => (line.kind === 'waiting' ? [line.before] : []));
  t.strictSame(waiting, [1, 2]);
});

t.test('a reply to a message that is not loaded stands last', async (t) => {
  t.strictSame(shown(known(entry('1')), { id: '0', key: 'reply' }), ['1', 'reply']);
});

t.test('a message on its way is a line above its answer, whether its receipt is there or not, and goes when its entry is read', async (t) => {
  const outgoing = (text: string, more: Partial<Outgoing> = {}): Outgoing => ({ block: 'ada', clientId: text, text, state: 'sending', ...more });
  const entries = known(entry('1'), entry('2', { status: 'queued' }));
  const order = (reply: string, ...list: readonly Outgoing[]): readonly string[] =>
    linesOf(entries, { id: reply, key: 'reply' }, ({ id }) => id, list).map(({ key }) => key);
  t.strictSame(order('9', outgoing('a'), outgoing('b')), ['1', '2', 'a', 'reply', 'b'], 'the receipt is not there');
  t.strictSame(order('9', outgoing('a', { state: 'sent', id: '8' }), outgoing('b', { state: 'sent', id: '9' })), ['1', '2', 'a', 'b', 'reply']);
  t.strictSame(order('2', outgoing('a')), ['1', '2', 'reply', 'a'], 'a reply to another message');
  t.strictSame(order('9', outgoing('a', { state: 'refused' })), ['1', 'reply', '2', 'a'], 'what the server refused is not answered');
  const read = known(entry('1'), entry('2', { clientId: 'a' }));
  t.strictSame(
    linesOf(read, undefined, ({ id }) => id, [outgoing('a', { state: 'sent' })]).map(({ key }) => key),
    ['1', '2'],
  );
});

t.test('the entry of a complete reply takes its place, also while the reply is still known', async (t) => {
  const entries = known(entry('1'), answer('2', '1'));
  const lines = linesOf(entries, { id: '1', key: 'reply' }, ({ id }) => (id === '2' ? 'reply' : id));
  t.match(lines, [{ key: '1' }, { kind: 'entry', key: 'reply' }]);
  t.equal(lines.length, 2);
});

const asked = known(entry('1'), answer('2', '1'), entry('3', { replaces: '1' }), answer('4', '3'), entry('5', { replaces: '3' }), answer('6', '5'), entry('7'));

t.test('of the versions of a message the newest is shown, in the place of the first', async (t) => {
  const lines = linesOf(asked, undefined, ({ id }) => id);
  t.match(lines, [{ key: '1', entry: { id: '5' }, versions: { ids: ['1', '3', '5'], at: 2, isSeen: true } }, { entry: { id: '6' } }, { entry: { id: '7' } }]);
  t.notOk('versions' in (lines[2] ?? {}), 'a message that was asked once has none');
});

t.test('an earlier version is shown with its answer by its own id or that of the answer, until the message is asked again', async (t) => {
  const shownBy = (id: string, entries = asked) => {
    const chosen = withVersion(new Map(), asked, id, undefined);
    return linesOf(entries, undefined, ({ id }) => id, [], chosen).flatMap((line) => ('entry' in line ? [line.entry.id] : []));
  };
  t.strictSame(shownBy('1'), ['1', '2', '7']);
  t.strictSame(shownBy('4'), ['3', '4', '7']);
  t.strictSame(shownBy('7'), ['5', '6', '7']);
  t.strictSame(shownBy('1', withNewest(asked, [...asked.values(), entry('8', { replaces: '5' }), answer('9', '8')], true)), ['7', '8', '9']);
  t.equal(linesOf(asked, undefined, ({ id }) => id, [], withVersion(new Map(), asked, '1', undefined)).length, 3);
});

t.test('a version that waits stands below, one that is being answered takes the place, and what fails leaves the one that models see', async (t) => {
  const again = (status: ChatEntry['status']): Entries => known(entry('1'), answer('2', '1'), entry('3', { replaces: '1', status }));
  t.match(
    linesOf(again('queued'), undefined, ({ id }) => id),
    [{ entry: { id: '1' } }, { entry: { id: '2' } }, { kind: 'waiting', entry: { id: '3' } }],
  );
  t.strictSame(shown(again('queued'), { id: '3', key: 'reply' }), ['1', 'reply'], 'the reply may come before its message is read again');
  t.strictSame(shown(again('processing'), { id: '3', key: 'reply' }), ['1', 'reply']);
  const before = (status: ChatEntry['status']) =>
    linesOf(again(status), undefined, ({ id }) => id, [], withVersion(new Map(), again(status), '1', undefined))[0];
  t.match(before('failed'), { entry: { id: '1' }, versions: { isSeen: true } });
  t.match(before('processing'), { entry: { id: '1' }, versions: { isSeen: false } });
  const reading = linesOf(again('processing'), { id: '3', key: 'reply' }, ({ id }) => id, [], withVersion(new Map(), again('processing'), '1', '3'));
  t.strictSame(
    reading.map(({ key }) => key),
    ['1', '2'],
    'a reply to another version than the one that is read is not shown below it',
  );
});

t.test('more is read where versions leave little to show, or an earlier one is not there', async (t) => {
  t.ok(isShort(asked, 3, 20));
  t.notOk(isShort(asked, 20, 20));
  t.ok(isShort(known(entry('3', { replaces: '1' })), 20, 20));
  t.notOk(isShort(known(entry('1')), 1, 20), 'a short chat is only short');
});
