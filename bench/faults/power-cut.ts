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

const MOST = 100_000;
const NO_SYNC = `import fs from 'node:fs'; import { open } from 'node:fs/promises';
const file = await open(process.execPath); const kind = Object.getPrototypeOf(file); await file.close();
kind.sync = kind.datasync = async () => {}; fs.fsyncSync = fs.fdatasyncSync = () => {};`;

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { cuts: string, seed: string, seconds: string, 'without-sync': { type: 'boolean' } } });
const cuts = wholeNumber('cuts', values.cuts ?? '300', MOST);
const seconds = wholeNumber('seconds', values.seconds ?? '900', MOST);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('seed', values.seed, 2 ** 31);
const isWithoutSync = values['without-sync'] === true;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)); // all that is to be undone is undone at the exit
const reason = await whyNoDisk();
if (reason !== undefined) say(`skipped: no power can be cut here (${reason})`);
else await main();

async function main(): Promise<void> {
  say(`seed ${seed}: ${cuts} cuts${isWithoutSync ? ', and an fsync that does nothing' : ''}`);
  const keep = join(tmpdir(), `blockhouse-cut-${process.pid}`);
  const nodeFlags = isWithoutSync ? ['--import', `data:text/javascript,${encodeURIComponent(NO_SYNC)}`] : [];
  let done = 0;
  const onCut = (): void => {
    done += 1;
    if (done % 50 === 0) say(`${done} cuts`);
  };
  const report = await cutAgainAndAgain({ cuts, seconds, seed, nodeFlags, onCut, keep });
  show(report);
  const isFound = report.faults.length > 0;
  if (isFound && isWithoutSync) rmSync(keep, { recursive: true, force: true });
  else if (isFound) say(`kept for a look: ${keep}`);
  process.exitCode = isFound === isWithoutSync ? 0 : 1;
}

function show({ cuts: { kept, lost }, acknowledged, faults, ...report }: CutReport): void {
  const counts = Object.entries(acknowledged).map(([kind, number]) => `${number} ${kind}`);
  say(
    `${kept + lost} cuts in ${report.seconds.toFixed(0)} s: ${kept} of the disk alone, ${lost} of its drive's cache too; ${report.whileStarting} while the server started, ${report.whileEnding} while it ended`,
  );
  say(`  acknowledged  ${counts.join(', ')}`);
  say(`  answers       ${report.answers}`);
  say(`  faults        ${faults.length === 0 ? 'none' : faults.length}`);
  for (const fault of faults.slice(0, 20)) say(`    ${fault}`);
}

function wholeNumber(name: string, text: string, most: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > most) throw new Error(`--${name} must be a whole number from 1 to ${most}`);
  return number;
}
