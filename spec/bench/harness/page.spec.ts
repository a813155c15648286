import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'tap';
import { type Published, toPage } from '../../../bench/harness/page.ts';

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
