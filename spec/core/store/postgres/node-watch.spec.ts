import t from 'tap';
import { type CoreEvents, createBus } from '../../../../core/bus.ts';
import { NodeWatch, type OtherNode } from '../../../../core/store/postgres/node-watch.ts';

t.test('who comes, goes and comes back is told once each, and so is a database that is away', async (t) => {
  const bus = createBus();
  const told: string[] = [];
  bus.on('*', (type, fact) => void told.push(`${type} ${(fact as CoreEvents['node.gone']).node ?? (fact as CoreEvents['store.away']).silentMs > 0}`));
  const other = (id: string): OtherNode => ({ id, version: '1.0.0', url: null, served: null });
  const now = { node: 'a', others: [other('b')], isAway: false, silentMs: 0 };
  const watch = new NodeWatch(bus, () => ({
    others: now.others,
    silentMs: now.silentMs,
    health: { latencyMs: 1, node: now.node, nodes: 1, draining: false, isAway: now.isAway },
  }));
  t.teardown(() => watch.close());
  const after = (change: Partial<typeof now>): string[] => {
    Object.assign(now, change);
    for (let looks = 0; looks < 2; looks += 1) watch.look();
    return told.splice(0);
  };
  t.strictSame(after({}), [], 'who is there has not come');
  t.strictSame(after({ others: [other('c'), other('b')] }), ['node.joined c']);
  t.strictSame(after({ others: [other('c')] }), ['node.gone b']);
  t.strictSame(after({ isAway: true, silentMs: 9000 }), ['store.away true']);
  t.strictSame(after({ isAway: false, silentMs: 0, node: 'a2', others: [other('b')] }), [
    'store.back true',
    'node.gone a',
    'node.gone c',
    'node.joined a2',
    'node.joined b',
  ]);
});
