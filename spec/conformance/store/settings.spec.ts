// Both stores keep the laws of the settings.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FileSettings } from '../../../core/store/files/settings.ts';
import { parseStorePlace } from '../../../core/store/postgres/place.ts';
import { Database } from '../../../core/store/postgres/pool.ts';
import { PostgresSettings } from '../../../core/store/postgres/settings.ts';
import { migratedStore } from '../../support/migrated.ts';
import { ask, noPostgres } from '../../support/postgres.ts';
import { settingsSuite } from './settings-suite.ts';

const FILES = { halt: 'halted.json', keys: 'keys.json', models: 'models.json', token: '.api-token', mcp: 'mcp.json', 'mcp-pins': 'mcp-pins.json' };

settingsSuite(t, 'files', async (t) => {
  const folder = t.testdir({});
  let ms = 0;
  const now = (): number => ms;
  return {
    one: new FileSettings(folder, now),
    other: new FileSettings(folder, now),
    write: async (name, text) => (text === undefined ? rmSync(join(folder, FILES[name])) : writeFileSync(join(folder, FILES[name]), text)),
    later: async () => {
      ms += 1000;
    },
  };
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  settingsSuite(t, 'PostgreSQL', async (t) => {
    const store = await migratedStore(t);
    const open = async (): Promise<PostgresSettings> => {
      const database = await Database.open(parseStorePlace(store), { connections: 2 });
      const settings = await PostgresSettings.open(database);
      t.teardown(() => {
        settings.close();
        return database.close();
      });
      return settings;
    };
    const [one, other] = [await open(), await open()];
    return {
      one,
      other,
      write: async (name, text) => {
        const set = 'insert into bh.setting as s (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value, rev = s.rev + 1';
        await ask(store, set, [name, text ?? null]);
      },
      later: async () => {
        await Promise.all([one.look(), other.look()]);
      },
    };
  });
});
