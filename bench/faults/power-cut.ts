// `npx tsx bench/faults/power-cut.ts --cuts 300 [--seed n] [--seconds 900] [--without-sync]`: power cuts of an ext4 image. Needs a build, Linux and
// root; elsewhere it says that it is skipped.
//
// Loopback, loop devices and a temporary folder only; it ends by itself, after so many cuts, so many seconds or with the first fault, ends only
// what it has started, and leaves nothing mounted, not after SIGINT either. With `--without-sync` the server's fsync does nothing: then faults
// must be found, or this command would not see any.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { whyNoDisk } from './cut-disk.ts';
import { type CutReport, cutAgainAndAgain } from './cut-loop.ts';
import { countsOf, print, Verdict, wholeNumber } from './verdict.ts';

const MOST = 100_000;
const NO_SYNC = `import fs from 'node:fs'; import { open } from 'node:fs/promises';
const file = await open(process.execPath); const kind = Object.getPrototypeOf(file); await file.close();
kind.sync = kind.datasync = async () => {}; fs.fsyncSync = fs.fdatasyncSync = () => {};`;

const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { cuts: string, seed: string, seconds: string, 'without-sync': { type: 'boolean' } } });
const cuts = wholeNumber('cuts', values.cuts ?? '300', MOST);
const seconds = wholeNumber('seconds', values.seconds ?? '900', MOST);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('seed', values.seed, 2 ** 31);
const verdict = new Verdict();
const isWithoutSync = values['without-sync'] === true;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)); // the exit handlers undo everything
const reason = await whyNoDisk();
if (reason !== undefined) print(`skipped: no power can be cut here (${reason})`);
else await main();

async function main(): Promise<void> {
  print(`seed ${seed}: ${cuts} cuts${isWithoutSync ? ', and an fsync that does nothing' : ''}`);
  const keep = join(tmpdir(), `blockhouse-cut-${process.pid}`);
  const nodeFlags = isWithoutSync ? ['--import', `data:text/javascript,${encodeURIComponent(NO_SYNC)}`] : [];
  let done = 0;
  const onCut = (): void => {
    done += 1;
    if (done % 50 === 0) print(`${done} cuts`);
  };
  const report = await cutAgainAndAgain({ cuts, seconds, seed, nodeFlags, onCut, keep });
  show(report);
  const isFound = report.faults.length > 0;
  if (isFound && isWithoutSync) rmSync(keep, { recursive: true, force: true });
  else if (isFound) print(`kept for a look: ${keep}`);
}

function show({ cuts: { kept, lost }, acknowledged, ...report }: CutReport): void {
  const when = `${report.whileStarting} while the server started, ${report.whileEnding} while it ended`;
  verdict.tell('cuts', `${kept + lost} in ${report.seconds.toFixed(0)} s: ${kept} of the disk alone, ${lost} of its drive's cache too; ${when}`);
  verdict.tell('acknowledged', countsOf(acknowledged));
  verdict.tell('answers', `${report.answers}`);
  if (isWithoutSync) verdict.say('faults that are found', `${report.faults.length}`, 'some', report.faults.length > 0);
  else verdict.sayFaults('lost or torn', report.faults);
  verdict.end();
}
