import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../cli/run.ts';

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
/** Each table, and the numbers of the cases that it must have. */
const TABLES: Readonly<Record<string, readonly number[]>> = {
  'docs/decisions/2026-11-20-gateway-cases.md': range(1, 58),
  'docs/decisions/2026-11-27-cases-of-several-servers.md': range(1, 51),
  'docs/decisions/2026-11-27-cases-of-connections.md': range(1, 55),
  'docs/decisions/2026-11-28-cases-of-tools.md': range(1, 57),
  'docs/decisions/2026-11-20-block-cases.md': [
    ...[41, 42, 44, ...range(46, 53), 55, 56, 57, 58, 60, 61, ...range(63, 66), 68, 69],
    ...[...range(90, 94), 96, 97, 99, 100, ...range(124, 126), ...range(128, 131), ...range(134, 136)],
  ],
};
const QUOTED = /`(spec\/[^`]+\.ts)`: "([^"]+)"/g;

interface Row {
  readonly number: number;
  readonly fault: string;
  readonly held: string;
}

const rowsOf = (table: string): Row[] =>
  readFileSync(join(ROOT, table), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, number, fault, held] = /^\|\s*(\d+)\s*\|([^|]+)\|([^|]+)\|$/.exec(line) ?? [];
      return held === undefined ? [] : [{ number: Number(number), fault: fault?.trim() ?? '', held: held.trim() }];
    });
const rows: Row[] = Object.keys(TABLES).flatMap(rowsOf);

const tests = (held: string): [file: string, title: string][] => [...held.matchAll(QUOTED)].map(([, file = '', title = '']) => [file, title]);

/** The text of each test's title, as it is written: a template stands with its holes. */
function titlesOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const titles = source.matchAll(/\.test\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`)/g);
  return [...titles].map(([, single, double, template]) => (single ?? double ?? template ?? '').replaceAll("\\'", "'"));
}

t.test('every case has its row, once and in order', async (t) => {
  for (const [table, numbers] of Object.entries(TABLES)) {
    const found = rowsOf(table);
    t.same(
      found.map(({ number }) => number),
      numbers,
      table,
    );
    for (const { number, fault } of found) t.ok(fault.length > 12, `${number} says what fails users`);
  }
});

t.test('every test that a row names exists, in that file and under that title', async (t) => {
  const known = new Map<string, string[]>();
  for (const { number, held } of rows) {
    t.equal(held.split('`spec/').length - 1, tests(held).length, `${number}: each file stands with a title`);
    for (const [file, title] of tests(held)) {
      if (!existsSync(join(ROOT, file))) {
        t.fail(`${number}: there is no ${file}`);
        continue;
      }
      const titles = known.get(file) ?? titlesOf(file);
      known.set(file, titles);
      t.ok(
        titles.some((each) => each.includes(title)),
        `${number}: ${file} has "${title}"`,
      );
    }
  }
});

t.test('a row without a test gives its reason', async (t) => {
  for (const { number, held } of rows) {
    const said = held.replace(QUOTED, '').replaceAll(/[;\s]/g, '');
    t.ok(tests(held).length > 0 || said.length > 40, String(number));
  }
});
