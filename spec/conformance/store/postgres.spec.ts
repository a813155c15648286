// The conformance suite over the store in PostgreSQL.
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { connectPostgres } from '../../../core/store/postgres/postgres-store.ts';
import type { Store } from '../../../core/store/store.ts';
import { migratedStore } from '../../support/migrated.ts';
import { noPostgres } from '../../support/postgres.ts';
import { storeConformance } from './suite.ts';

const LOCK = { announce: async () => undefined, release: async () => undefined };

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  storeConformance(t, {
    gaps: {
      'a crash between the moves of a rename': 'a rename is one step',
    },
    async fresh(t) {
      const place = await migratedStore(t);
      const { settings, close } = await connectPostgres(place).then((connection) => ({ settings: connection.settings, close: () => connection.close() }));
      t.teardown(close);
      const open = async (now: () => number): Promise<Store> => {
        const connection = await connectPostgres(place, { now, connections: 3 });
        const options = { workspace: '', bus: createBus(), now, onLost: async () => undefined, lock: LOCK };
        return connection.open(options).catch((error: unknown) => connection.close().then(() => Promise.reject(error)));
      };
      return { settings, open };
    },
  });
});
