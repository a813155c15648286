import t from 'tap';
import { ContentRoom } from '../../../../core/store/parts/content-room.ts';
import { KnownEntries } from '../../../../core/store/postgres/known-entries.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';

function entry(id: string, content = '', status: ChatEntry['status'] = 'done'): ChatEntry {
  return { id, role: 'user', content, timestamp: '2026-12-01T00:00:00.000Z', processed: status === 'done', status, channel: 'web' };
}

function rig(room?: ContentRoom) {
  const now = { ms: 0, past: 0 };
  const known = new KnownEntries({ clock: () => now.ms, past: () => now.past, room });
  const read = (version: string, ...entries: ChatEntry[]): void => known.take({ version, entries }, known.active, known.moment());
  return { now, known, read };
}

t.test('what was read is good for a tenth of a second, unless a change is told of', async (t) => {
  const { now, known, read } = rig();
  t.equal(known.fresh, undefined);
  read('1', entry('a'));
  t.match(known.fresh, [{ id: 'a' }]);
  now.ms = 100;
  t.equal(known.fresh, undefined);
  known.confirm('1', known.moment());
  t.match(known.fresh, [{ id: 'a' }], 'its block still has that version');
  known.hint();
  t.equal(known.fresh, undefined);
  t.match(known.active, { version: '1' }, 'which it is compared with');
});

t.test('a reading counts for nothing where the entries have changed meanwhile', async (t) => {
  const { known, read } = rig();
  const [before, moment] = [known.active, known.moment()];
  read('2', entry('a'), entry('b'));
  known.take({ version: '1', entries: [entry('a')] }, before, moment);
  t.match(known.active, { version: '2' });
});

t.test('a change of this server is made in what it knows of the version before', async (t) => {
  const { known, read } = rig();
  read('1', entry('a', '', 'queued'));
  const before = known.moment();
  known.hint(); // each change is told of here, too
  known.keep({ version_before: '1', version: '2' }, before, [entry('a'), entry('b')]);
  t.match(known.fresh, [
    { id: 'a', status: 'done' },
    { id: 'b', status: 'done' },
  ]);
  known.keep({ version_before: '1', version: '3' }, before, [entry('c')]);
  t.match(known.active, { version: '2' });
});

t.test('whose turn it is holds for one claim, a tenth of a second, and until the next change', async (t) => {
  const { now, known } = rig();
  const turn = (): void => {
    const before = known.moment();
    known.hint();
    known.keepTurn(before, entry('a', '', 'queued'), 7);
  };
  turn();
  t.match([known.turnOf(7), known.turnOf(8)], [{ next: { id: 'a' } }, undefined]);
  known.hint();
  t.equal(known.turnOf(7), undefined);
  turn();
  now.ms = 100;
  t.equal(known.turnOf(7), undefined);
});

t.test('beyond the room of all blocks, and after another past of the database, nothing is known', async (t) => {
  const room = new ContentRoom(1000, 10);
  const [first, second] = [rig(room), rig(room)];
  first.read('1', entry('a', 'x'.repeat(300)));
  const before = first.known.moment();
  first.known.hint();
  first.known.keepTurn(before, entry('b', 'x'.repeat(200)));
  t.ok(room.bytes >= 500 && room.bytes < 1000, 'the message whose turn it is counts, too');
  second.read('1', entry('a', 'x'.repeat(600)));
  t.same([first.known.active, first.known.turnOf(1)], [undefined, undefined]);
  t.match(second.known.fresh, [{ id: 'a' }]);
  second.now.past += 1;
  t.equal(second.known.fresh, undefined);
});
