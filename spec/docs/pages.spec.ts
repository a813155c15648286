import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { ROOT } from '../cli/run.ts';

const inFolder = (folder: string): string[] => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
const PAGES = ['README.md', 'CHANGELOG.md', ...inFolder('docs'), ...inFolder('bench')].filter((path) => path.endsWith('.md'));

/** The page without its fenced blocks. */
const proseOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');

/** The anchors that a host makes of the headings of a page. */
function anchorsOf(page: string): string[] {
  const counts = new Map<string, number>();
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

t.test('each link on a page leads to a file of the repository, and each anchor to a heading', async (t) => {
  let links = 0;
  for (const page of PAGES) {
    for (const [link, target = '', anchor] of proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      const path = target === '' ? page : join(dirname(page), target);
      links += 1;
      t.ok(existsSync(join(ROOT, path)), `${page}: ${link}`);
      if (anchor !== undefined && existsSync(join(ROOT, path))) t.ok(anchorsOf(path).includes(anchor), `${page}: ${link}`);
    }
  }
  t.ok(links > 50, `${links} links`);
});

t.test('each file and folder that a page names with its place in the tree exists', async (t) => {
  let places = 0;
  for (const page of PAGES.filter((path) => path.startsWith('docs/') && !path.includes('decisions'))) {
    for (const [, place = ''] of proseOf(page).matchAll(/`((?:core|adapters|transports|cli|spec|bench|docs)\/[\w./-]*)`/g)) {
      places += 1;
      t.ok(existsSync(join(ROOT, place)), `${page}: ${place}`);
    }
  }
  t.ok(places > 100, `${places} places`);
});

t.test('links lead from the README to every page, except the decisions', async (t) => {
  const seen = new Set<string>();
  const visit = (page: string): void => {
    if (seen.has(page)) return;
    seen.add(page);
    for (const [, target = ''] of proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]+\.md)/g)) visit(join(dirname(page), target));
  };
  visit('README.md');
  for (const page of inFolder('docs').filter((path) => path.endsWith('.md') && !path.includes('decisions'))) t.ok(seen.has(page), page);
});

t.test('each page says after its title what it is for, except the generated one, which begins with its table', async (t) => {
  for (const page of PAGES.filter((path) => path.startsWith('docs/') && path !== 'docs/cli.md'))
    t.match(readFileSync(join(ROOT, page), 'utf8'), /^# .+\n\n[\w`*]/, page);
});

/** Phrases that readers had to read twice. */
const UNCLEAR = /whoever|\b(?:is|are|was|were) told\b|\bbut for\b|\banew\b|\bwhat is no\b|\(\+\)/i;

t.test('no page has a phrase that readers had to read twice', async (t) => {
  for (const page of PAGES.filter((path) => !/decisions|^bench/.test(path))) t.notMatch(proseOf(page), UNCLEAR, page);
});

t.test('the README says how to run the demo and the tests on a fresh machine, and what decides over a change runs just that', async (t) => {
  const lines = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^npm ci && npm .*$/gm)].map(([line]) => line.replace(/ *#.*/, ''));
  t.strictSame(lines, ['npm ci && npm run demo', 'npm ci && npm test']);
  const run = readFileSync(join(ROOT, '.ci/run'), 'utf8');
  t.strictSame(
    [...run.matchAll(/^ *(npm .*?)(?: >.*)?$/gm)].map(([, command]) => command),
    ['npm ci && npm test'],
  );
});
