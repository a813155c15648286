// Fails when a source file's own spec leaves too much of it unvisited. Run by `npm run verify`, after the tests.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { isObject, parseJson } from '../../core/base/json.ts';

/** Percent of lines. The core's logic is pure and has no excuse; elsewhere some lines need a broken machine. */
const FLOOR = 90;
const CORE_FLOOR = 95;

const summary = parseJson(readFileSync('.tap/report/coverage-summary.json', 'utf8'));
if (!isObject(summary)) throw new Error('the coverage summary is not an object');
const low: string[] = [];
let files = 0;
for (const [path, entry] of Object.entries(summary)) {
  if (path === 'total') continue;
  files += 1;
  const { lines } = entry as { lines: { pct: number } };
  const file = relative(process.cwd(), path);
  const floor = file.startsWith('core/') ? CORE_FLOOR : FLOOR;
  if (lines.pct < floor) low.push(`${file}: ${lines.pct} % of its lines, ${floor} wanted`);
}
process.stdout.write(low.length === 0 ? `coverage: ${files} files, each at its floor or above\n` : `${low.join('\n')}\n`);
process.exitCode = low.length === 0 && files > 0 ? 0 : 1;
