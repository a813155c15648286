// `npx tsx bench/faults/scale-kill.ts --ends 200 [--seed n] [--lease 8000] [--freeze-each 8]`: three servers of one database are killed and frozen while people
// post to all of them; then statements that know nothing of our code look at what is left. Needs a build, and PostgreSQL.
//
// Loopback, a temporary folder and a schema of its own only; it ends by itself, and ends only what it has started.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Test } from 'tap';
import { endServersAgainAndAgain } from '../../spec/support/crash/fleet-loop.ts';
import { noPostgres, postgresStore } from '../../spec/support/postgres.ts';
import { quantile } from '../measure.ts';
import { print, Verdict, wholeNumber } from './verdict.ts';

const MOST_ENDS = 10_000;
const LONGEST_TAKEOVER_MS = 2000;

const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { ends: string, seed: string, lease: string, 'freeze-each': string } });
const ends = wholeNumber('ends', values.ends ?? '200', MOST_ENDS);
const leaseMs = wholeNumber('lease', values.lease ?? '8000', 60_000);
const freezeEach = wholeNumber('freeze-each', values['freeze-each'] ?? '8', MOST_ENDS);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('seed', values.seed, 2 ** 31);

if (noPostgres === false) await run();
else print(`not run: ${noPostgres}`);

async function run(): Promise<void> {
  const teardowns: (() => unknown)[] = [];
  const store = await postgresStore({ teardown: (end: () => unknown) => void teardowns.unshift(end) } as unknown as Test);
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-scale-'));
  print(`seed ${seed}: ${ends} kills and freezes of three servers, lease ${leaseMs} ms`);
  const onEnd = (count: number): void => {
    if (count % 20 === 0) print(`${count} ends`);
  };
  const report = await endServersAgainAndAgain({ folder, store, seed, ends, leaseMs, freezeEach, onEnd });
  const verdict = new Verdict();
  verdict.tell(
    'ends',
    `${report.kills} kills (${report.killsOfOwners} of servers with blocks, ${report.killsAtStart} of starting ones), ${report.freezes} freezes in ${report.seconds.toFixed(0)} s`,
  );
  verdict.tell('messages', `${report.messages}, by ${report.calls} calls; ${report.repeated} were asked more than once`);
  verdict.tell('calls without a line in the ledger', `${report.calls - report.bills}: a killed server has not seen their end`);
  verdict.tell('all was answered after the last post', `${report.quietAfterMs.toFixed(0)} ms`);
  const what = 'others have what a killed server had';
  if (report.takeoverMs.length === 0) verdict.tell(what, 'not measured: no other server had answered for a lease');
  else {
    const [median, worst] = [quantile(report.takeoverMs, 0.5), quantile(report.takeoverMs, 1)];
    const limit = leaseMs + LONGEST_TAKEOVER_MS;
    verdict.say(
      what,
      `${report.takeoverMs.length} times, ${median.toFixed(0)} ms (median), ${worst.toFixed(0)} ms (worst)`,
      `below ${limit} ms`,
      worst < limit,
    );
  }
  verdict.sayFaults('lost, doubled, out of order, miscounted', report.faults);
  verdict.end();
  for (const end of teardowns) await end();
  if (report.faults.length === 0) rmSync(folder, { recursive: true });
  else print(`kept for a look: ${folder}`);
}
