// The page as the build before the tests has made it. Needs `npm run build`.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env } from 'node:process';
import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { argsForFile } from '../../support/node-args.ts';
import { isWholeSweep } from '../../support/sweep.ts';
import { testFolder } from '../../support/test-folder.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const DIST = join(ROOT, 'dist/dashboard');
const KB = 1024;

function build(folder: string): string {
  execFileSync(process.execPath, [...argsForFile('transports/dashboard/build.ts'), folder], { cwd: ROOT, stdio: 'ignore' });
  return folder;
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());

/** Whether a file of one folder has the same bytes in the other. */
const isEqual = (one: string, other: string, name: string): boolean =>
  existsSync(join(other, name)) && readFileSync(join(one, name)).equals(readFileSync(join(other, name)));

/** The text of a file, which may be there compressed alone. */
const unpacked = (path: string): string => (existsSync(path) ? readFileSync(path) : brotliDecompressSync(readFileSync(`${path}.br`))).toString();

/** Also where the lines are counted that a build visits (spec/support/coverage). */
const isBuilding = isWholeSweep || env['NODE_V8_COVERAGE'] !== undefined;

t.test('two builds of the same source are equal byte for byte', { skip: !isBuilding && 'each takes seconds: part of whole sweeps' }, (t) => {
  const folder = testFolder(t);
  const [one, other] = [build(join(folder, 'one')), build(join(folder, 'other'))];
  t.same(filesIn(one).sort(), filesIn(other).sort());
  for (const name of filesIn(one)) t.ok(isEqual(one, other, name), name);
  t.end();
});

t.test('the manifest lists every file', async (t) => {
  const { assets } = JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8')) as { assets: { path: string; br: boolean }[] };
  const listed = assets.map(({ path, br }) => (br ? `${path}.br` : path));
  t.same([...listed, 'manifest.json'].sort(), filesIn(DIST).sort());
});

t.test('case 50: sizes stay within the budget, as they travel', async (t) => {
  const size = (pattern: RegExp): number =>
    filesIn(DIST)
      .filter((name) => pattern.test(name.replace(/\.br$/, '')))
      .reduce((sum, name) => sum + statSync(join(DIST, name)).size, 0);
  const page = unpacked(join(DIST, 'index.html'));
  const first = [/main-[^.]*\.js/.exec(filesIn(DIST).find((name) => /main-.*\.js/.test(name)) ?? '')?.[0] ?? ''];
  const entry = unpacked(join(DIST, 'assets', first[0] ?? ''));
  for (const [, name = ''] of entry.matchAll(/(?:from|import)"\/ui\/assets\/([\w.-]+\.js)"/g)) first.push(name);
  const firstBytes = first.reduce((sum, name) => sum + size(new RegExp(name.replaceAll('.', '\\.'))), 0);
  t.ok(firstBytes <= 60 * KB, `first page: ${firstBytes} bytes of script`);
  // Pages and what only they need come when they are first shown, so this is no part of the first one.
  t.ok(size(/\.js$/) <= 125 * KB, `all script: ${size(/\.js$/)} bytes`);
  t.ok(size(/\.css$/) <= 12 * KB, `styles: ${size(/\.css$/)} bytes`);
  t.ok(page.length <= 2 * KB, `index.html: ${page.length} bytes`);
  const fonts = filesIn(DIST).filter((name) => name.endsWith('.woff2'));
  t.equal(fonts.length, 2);
  t.ok(size(/\.woff2$/) <= 53 * KB, `fonts: ${size(/\.woff2$/)} bytes`);
  // Page, style, scripts, two fonts.
  t.ok(2 + first.length + fonts.length <= 6, `${2 + first.length + fonts.length} requests to the first paint`);
  t.notMatch(page, /<script(?! type="module" src="\/ui\/assets\/)|<style|style="|https?:/);
});

/** The two colours of a token: light, dark. */
function tokens(): ReadonlyMap<string, readonly [string, string]> {
  const text = readFileSync(join(ROOT, 'transports/dashboard/style/tokens.css'), 'utf8');
  return new Map(
    [...text.matchAll(/--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g)].map(([, name = '', light = '', dark = '']) => [name, [light, dark]]),
  );
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

t.test('case 48: text has a contrast of 4.5, marks and edges of fields one of 3, in both themes', async (t) => {
  const all = tokens();
  const pairs: [string, string, number][] = [
    ...['text-1', 'text-2', 'text-3', 'accent', 'ok', 'warn', 'bad', 'code-string', 'code-number', 'code-name'].flatMap((text): [string, string, number][] =>
      ['bg-0', 'bg-1', 'bg-2'].map((ground) => [text, ground, 4.5]),
    ),
    ...['text-1', 'text-2', 'text-3'].map((text): [string, string, number] => [text, 'bg-3', 4.5]),
    ...['ok', 'warn', 'bad', 'accent'].map((text): [string, string, number] => [text, `${text}-soft`, 4.5]),
    ['line-3', 'bg-1', 3],
    ...['c1', 'c2', 'c3', 'c4', 'c5', 'accent-solid'].map((mark): [string, string, number] => [mark, 'bg-1', 3]),
    ['on-ink', 'ink', 4.5],
  ];
  for (const [one, other, least] of pairs) {
    for (const theme of [0, 1] as const) {
      const found = contrast(all.get(one)?.[theme] ?? '#000000', all.get(other)?.[theme] ?? '#000000');
      t.ok(found >= least, `${one} on ${other}, ${theme === 0 ? 'light' : 'dark'}: ${found.toFixed(2)}`);
    }
  }
});

t.test('no colour stands in a style but in the tokens', async (t) => {
  const folder = join(ROOT, 'transports/dashboard/style');
  for (const name of readdirSync(folder).filter((each) => each !== 'tokens.css'))
    t.notMatch(readFileSync(join(folder, name), 'utf8'), /#[\da-f]{3,8}\b(?![^{]*\{)|\brgba?\(|\bhsla?\(/i, name);
});
