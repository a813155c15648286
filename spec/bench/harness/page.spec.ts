import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'tap';
import { machineText, type Published, thisMachine, toPage } from '../../../bench/harness/page.ts';

const DOCS = resolve(import.meta.dirname, '../../../docs');
const RESULT: Published = { name: 'start', question: 'How soon?', tables: [], bars: [], charts: [], notes: [], data: undefined, measured: 'today' };

test('the page of figures is what its results and the text around them make', async (t) => {
  const page = readFileSync(join(DOCS, 'performance.md'), 'utf8');
  const published = JSON.parse(readFileSync(join(DOCS, 'performance/results.json'), 'utf8')) as Published[];
  t.equal(toPage(published, page), page);
});

test('what people have written before and after the results stays', async (t) => {
  const old = '# Performance\n\nBy hand.\n\n## Old?\n\n1\n\n*`npm run bench -- --record start`: long ago.*\n\n## What do keys cost?\n\nAlso by hand.\n';
  const page = toPage([RESULT], old);
  t.match(page, /^# Performance\n\nBy hand\.\n\n## How soon\?\n/);
  t.match(page, /--record start`: today\.\*\n\n## What do keys cost\?\n\nAlso by hand\.\n$/);
  t.notMatch(page, 'long ago');
  t.equal(toPage([RESULT], page), page);
  t.throws(() => toPage([RESULT], '# Performance\n'), { message: 'The page has no result, so it is not known where results go.' });
});

test('a figure says when it was measured, and on what', async (t) => {
  const machine = { node: 'v20.19.0', platform: 'linux 6.1 x64', processor: 'A processor', cores: 2, memoryGiB: 8, date: '2026-11-29' };
  t.equal(machineText(machine), '2026-11-29, Node v20.19.0, linux 6.1 x64, 2 × A processor, 8 GiB');
  const here = machineText(thisMachine());
  t.match(here, /^\d{4}-\d\d-\d\d, Node v\d+\.\d+\.\d+, [a-z0-9]+ \S+ [a-z0-9]+, [1-9]\d* × .+, \d+ GiB$/, here);
});
