// The conformance suite over the store in PostgreSQL.
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { connectPostgres } from '../../../core/store/postgres/postgres-store.ts';
import type { SettingStore } from '../../../core/store/port.ts';
import type { Store } from '../../../core/store/store.ts';
import { migratedStore } from '../../support/migrated.ts';
import { noPostgres } from '../../support/postgres.ts';
import { sweep } from '../../support/sweep.ts';
import { storeConformance } from './suite.ts';

const LOCK = { announce: async () => undefined, release: async () => undefined };

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  storeConformance(t, {
    longHistory: sweep(700, 120), // that only the newest are shown is stated in spec/core/store/postgres/conversation.spec.ts
    gaps: {
      'a crash between the moves of a rename': 'a rename is one step',
    },
    async fresh(t) {
      const place = await migratedStore(t);
      const settings = async (): Promise<SettingStore> => {
        const connection = await connectPostgres(place, { connections: 1 });
        t.teardown(() => connection.close());
        return connection.settings;
      };
      const open = async (now: () => number): Promise<Store> => {
        const connection = await connectPostgres(place, { now, connections: 3 });
        const options = { workspace: '', bus: createBus(), now, onLost: async () => undefined, lock: LOCK };
        return connection.open(options).catch((error: unknown) => connection.close().then(() => Promise.reject(error)));
      };
      return { settings, open };
    },
  });
});
