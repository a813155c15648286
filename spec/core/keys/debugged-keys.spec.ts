import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { DebuggedKeys } from '../../../core/keys/debugged-keys.ts';
import type { DebuggedBodies } from '../../../core/types.ts';
import { until } from '../../support/until.ts';

const EMPTY = { text: '', bytes: 0, cut: false };
const bodies = (key: string): DebuggedBodies => ({ requestId: 'r', at: '', key, path: '/v1/chat', status: 200, request: EMPTY, answer: EMPTY });

function rig() {
  const bus = createBus();
  const facts: unknown[] = [];
  bus.on('debug.started', (fact) => void facts.push(['started', fact.key, fact.until]));
  bus.on('debug.ended', (fact) => void facts.push(['ended', fact.key]));
  const on = new Map<string, string>();
  const done: unknown[] = [];
  const file = {
    add: (each: DebuggedBodies) => void done.push(['add', each.key]),
    of: async () => [bodies('a')],
    keepOnly: async (keys: Iterable<string>) => void done.push(['keepOnly', ...keys]),
    remove: async () => void done.push(['remove']),
  };
  const debugged = new DebuggedKeys({ keys: { debugged: () => new Map(on) }, file, bus });
  return { debugged, on, facts, done };
}

t.test('what an earlier process has left is deleted, bodies are kept of debugged keys alone, and deleted when they end', async (t) => {
  const { debugged, on, facts, done } = rig();
  await debugged.begin();
  t.same(done, [['remove']]);
  debugged.keep(bodies('a'));
  t.same(await debugged.of('r'), [], 'nothing is read while no key is debugged');
  on.set('a', '10:00').set('b', '10:00');
  debugged.keep(bodies('a'));
  debugged.keep(bodies('c'));
  t.same(await debugged.of('r'), [bodies('a')]);
  on.set('a', '10:30');
  on.delete('b');
  await debugged.look();
  on.clear();
  await debugged.look();
  debugged.keep(bodies('a'));
  t.same(done.slice(1), [['add', 'a'], ['keepOnly', 'a'], ['keepOnly']]);
  t.same(facts, [
    ['started', 'a', '10:00'],
    ['started', 'b', '10:00'],
    ['started', 'a', '10:30'],
    ['ended', 'b'],
    ['ended', 'a'],
  ]);
  await debugged.close();
});

t.test('an end that nobody tells is noticed by itself', async () => {
  const { debugged, on, done } = rig();
  on.set('a', '10:00');
  await debugged.begin();
  on.clear();
  await until('it has looked', () => done.some((each) => (each as string[])[0] === 'keepOnly'));
  await debugged.close();
});

t.test('nothing is kept after the end, at which all is deleted', async (t) => {
  const { debugged, on, done } = rig();
  await debugged.begin();
  on.set('a', '10:00');
  await debugged.close();
  await debugged.close();
  debugged.keep(bodies('a'));
  t.same(done, [['remove'], ['remove']]);
});
