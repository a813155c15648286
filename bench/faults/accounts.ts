// `npx tsx bench/faults/accounts.ts [--calls 5000] [--seed n]`: mixed calls of clients against a provider that keeps its own books, while the server is killed,
// ended and its clock moved. Needs a build; loopback and a temporary folder only. A folder in which a fault was found is kept and named.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MixedCalls } from '../../spec/support/books/mixed-calls.ts';
import { print, Verdict, wholeNumber } from './verdict.ts';

const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { calls: string, seed: string } });
const calls = wholeNumber('calls', values.calls ?? '5000', 1_000_000);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('seed', values.seed, 2 ** 31);
print(`seed ${seed}: ${calls} calls`);
const folder = mkdtempSync(join(tmpdir(), 'blockhouse-accounts-'));
const workspace = join(folder, 'workspace');
mkdirSync(workspace, { mode: 0o700 });
const report = await new MixedCalls({ workspace, calls, seed, turnEvery: 100 }).run();
const verdict = new Verdict();
verdict.tell('calls', `${report.calls}, of which ${report.requests} requests came to the provider; ${report.lines} lines`);
verdict.tell('told by the provider', `${report.told}, and ${report.untold} not`);
verdict.tell('meanwhile', `${report.kills} kills, ${report.ends} ends, ${report.jumps} moves of the clock`);
verdict.sayFaults('differences', report.faults);
verdict.end();
if (report.faults.length === 0) rmSync(folder, { recursive: true });
else print(`kept for a look: ${workspace}`);
