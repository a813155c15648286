// Mixed calls over all lanes against a provider that keeps its own books, while the server is killed, ended and its clock moved. bench/faults/accounts.ts is the
// same with thousands of calls.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MixedCalls } from '../support/books/mixed-calls.ts';
import { sweep } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';

t.setTimeout(480_000);

t.test('what a provider was sent is in the ledger, call by call, whatever happened to it', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const workspace = join(testFolder(t), 'workspace');
  mkdirSync(workspace, { mode: 0o700 });
  const { faults, ...report } = await new MixedCalls({ workspace, calls: sweep(2000, 66), seed, turnEvery: sweep(60, 30) }).run();
  t.comment(JSON.stringify(report));
  t.same(faults, []);
  t.ok(report.told > 0 && report.untold > 0 && report.kills + report.ends > 0);
  t.ok(report.compared > 0, 'the counters were held against the ledger, too');
});
