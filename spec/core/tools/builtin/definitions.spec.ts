// The built-in tools, without a run.
import t from 'tap';
import { findToolDefinition, readResultDefinition } from '../../../../core/tools/builtin/definitions.ts';
import { chainOfSchedule, laterOf, linksOf, withLater } from '../../../../core/tools/builtin/later.ts';
import { readOn } from '../../../../core/tools/builtin/read-result.ts';
import { withFact } from '../../../../core/tools/builtin/remember.ts';
import { chainFrom, sendProblem, Waits } from '../../../../core/tools/builtin/send.ts';
import { RunState } from '../../../../core/tools/journal.ts';
import type { ChainLink, ChatEntry, Schedule } from '../../../../core/types.ts';
import { memoryOf } from '../../../support/block-files.ts';
import { AT, answerRecord, modelRecord, resultRecord, runRecord } from '../../../support/tools/records.ts';

t.test('what is read on fits into its room, and says where the text ends', async (t) => {
  t.equal(readOn('abcdef', { ref: '1.1', offset: 2 }, 100), '(Characters 2 to 6 of 6.)\ncdef');
  t.equal(readOn('abc', { ref: '1.1', offset: 3 }, 100), '(The result 1.1 has 3 characters.)');
  const part = readOn('é'.repeat(10_000), { ref: '1.1', limit: 9000 }, 260);
  t.match(part, /^\(Characters 0 to 29\d of 10,000; offset 29\d reads on\.\)/);
  t.match(readOn('x.y'.repeat(30), { ref: '1.1', find: 'x.y' }, 100), /only the first 20 are shown/);
  t.match(readOn('x-y', { ref: '1.1', find: 'x.y' }, 100), /"x\.y" is not in the result/);
  t.match(readOn('İİΟΔΟΣ Aab', { ref: '1.1', find: 'οδοσ' }, 100), /\n- 2: İİΟΔΟΣ Aab$/, 'in any case, at the place where it stands');
  t.match(readOn('aAaaa', { ref: '1.1', find: 'AA', offset: 1 }, 100), /\n- 1: [^\n]*\n- 3: [^\n]*$/);
});

t.test('a text that repeats itself is searched in one go', async (t) => {
  const text = 'a'.repeat(8 * 1024 * 1024);
  for (const find of [`${'a'.repeat(199)}b`, `b${'a'.repeat(199)}`, `${'a'.repeat(100)}b${'a'.repeat(99)}`]) {
    const before = process.cpuUsage();
    t.match(readOn(text, { ref: '1.1', find }, 1000), /is not in the result/);
    t.ok(process.cpuUsage(before).user < 400_000, 'without trying it at each place');
  }
});

t.test('the pin of a built-in tool is of its name and schema, not of what its description lists', async (t) => {
  t.equal(findToolDefinition([]).pin, findToolDefinition([readResultDefinition]).pin);
  t.match(findToolDefinition([]).description, /to be found: none\.$/);
  t.not(findToolDefinition([]).pin, readResultDefinition.pin);
});

const NOW = Date.parse(AT);
const sent = { call: '1.1', tool: 'block/send', arguments: '{}', outcome: 'done', isError: false, ms: 1, preview: '' };

t.test('own-chain: a message goes to no block that it came through, through so many, and so often', async (t) => {
  const say = (more: object = {}) =>
    sendProblem({
      ...{
        block: 'a',
        to: 'b',
        place: '9.1',
        chain: [],
        settings: { to: ['b'], hops: 2, perMessage: 2, perHour: 3 },
        state: new RunState(),
        entries: [],
        now: NOW,
      },
      ...more,
    });
  const through = (...blocks: string[]): ChainLink[] => blocks.map((block) => ({ via: 'block', block }));
  t.equal(say(), undefined);
  t.match(say({ to: 'c' }), /may not write to c\. It may write to b\./);
  t.match(say({ chain: through('b') }), /has come through b/);
  t.match(say({ block: 'b' }), /has come through b/, 'not to itself');
  t.equal(say({ chain: [{ via: 'hook', hook: 'b' }, ...through('c')] }), undefined);
  t.match(say({ chain: through('c', 'd') }), /through 3 blocks, .*tools\.send\.hops/);
  const calls = [1, 2].flatMap((step) => [modelRecord(step), answerRecord(step, [{ name: 'block__send', arguments: {} }]), resultRecord(`${step}.1`)]);
  const state = new RunState([runRecord(), ...calls]);
  t.match(say({ state }), /tools\.send\.perMessage/);
  t.equal(say({ state, place: '1.1' }), undefined, 'the call itself does not count');
  const entries = [
    { finishedAt: AT, steps: [sent, sent, { ...sent, isError: true }, sent] },
    { finishedAt: '2026-11-28T10:59:00.000Z', steps: [sent] },
  ];
  t.match(say({ entries }), /tools\.send\.perHour/);
  t.equal(say({ entries: [{ finishedAt: AT, steps: [sent, sent] }] }), undefined);
  t.strictSame(chainFrom('a', through('c'), 0), [...through('c'), { via: 'block', block: 'a' }]);
  t.match(chainFrom('a', [], 3), [{ block: 'a', links: 3 }]);
});

