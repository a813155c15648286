// kill -9 at named points and at any time, over payments: no effect twice, one answer each, and every unknown is shown. bench/faults/tools-kill.ts makes a thousand.
import t from 'tap';
import { migratedStore } from '../support/migrated.ts';
import { noPostgres } from '../support/postgres.ts';
import { sweep } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';
import { killPayments } from '../support/tools/kill-rig.ts';

t.setTimeout(300_000);

const KILLS = sweep(60, 1);
/** How much is paid in each round. */
const SIZE = { blocks: sweep(3, 2), messages: sweep(2, 1) };

t.test('1 to 3, 5, 6, 8, 10: killed again and again, no payment is made twice, each message has one answer, and what is not known is said', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const report = await killPayments({ ...SIZE, messages: 2, folder: testFolder(t), kills: KILLS, seed }); // some are always left to be done
  const { faults, ...figures } = report;
  t.comment(JSON.stringify(figures));
  t.strictSame(faults, []);
  t.equal(report.kills, KILLS);
  t.equal(report.done + report.unknown, report.payments);
  t.ok(report.done > 0 && report.effects >= report.done && report.effects <= report.payments, 'it has paid');
});

t.test('14: so with tasks: what has its task in the journal is asked for, and never unknown', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const kills = sweep(40, 1);
  const report = await killPayments({ ...SIZE, folder: testFolder(t), kills, seed, withTasks: true });
  const { faults, ...figures } = report;
  t.comment(JSON.stringify(figures));
  t.strictSame(faults, []);
  t.equal(report.kills, kills);
  t.equal(report.done + report.unknown, report.payments);
});

t.test('killed while a form is asked, shown, answered or sent: it is shown again or its call is unknown, and nothing is answered twice', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const kills = sweep(40, 1);
  const report = await killPayments({ ...SIZE, folder: testFolder(t), kills, seed, withForms: true });
  const { faults, ...figures } = report;
  t.comment(JSON.stringify(figures));
  t.strictSame(faults, []);
  t.equal(report.kills, kills);
  t.equal(report.done + report.unknown, report.payments);
});

t.test('a database: what a server that was killed had, the other one goes on with, and what it does not know it says', { skip: noPostgres }, async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const kills = sweep(20, 1);
  const report = await killPayments({ ...SIZE, folder: testFolder(t), kills, seed, newStore: () => migratedStore(t) });
  const { faults, ...figures } = report;
  t.comment(JSON.stringify(figures));
  t.strictSame(faults, []);
  t.equal(report.kills, kills);
  t.equal(report.done + report.unknown, report.payments);
});
