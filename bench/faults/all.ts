// `npm run test:faults [-- --short] [-- --record]`: all rigs of this folder, one after the other, and at the end a table of their figures. Each rig is
// bounded; together they take most of an hour, and some ten minutes with `--short`. Ends with 1 when one of them found a fault. `--record` writes the
// table into docs/reliability.md.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FIGURES_FILE, type Figure, print } from './verdict.ts';

interface Rig {
  readonly file: string;
  readonly long: readonly string[];
  readonly short: readonly string[];
}

interface Outcome {
  readonly command: string;
  readonly isGood: boolean;
  readonly seconds: number;
  readonly figures: readonly Figure[];
}

const RIGS: readonly Rig[] = [
  { file: 'sweeps', long: [], short: [] },
  { file: 'fuzz', long: ['--requests', '1000000'], short: ['--requests', '100000'] },
  { file: 'slow-clients', long: [], short: ['--headers', '200', '--readers', '50'] },
  { file: 'aborts', long: ['--aborts', '1000'], short: ['--aborts', '200'] },
  { file: 'failing-upstream', long: ['--calls', '1000'], short: ['--calls', '300'] },
  { file: 'accounts', long: ['--calls', '5000'], short: ['--calls', '600'] },
  { file: 'sigterm', long: ['--times', '50'], short: ['--times', '10'] },
  { file: 'kill', long: ['--kills', '1000'], short: ['--kills', '50'] },
  { file: 'worker-kill', long: ['--kills', '100'], short: ['--kills', '8'] },
  { file: 'tools-kill', long: ['--kills', '1000'], short: ['--kills', '40'] },
  { file: 'tools-kill', long: ['--kills', '400', '--tasks'], short: ['--kills', '20', '--tasks'] },
  { file: 'scale-kill', long: ['--ends', '200'], short: ['--ends', '12', '--lease', '2000'] },
  { file: 'power-cut', long: ['--cuts', '300'], short: ['--cuts', '20'] },
  { file: 'file-faults', long: ['--every', '1', '--seconds', '1200'], short: ['--seconds', '120'] },
];
const PAGE = join(import.meta.dirname, '../../docs/reliability.md');
const BEGIN = '<!-- The figures, as `npm run test:faults -- --record` writes them. -->\n';
const END = '<!-- End of the figures. -->\n';

const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({ options: { short: flag, record: flag } });
const folder = mkdtempSync(join(tmpdir(), 'blockhouse-figures-'));
const outcomes = RIGS.map(run);
rmSync(folder, { recursive: true });
const table = tableOf(outcomes);
print(`\n${table}`);
for (const { command, isGood, seconds } of outcomes) print(`${isGood ? 'ok   ' : 'FAULT'}  ${command.padEnd(40)} ${seconds.toFixed(0)} s`);
if (values.record) record(table);
process.exitCode = outcomes.every(({ isGood }) => isGood) ? 0 : 1;

function run({ file, long, short }: Rig): Outcome {
  const args = values.short ? short : long;
  const command = [`${file}.ts`, ...args].join(' ');
  print(`\n# ${command}`);
  const path = join(folder, `${file}.json`);
  const from = performance.now();
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', join(import.meta.dirname, `${file}.ts`), ...args], {
    stdio: 'inherit',
    env: { ...process.env, [FIGURES_FILE]: path },
  });
  // A rig that can't run here says so and leaves no figures.
  const figures = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Figure[]) : [];
  return { command, isGood: status === 0, seconds: (performance.now() - from) / 1000, figures };
}

function tableOf(all: readonly Outcome[]): string {
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const rows = all.flatMap(({ command, figures }) => {
    const cells = figures.map(({ what, promised = '', measured, kept }) => [`\`${command}\``, what, promised, kept ? measured : `**${measured}**`]);
    return cells.length > 0 ? cells : [[`\`${command}\``, 'did not run here', '', '']];
  });
  const head = ['command (`npx tsx bench/faults/…`)', 'question', 'promised', 'measured'];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  return `${cpus().length} cores, Node ${process.versions.node}, ${day}. A broken promise is in bold.\n\n${lines.join('\n')}\n`;
}

function record(figures: string): void {
  const text = readFileSync(PAGE, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin === -1 || end === -1) throw new Error(`${PAGE} has no place for the figures: it must hold "${BEGIN.trim()}" and "${END.trim()}".`);
  writeFileSync(PAGE, `${text.slice(0, begin + BEGIN.length)}\n${figures}\n${text.slice(end)}`);
}
