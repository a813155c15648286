// `npx tsx bench/faults/kill.ts --kills 1000 [--seed n] [--loops 2]`: the loop of spec/cases/kill.spec.ts, for longer. Needs a build.
//
// Loopback and a temporary folder only; it ends by itself, after so many kills or with the first fault, and ends only what it has
// started. A folder in which a fault was found is kept and named.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type KillReport, killAgainAndAgain } from '../../spec/support/crash/kill-loop.ts';
import { countsOf, print, Verdict, wholeNumber } from './verdict.ts';

const MAX_KILLS = 100_000;

const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { kills: string, seed: string, loops: string } });
const kills = wholeNumber('kills', values.kills ?? '1000', MAX_KILLS);
const loops = wholeNumber('loops', values.loops ?? '2', 16);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('seed', values.seed, 2 ** 31);
print(`seed ${seed}: ${kills} kills in ${loops} loops side by side`);

const verdict = new Verdict();
let done = 0;
const reports = await Promise.all(Array.from({ length: loops }, (_, index) => loop(index)));
for (const report of reports) show(report);
verdict.end();

async function loop(index: number): Promise<KillReport> {
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-kill-'));
  const share = Math.floor(kills / loops) + (index < kills % loops ? 1 : 0);
  const report = await killAgainAndAgain({ workspace, kills: share, seed: seed + 2 * index, onKill: count });
  if (report.faults.length === 0) rmSync(workspace, { recursive: true });
  else print(`kept for a look: ${workspace}`);
  return report;
}

function count(): void {
  done += 1;
  if (done % 100 === 0) print(`${done} kills`);
}

function show({ readyMs, acknowledged, ...report }: KillReport): void {
  const at = (share: number): string => (readyMs[Math.min(readyMs.length - 1, Math.floor(readyMs.length * share))] ?? 0).toFixed(0);
  verdict.of(`seed ${report.seed}`);
  verdict.tell('kills', `${report.kills} in ${report.seconds.toFixed(0)} s, ${report.whileStarting} while it started, ${report.whileEnding} while it ended`);
  verdict.tell('acknowledged', countsOf(acknowledged));
  verdict.tell('answers', `${report.answers}, by ${report.calls} calls`);
  verdict.tell('ready again', `${at(0.5)} ms (median), ${at(0.99)} ms (p99), ${at(1)} ms (worst); aim 2000 ms`);
  verdict.sayFaults('lost, torn or doubled', report.faults);
}
