// Both stores keep the laws of the ledger of blocks.
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { Ledger } from '../../../core/store/files/ledger/ledger.ts';
import { PostgresLedger } from '../../../core/store/postgres/ledger.ts';
import { migrated } from '../../support/migrated.ts';
import { noPostgres } from '../../support/postgres.ts';
import { testFolder } from '../../support/test-folder.ts';
import { ledgerSuite } from './ledger-suite.ts';

ledgerSuite(t, 'files', async (t, now) => {
  const ledger = new Ledger(testFolder(t), createBus(), now);
  t.teardown(() => ledger.close());
  return ledger;
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  ledgerSuite(t, 'PostgreSQL', async (t, now) => new PostgresLedger({ database: (await migrated(t)).database, node: () => null, now }));
});
