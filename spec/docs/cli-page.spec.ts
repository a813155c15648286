import { readFileSync } from 'node:fs';
import t from 'tap';
import { allCommands } from '../../cli/main/command-modules.ts';
import { manualOf } from '../../cli/main/manual.ts';
import { cliPage } from '../support/cli-page.ts';

const manuals = (await allCommands()).map(manualOf);
const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');

t.test('docs/cli.md is what the commands say', async (t) => {
  t.equal(page, cliPage(manuals), 'else run `npm run generate`');
});

t.test('the page opens with a table that leads to a section for each command', async (t) => {
  const headings = new Set([...page.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text.toLowerCase().replaceAll(' ', '-')));
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
  for (const anchor of links) t.ok(headings.has(anchor), anchor);
  for (const { paths } of manuals.filter(({ category }) => category !== undefined)) t.ok(links.includes(`blockhouse-${paths[0]?.join('-')}`), String(paths[0]));
  t.ok(page.indexOf('| [`serve`]') < page.indexOf('\n## '), 'nothing is in front of it');
});

t.test('each option of a command is in its section', async (t) => {
  const sections = new Map(page.split('\n### ').map((text) => [text.slice(0, text.indexOf('\n')), text]));
  for (const { paths, options, category } of manuals) {
    if (category === undefined) continue;
    const name = `blockhouse ${paths[0]?.join(' ')}`;
    for (const { names } of options.filter(({ names }) => !['--json', '--workspace'].includes(names.at(-1) ?? '')))
      t.ok(sections.get(name)?.includes(names.at(-1) ?? '?'), `${name} ${names.join()}`);
  }
});
