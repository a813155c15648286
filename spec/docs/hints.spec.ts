// Every command that a text of the program or of its pages names: it exists, by the name that the help shows first, with the options that it has and the help's
// words for what is to be filled in.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { COMPLETION_INDEX, type CompletionEntry } from '../../cli/complete/completion-index.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Stands for what a text fills in. */
const FILLED = '…';
const EVERYWHERE = ['--help', '-h', '--workspace', '--json'];

/** Texts of other kinds, and the command of the shell's completion, which no person types. */
const NO_HINTS = ['is listening', '__complete', 'tools .*'];
/** One class for two commands. */
const TWO_IN_ONE = ['tools secret rm'];

interface Named {
  readonly place: string;
  readonly text: string;
}

function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => join(folder, path));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Expressions of templates are filled in, the inner ones first. */
function withoutExpressions(text: string): string {
  for (let before = '', now = text; ; now = before.replaceAll(/\$\{[^{}]*\}/g, FILLED)) {
    if (now === before) return now;
    before = now;
  }
}

/** Commands between backticks, and texts that are nothing but a command. */
function namedInSource(path: string): Named[] {
  const text = withoutExpressions(read(path)).replaceAll('\\`', '`');
  const found = [...text.matchAll(/['"`]blockhouse ([^'"`\n]+)['"`]/g)].map(([, command = '']) => command);
  const hinted = [...text.matchAll(/\bhint\(((?:'[^']*'|[\w.]+)(?:, (?:'[^']*'|[^,()]+(?:\([^()]*\))?))*)\)/g)].flatMap(([, args = '']) => {
    const words = args.split(/, (?=(?:[^']*'[^']*')*[^']*$)/).map((arg) => (/^'.*'$/.test(arg) ? arg.slice(1, -1) : FILLED));
    return words[0] === FILLED ? [] : [words.join(' ')];
  });
  return [...found, ...hinted].map((command) => ({ place: path, text: command }));
}

/** Commands in code, inline or on a line of its own. */
function namedInPage(path: string): Named[] {
  const text = read(path);
  const inline = [...text.matchAll(/`blockhouse ([^`\n]+)`/g)].map(([, command = '']) => command);
  const lines = [...text.matchAll(/^(?:\$ )?blockhouse ([^\n]+)$/gm)].map(([, command = '']) => command.replace(/ +#.*$/, ''));
  return [...inline, ...lines].map((command) => ({ place: path, text: command }));
}

/** The command with the longest path that the words begin with. */
function commandOf(words: readonly string[]): { entry: CompletionEntry; path: readonly string[] } | undefined {
  const all = COMPLETION_INDEX.flatMap((entry) => entry.paths.map((path) => ({ entry, path })));
  return all.filter(({ path }) => path.every((word, index) => words[index] === word)).sort((one, other) => other.path.length - one.path.length)[0];
}

/** What is wrong with a text that names a command; undefined if nothing is. */
function faultOf(text: string): string | undefined {
  if (text.includes('[options]')) return undefined; // the usage itself
  const words = text.replace(/ (?:--? |[|>&;<] |&&|\|).*$/, '').split(/ +(?=(?:[^'"]*['"][^'"]*['"])*[^'"]*$)/);
  if (/^[…[<]/.test(words[0] ?? '') || NO_HINTS.some((prefix) => text.startsWith(prefix))) return undefined;
  const found = commandOf(words);
  const isGroup =
    words.length <= 2 && COMPLETION_INDEX.some(({ paths: [path = []] }) => path.length > words.length && words.every((word, index) => path[index] === word));
  if (isGroup) return undefined;
  if (found === undefined) return 'is no command';
  const { entry, path } = found;
  if (
    words[path.length]?.includes(FILLED) &&
    COMPLETION_INDEX.some(({ paths: [one = []] }) => one.length > path.length && path.every((word, index) => one[index] === word))
  )
    return undefined; // the rest of the path is filled in
  if (path !== entry.paths[0] && !TWO_IN_ONE.includes(path.join(' '))) return `is called ${entry.paths[0]?.join(' ')} in the help`;
  return faultOfRest(entry, words.slice(path.length));
}

function faultOfRest({ options, arguments: names }: CompletionEntry, words: readonly string[]): string | undefined {
  let place = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!/^--?[a-z]/i.test(word)) {
      const name = names[Math.min(place, names.length - 1)];
      place += 1;
      if (/^<[^>]+>$/.test(word) && name !== undefined && !name.split('|').includes(word.slice(1, -1))) return `has ${word}, which the help calls <${name}>`;
      continue;
    }
    const [option = ''] = word.split('=');
    const known = options.find(({ names: all }) => all.includes(option));
    if (names[0] === 'program' && place > 0) return undefined; // the rest belongs to that program
    if (known === undefined && !EVERYWHERE.includes(option) && !option.startsWith('--no-')) return `has no option ${option}`;
    if (known?.value === undefined || word.includes('=')) continue;
    at += 1;
    const value = words[at];
    if (value !== undefined && /^<[^>]+>$/.test(value) && value !== `<${known.value}>`)
      return `has ${value} for ${option}, which the help calls <${known.value}>`;
  }
  return undefined;
}

const SOURCES = ['core', 'cli', 'adapters', 'transports'].flatMap((folder) => filesBelow(folder, /\.tsx?$/));
const PAGES = ['README.md', ...filesBelow('docs', /\.md$/).filter((path) => !path.startsWith('docs/decisions'))];

t.test('each command that is named in a text of the program or on a page exists, by the name and with the words of its help', (t) => {
  const named = [...SOURCES.flatMap(namedInSource), ...PAGES.flatMap(namedInPage)];
  t.ok(named.length > 500, `${named.length} are found`);
  const faults = named.flatMap(({ place, text }) => {
    const fault = faultOf(text);
    return fault === undefined ? [] : [`${place}: \`blockhouse ${text}\` ${fault}`];
  });
  t.strictSame([...new Set(faults)], []);
  t.end();
});

t.test('what is wrong is found', (t) => {
  for (const [text, fault] of [
    ['ls', undefined],
    ['list', 'is called ls in the help'],
    ['adapters', 'is called providers in the help'],
    ['key', undefined],
    ['keys', 'is no command'],
    ['key set … --usd-per-day <amount>', undefined],
    ['key set … --usd-a-day 5', 'has no option --usd-a-day'],
    ['key set … --usd-per-day <more>', 'has <more> for --usd-per-day, which the help calls <amount>'],
    ['auth set <provider>', 'has <provider>, which the help calls <id>'],
    ["send ada 'two words' --wait", undefined],
  ] as const)
    t.equal(faultOf(text), fault, text);
  t.end();
});
