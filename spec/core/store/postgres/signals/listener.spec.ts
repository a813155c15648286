import t from 'tap';
import { parseStorePlace } from '../../../../../core/store/postgres/place.ts';
import { Listener } from '../../../../../core/store/postgres/signals/listener.ts';
import { migrated } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';
import { until } from '../../../../support/until.ts';

t.test('a connection on which nothing passes any more is given up', { skip: noPostgres }, async (t) => {
  const world = await migrated(t);
  const { proxy } = await world.openByProxy();
  const seen: string[] = [];
  const place = parseStorePlace(proxy.store);
  const listener = new Listener({ place, channels: () => ['bh_x'], onNotice: (text) => seen.push(text), onGap: () => seen.push('gap'), beatMs: 50 });
  await listener.open();
  t.teardown(() => listener.close());
  proxy.swallow();
  setTimeout(() => proxy.heal(), 200);
  await until('there was a gap', () => seen.includes('gap'));
  await world.ask("notify bh_x, 'hello'");
  await until('it hears again', () => seen.includes('hello'));
});
