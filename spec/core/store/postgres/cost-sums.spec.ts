// Sums beside lines that their writers did not add to them. The laws of reports are in spec/conformance/store/.
import t, { type Test } from 'tap';
import type { LedgerLine } from '../../../../core/store/port.ts';
import { putLedger, readLedger } from '../../../../core/store/postgres/copy/ledger-copy.ts';
import { CostSums } from '../../../../core/store/postgres/cost-sums.ts';
import { PostgresLedger, valuesOf } from '../../../../core/store/postgres/ledger.ts';
import { assertMigrated, migrate, pendingMigrations } from '../../../../core/store/postgres/migrate.ts';
import { parseStorePlace } from '../../../../core/store/postgres/place.ts';
import { Database } from '../../../../core/store/postgres/pool.ts';
import { report } from '../../../../core/store/postgres/sql/costs.ts';
import { lineOf, oddLines, reportsAreRight } from '../../../conformance/store/ledger-suite.ts';
import { type Migrated, migrated } from '../../../support/migrated.ts';
import { ask, noPostgres, postgresStore } from '../../../support/postgres.ts';

const now = (): number => Date.parse('2026-11-20T12:00:00.000Z');
const ledgerOn = (database: Database): PostgresLedger => new PostgresLedger({ database, node: () => null, now });
const noFault = (error: unknown): void => {
  throw error;
};

type Ask = Migrated['ask'];

/** A line as a server of the version before writes it. */
async function writeAsBefore(ask: Ask, lines: readonly LedgerLine[]): Promise<void> {
  for (const line of lines)
    await ask(
      `insert into bh.ledger (at, call_id, block, part, provider, model, purpose, message_id, usage, cost_usd, failed, credential, step)
       select $1::timestamptz, $2, $3, 1, $4, $5, $6, $7, $8::jsonb, $9::float8, $10::boolean, $11, $12::int on conflict do nothing`,
      valuesOf(line).filter((_, place) => place !== 10 && place !== 11),
    );
}

