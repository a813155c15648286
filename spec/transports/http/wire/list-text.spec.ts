import t from 'tap';
import type { BlockEntry } from '../../../../core/index.ts';
import { blockListText } from '../../../../transports/http/wire/list-text.ts';

/** Counts in `written` how often it became text. */
function entry(name: string, written: string[] = []): BlockEntry {
  const status = { status: 'SLEEPING', state: 'stopped' } as const;
  const fields: BlockEntry = {
    name,
    ...status,
    attention: false,
    config: { description: 'é "quoted" \u2028', adapter: null, tags: [], enabled: false },
    costs: { totalInput: 0, totalOutput: 0, totalCost: null, calls: 0 },
    pulse: { ...status, lastPulse: null, nextWakeUp: null, error: null },
    queue: 0,
    failures: { count: 0, since: null, last: null },
    lastMessageAt: null,
    budget: { dailyUsd: null, spentUsd: 0, state: 'ok' },
    activity: [],
  };
  const toJSON = (): object => {
    written.push(name);
    return fields;
  };
  return Object.freeze({ ...fields, toJSON });
}

t.test('the text is what the list would be as JSON', async (t) => {
  for (const entries of [[], [entry('a')], [entry('a'), entry('b')]]) {
    const { content, type } = blockListText(entries);
    t.equal(Buffer.from(content).toString(), JSON.stringify({ blocks: entries }));
    t.equal(type, 'application/json; charset=utf-8');
  }
});

t.test('an entry is written out once, and another object of the same block again', async (t) => {
  const written: string[] = [];
  const [a, b] = [entry('a', written), entry('b', written)];
  const first = blockListText([a, b]);
  t.strictSame(written, ['a', 'b']);
  t.strictSame(blockListText([a, b]), first);
  t.strictSame(written, ['a', 'b'], 'nothing was written again');
  blockListText([b, entry('a', written)]);
  t.strictSame(written, ['a', 'b', 'a'], 'only what changed was');
});

t.test('the same list is the same bytes', async (t) => {
  const entries = [entry('a')];
  t.equal(blockListText(entries), blockListText(entries));
});
