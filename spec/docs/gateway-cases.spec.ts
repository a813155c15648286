import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../cli/run.ts';

const CASES = 58;
const QUOTED = /`(spec\/[^`]+\.ts)`: "([^"]+)"/g;

interface Row {
  readonly number: number;
  readonly fault: string;
  readonly held: string;
}

const rows: Row[] = readFileSync(join(ROOT, 'docs/decisions/2026-11-20-gateway-cases.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, number, fault, held] = /^\|\s*(\d+)\s*\|([^|]+)\|([^|]+)\|$/.exec(line) ?? [];
    return held === undefined ? [] : [{ number: Number(number), fault: fault?.trim() ?? '', held: held.trim() }];
  });

const tests = (held: string): [file: string, title: string][] => [...held.matchAll(QUOTED)].map(([, file = '', title = '']) => [file, title]);

/** The text of each test's title, as it is written: a template stands with its holes. */
function titlesOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const titles = source.matchAll(/\.test\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`)/g);
  return [...titles].map(([, single, double, template]) => (single ?? double ?? template ?? '').replaceAll("\\'", "'"));
}

t.test('every case has its row, once and in order', async (t) => {
  t.same(
    rows.map(({ number }) => number),
    Array.from({ length: CASES }, (_, index) => index + 1),
  );
  for (const { number, fault } of rows) t.ok(fault.length > 20, `${number} says what fails users`);
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
