// `npm run test:faults [-- --short]`: all rigs of this folder, one after the other. Each is bounded; together they take most of an hour, and some
// ten minutes with `--short`. Ends with 1 when one of them found a fault.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

interface Rig {
  readonly file: string;
  readonly long: readonly string[];
  readonly short: readonly string[];
}

const RIGS: readonly Rig[] = [
  { file: 'fuzz', long: ['--requests', '1000000'], short: ['--requests', '100000'] },
  { file: 'slow-clients', long: [], short: ['--headers', '200', '--readers', '50'] },
  { file: 'aborts', long: ['--aborts', '1000'], short: ['--aborts', '200'] },
  { file: 'failing-upstream', long: ['--calls', '1000'], short: ['--calls', '300'] },
  { file: 'sigterm', long: ['--times', '50'], short: ['--times', '10'] },
  { file: 'kill', long: ['--kills', '1000'], short: ['--kills', '50'] },
  { file: 'power-cut', long: ['--cuts', '300'], short: ['--cuts', '20'] },
  { file: 'file-faults', long: ['--every', '1', '--seconds', '1200'], short: ['--seconds', '120'] },
];

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
const outcomes = RIGS.map(({ file, long, short }) => {
  const args = values.short ? short : long;
  process.stdout.write(`\n# ${[file, ...args].join(' ')}\n`);
  const from = performance.now();
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', join(import.meta.dirname, `${file}.ts`), ...args], { stdio: 'inherit' });
  return { file, isGood: status === 0, seconds: (performance.now() - from) / 1000 };
});
process.stdout.write('\n');
for (const { file, isGood, seconds } of outcomes) process.stdout.write(`${isGood ? 'ok   ' : 'FAULT'}  ${file.padEnd(18)} ${seconds.toFixed(0)} s\n`);
process.exitCode = outcomes.every(({ isGood }) => isGood) ? 0 : 1;