async function sums(ask: Ask): Promise<unknown> {
  return ask('select block, day, facts, calls, input, output, cache_read, cache_write, unpriced, cost_usd from bh.cost_day order by 1, 2, 3');
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('lines of older servers count at once, and are added to the sums once, by however many servers', async (t) => {
    const { database, open, ask } = await migrated(t);
    const lines = oddLines();
    const ledger = ledgerOn(database);
    await writeAsBefore(ask, lines.slice(0, 70));
    for (const line of lines.slice(70)) await ledger.append(line);
    await ledger.append(lines[0] as LedgerLine);
    await reportsAreRight(t, ledger, 5);
    const servers = [database, await open(), await open()].map((each) => new CostSums(each, noFault));
    await Promise.all([...servers, ...servers].map((each) => each.keep()));
    t.strictSame(await ask('select count(*)::int as n from bh.ledger where summed is not true'), [{ n: 0 }]);
    await reportsAreRight(t, ledger, 5);
    const before = await sums(ask);
    await ask('truncate bh.cost_day; update bh.ledger set summed = false');
    await servers[0]?.keep();
    t.strictSame(await sums(ask), before);
  });

  t.test('a step that breaks off adds nothing twice', async (t) => {
    const { database, openByProxy, ask } = await migrated(t);
    await writeAsBefore(ask, oddLines());
    const cut = await openByProxy();
    const costs = new CostSums(cut.database, noFault);
    cut.proxy.loseAnswerTo('commit');
    await t.rejects(costs.keep(), { code: 'STORE_UNREACHABLE' });
    cut.proxy.heal();
    await costs.keep();
    await reportsAreRight(t, ledgerOn(database), 5);
    const hours = new CostSums(database, noFault);
    hours.start();
    hours.close();
  });

  t.test('a ledger from before the sums gets them, also while servers of that version write on', async (t: Test) => {
    const store = await postgresStore(t);
    const place = parseStorePlace(store);
    const database = await Database.open(place, { connections: 3 });
    t.teardown(() => database.close());
    const all = await pendingMigrations(database.query);
    const before = all.filter(({ name }) => name < '006');
    const tell: Ask = (text, values) => ask(store, text, values);
    await migrate(place, undefined, before);
    await tell("create table bh.ledger_1999_12 partition of bh.ledger for values from ('1999-12-01') to ('2000-01-01')");
    const lines = oddLines();
    await writeAsBefore(tell, lines.slice(0, 50));
    await t.rejects(assertMigrated(database), { code: 'STORE_NOT_MIGRATED' });
    await migrate(
      place,
      undefined,
      all.filter(({ name }) => name < '007'),
    );
    await writeAsBefore(tell, lines.slice(50, 75));
    await migrate(place);
    await writeAsBefore(tell, lines.slice(75, 100));
    await tell("create table bh.ledger_1998_12 partition of bh.ledger for values from ('1998-12-01') to ('1999-01-01')");
    const late = [lineOf('late', { at: '1998-12-24T12:00:00.000Z' })];
    await writeAsBefore(tell, late);
    const ledger = ledgerOn(database);
    for (const line of lines.slice(100)) await ledger.append(line);
    await reportsAreRight(t, ledger, 5);
    await new CostSums(database, noFault).keep();
    await reportsAreRight(t, ledger, 5);
    t.equal((await ledger.report({ by: 'day' })).total.calls, lines.length + late.length);
    const [found] = await tell(
      "select count(*)::int as n from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid where i.inhparent = 'bh.ledger_unsummed'::regclass and x.indisvalid",
    );
    t.strictSame(found, { n: 3 }, 'each part has its index');
  });

  t.test('a report does not read the lines that are in the sums', async (t: Test) => {
    const store = await postgresStore(t);
    const place = parseStorePlace(store);
    const database = await Database.open(place, { connections: 3 });
    t.teardown(() => database.close());
    const all = await pendingMigrations(database.query);
    await migrate(
      place,
      undefined,
      all.filter(({ name }) => name < '006'),
    );
    await ask(
      store,
      `insert into bh.ledger (at, call_id, block, part, provider, model, purpose)
       select now() - n * interval '1 s', 'c' || n, 'b', 1, 'p', 'm', 'chat' from generate_series(1, 20000) n`,
    );
    await ask(store, 'analyze bh.ledger');
    await migrate(place);
    const plan = async (): Promise<string> =>
      (await ask(store, `explain ${database.text(report('model', [false, false, false]).text)}`)).map((row) => row['QUERY PLAN']).join('\n');
    t.notMatch(await plan(), /Seq Scan on ledger/);
    await ask(store, 'update bh.ledger set summed = true; analyze bh.ledger');
    t.notMatch(await plan(), /Seq Scan on ledger/);
    t.match(await ledgerOn(database).report({ by: 'model' }), { total: { calls: 20_000 } });
  });

  t.test('a copy brings the sums along, in both directions', async (t) => {
    const one = await migrated(t);
    const other = await migrated(t);
    const ledger = ledgerOn(one.database);
    for (const line of oddLines()) await ledger.append(line);
    const held = await one.database.hold('sees-one-moment');
    for (let times = 0; times < 2; times += 1) await putLedger(other.database, () => readLedger(held.run));
    await held.end();
    t.strictSame(await sums(other.ask), await sums(one.ask));
    await reportsAreRight(t, ledgerOn(other.database), 5);
  });

  t.test('what a copy by an older program has left of another ledger goes', async (t) => {
    const { database, ask } = await migrated(t);
    const ledger = ledgerOn(database);
    for (const line of oddLines().slice(0, 30)) await ledger.append(line);
    await ask('truncate bh.ledger, bh.spend, bh.lineage, bh.budget, bh.reservation');
    await writeAsBefore(ask, oddLines().slice(50));
    await new CostSums(database, noFault).keep();
    await reportsAreRight(t, ledger, 5);
  });
});