t.test('no-ring: of waits that would close a ring the last one is refused', async (t) => {
  const waits = new Waits();
  t.equal(waits.begin('a', 'b'), true);
  t.equal(waits.begin('a', 'c'), true);
  t.equal(waits.begin('c', 'd'), true);
  t.equal(waits.begin('d', 'a'), false);
  t.equal(waits.begin('b', 'a'), false);
  waits.end('a', 'b');
  t.equal(waits.begin('b', 'a'), true);
  t.equal(waits.begin('c', 'b'), false, 'c waits for d, and b for a, which waits for c');
  waits.end('a', 'c');
  t.equal(waits.begin('c', 'b'), true);
});

t.test('no-endless-chain: a message to itself knows how many came before it in a row', async (t) => {
  const of = (more: object, links = 0, isTainted = false) => laterOf({ message: 'm', ...more }, { callId: 'ada/m1/1.1', links, isTainted }, NOW);
  const first = of({ inMinutes: 5 });
  t.match(first, { id: /^later-1-[0-9a-f]{12}$/, at: NOW + 300_000 });
  t.strictSame(of({ inMinutes: 5 }), first, 'the same call is the same schedule');
  const tainted = of({ inMinutes: 5 }, 3, true);
  t.match(tainted, { id: /^later-4t-[0-9a-f]{12}$/ });
  const clientId = `schedule:${(tainted as { readonly id: string }).id}:x`;
  t.strictSame(chainOfSchedule('ada', clientId), { chain: [{ via: 'block', block: 'ada' }] });
  t.strictSame(chainOfSchedule('ada', 'schedule:later-4-0123456789ab:x'), {});
  t.equal(linksOf({ clientId }), 4);
  t.match(of({ at: '2026-11-28T14:00:00+01:00' }), { at: NOW + 3_600_000 });
  for (const [more, why] of [
    [{}, /either/],
    [{ at: '2026-11-28T14:00:00Z', inMinutes: 1 }, /either/],
    [{ at: '2026-11-28T14:00:00' }, /time zone/],
    [{ at: 'noonZ' }, /no time/],
    [{ at: AT }, /a minute from now/],
  ] as const)
    t.match(of(more), why);
  t.match(of({ inMinutes: 5 }, 24), /24th message in a row/);
  t.equal(linksOf({ clientId: 'schedule:later-7-0123456789ab:2026-11-28T12:00:00.000Z' }), 7);
  t.equal(linksOf({ clientId: 'schedule:brief:2026' }), 0);
  t.equal(linksOf({ chain: [{ via: 'block', block: 'a', links: 4 }] }), 4);
});

t.test('a block has 20 schedules at most, and sends itself 24 messages a day; those that are over make room', async (t) => {
  const later = (index: number, at: number): Schedule => ({ id: `later-1-${String(index).padStart(12, '0')}`, at: new Date(at).toISOString(), message: 'm' });
  const one = later(99, NOW + 60_000);
  const many = (count: number, at: number): Schedule[] => Array.from({ length: count }, (_, index) => later(index, at));
  const own = { id: 'own', every: '1h', message: 'm' } as Schedule;
  t.strictSame(withLater([own, ...many(5, NOW - 3 * 3_600_000)], one, [], NOW), [own, one]);
  t.equal((withLater(many(5, NOW - 60_000), one, [], NOW) as Schedule[]).length, 6, 'what was due just now stays');
  t.match(withLater([own, ...many(19, NOW + 60_000)], one, [], NOW), /20 schedules/);
  const before = [...many(19, NOW + 60_000), one];
  t.equal(withLater(before, one, [], NOW), before, 'the same call again changes nothing');
  t.equal(withLater(before, { ...one, id: one.id.replace('-1-', '-1t-') }, [], NOW), before, 'nor does it where the run is tainted by now');
  const entry = (at: number) => ({ clientId: 'schedule:later-1-0123456789ab:x', timestamp: new Date(at).toISOString() }) as ChatEntry;
  t.match(
    withLater(
      [],
      one,
      Array.from({ length: 24 }, () => entry(NOW - 1000)),
      NOW,
    ),
    /within a day/,
  );
  t.strictSame(
    withLater(
      [],
      one,
      Array.from({ length: 24 }, () => entry(NOW - 86_400_001)),
      NOW,
    ),
    [one],
  );
});

t.test('a block keeps 100 facts of its own, and the same call keeps one', async (t) => {
  const of = { callId: 'ada/m1/1.1', messageId: 'm1', at: AT, taint: [] };
  const kept = withFact(memoryOf(), 'Bob likes tea.', of);
  t.match(kept, { facts: [{ text: 'Bob likes tea.', pinned: true, by: 'block', messageId: 'm1' }] });
  t.equal(withFact(kept as never, 'Bob likes tea.', of), kept);
  t.match(withFact(memoryOf(), ' ', of), /blank/);
  const taint = [{ messageId: 'm1', tool: 'web/fetch' }];
  t.match(withFact(memoryOf(), 'Bob likes tea.', { ...of, taint }), { facts: [{ taint }] }, 'what a tainted run keeps is tainted');
  const facts = Array.from({ length: 100 }, (_, index) => ({ id: `f${index}`, text: 't', pinned: true, by: 'block' }));
  t.match(withFact(memoryOf({ facts }), 'More.', of), /100 facts/);
  t.type(withFact(memoryOf({ facts: facts.map(({ by: _, ...fact }) => fact) }), 'More.', of), 'object', "those of the user don't count");
});
