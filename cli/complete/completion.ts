// What the word before the cursor may become: `blockhouse __complete <shell> <word> …`, the hidden command behind the completion scripts.
//
// one-word: A candidate may be anything, since a provider chooses the names of its models. Bash puts it into the line as it is, so it is quoted; the others quote.
// silent: Whatever goes wrong, it prints nothing more, ends soon and with 0, because its output would land in the line that a person types.
import type { BaseContext } from 'clipanion';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { oneLine, writeLines } from '../terminal/output.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { COMPLETION_INDEX, type CompletionEntry, type CompletionOption } from './completion-index.ts';
import { type Candidate, type Names, namesOf } from './completion-names.ts';
import { PATH_WANTED } from './completion-scripts.ts';

/** The command line up to the cursor. */
interface Line {
  readonly entry: CompletionEntry;
  /** The arguments before the word at the cursor. */
  readonly given: readonly string[];
  /** The values of the options before it, by the name that was typed. */
  readonly values: ReadonlyMap<string, string>;
  /** The option whose value is at the cursor. */
  readonly open: CompletionOption | undefined;
  readonly current: string;
  /** True after `--`, where no word is an option. */
  readonly isPlain: boolean;
}

const HELP: Candidate = { word: '--help', description: 'Show the help of this command' };

/** Prints a line `<word>\t<description>` for each candidate (silent). */
export async function runCompletion([shell, ...words]: readonly string[], context: Pick<BaseContext, 'stdout' | 'env'>): Promise<number> {
  const { joined, cut } = shell === 'bash' ? joinBroken(words) : { joined: words, cut: '' };
  try {
    const candidates = await candidatesFor(joined, context.env);
    const inLine = (text: string): string => (shell === 'bash' && text !== '' ? shellWord(text) : text); // one-word
    const lines = candidates.map(({ word, description = '' }) => `${inLine(oneLine(word.slice(cut.length)))}\t${oneLine(description)}`);
    await writeLines(context.stdout, candidates[0]?.word === PATH_WANTED ? [PATH_WANTED] : lines);
  } catch {
    return EXIT_CODES.ok.code; // silent
  }
  return EXIT_CODES.ok.code;
}

/**
 * Bash splits `a:b` and `a=b` into three words and replaces only the last. Joins them, and tells which beginning of the last word must be cut from
 * the candidates.
 */
export function joinBroken(words: readonly string[]): { readonly joined: readonly string[]; readonly cut: string } {
  const joined: string[] = [];
  let cut = '';
  for (const [index, word] of words.entries()) {
    const isBreak = /^[:=]+$/.test(word);
    const follows = index > 0 && /^[:=]+$/.test(words[index - 1] ?? '');
    const before = isBreak || follows ? (joined.pop() ?? '') : '';
    cut = isBreak ? `${before}${word}` : before;
    joined.push(`${before}${word}`);
  }
  return { joined, cut };
}

/** The candidates for the last word; `[{word: PATH_WANTED}]` where a path belongs. */
export async function candidatesFor(words: readonly string[], env: BaseContext['env']): Promise<readonly Candidate[]> {
  const rest = words[0] === 'help' ? words.slice(1) : words;
  const entry = calledEntry(rest);
  const current = rest.at(-1) ?? '';
  const subcommands = nextWords(rest, words[0] === 'help');
  if (entry === undefined || (subcommands.length > 0 && !current.startsWith('-'))) return fitting(subcommands, current);
  return ofLine(lineOf(entry.entry, rest.slice(entry.length)), env);
}

function fitting(candidates: readonly Candidate[], start: string): Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(start));
}

/** The command whose words stand in front of the last word. */
function calledEntry(words: readonly string[]): { readonly entry: CompletionEntry; readonly length: number } | undefined {
  const before = words.slice(0, -1);
  const called = COMPLETION_INDEX.flatMap((entry) => entry.paths.map((path) => ({ entry, length: path.length, path })));
  return called.filter(({ path }) => path.every((word, index) => before[index] === word)).sort((a, b) => b.length - a.length)[0];
}

/** The next words of the commands that begin with the words before the last one. Aliases are understood and not offered. */
function nextWords(words: readonly string[], isHelp: boolean): Candidate[] {
  const before = words.slice(0, -1);
  const next = new Map<string, string>();
  for (const { paths, description } of COMPLETION_INDEX) {
    const [path = []] = paths;
    const word = before.every((given, index) => path[index] === given) ? path[before.length] : undefined;
    if (word === undefined) continue;
    // The command alone describes its subcommands.
    if (!next.has(word) || path.length === before.length + 1) next.set(word, description);
  }
  if (before.length === 0 && !isHelp) next.set('help', 'Show the help of a command').set('--help', 'Show all commands');
  return [...next].map(([word, description]) => ({ word, description }));
}

function lineOf(entry: CompletionEntry, words: readonly string[]): Line {
  const given: string[] = [];
  const values = new Map<string, string>();
  let open: CompletionOption | undefined;
  let isPlain = false;
  for (const word of words.slice(0, -1)) {
    if (open !== undefined) {
      for (const name of open.names) values.set(name, word);
      open = undefined;
    } else if (isPlain || !/^-./.test(word)) given.push(word);
    else if (word === '--') isPlain = true;
    else open = takeOption(entry, word, values);
  }
  return { entry, given, values, open, current: words.at(-1) ?? '', isPlain };
}

/** Notes the option, and returns it when the next word is its value. */
function takeOption({ options }: CompletionEntry, word: string, values: Map<string, string>): CompletionOption | undefined {
  const [name = '', ...value] = word.split('=');
  const option = options.find(({ names }) => names.includes(name));
  if (option?.value !== undefined && value.length === 0) return option;
  for (const known of option?.names ?? []) values.set(known, value.join('='));
  return undefined;
}

async function ofLine(line: Line, env: BaseContext['env']): Promise<readonly Candidate[]> {
  const { entry, given, values, open, current, isPlain } = line;
  const ask = async (kind: string | undefined, start: string, prefix = ''): Promise<readonly Candidate[]> => {
    const names: Names = { kind: kind ?? '', command: entry.paths[0]?.join(' ') ?? '', given, values, env };
    const found = await namesOf(names);
    return found[0]?.word === PATH_WANTED ? found : fitting(found, start).map(({ word, ...rest }) => ({ ...rest, word: `${prefix}${word}` }));
  };
  if (open !== undefined) return ask(open.value, current);
  const [, name, start] = /^(--[a-z-]+)=(.*)$/s.exec(isPlain ? '' : current) ?? [];
  if (name !== undefined) return ask(entry.options.find(({ names }) => names.includes(name))?.value, start ?? '', `${name}=`);
  if (current.startsWith('-') && !isPlain) return fitting(optionsOf(line), current);
  const argument = entry.arguments[given.length] ?? (entry.isRepeated ? entry.arguments.at(-1) : undefined);
  return argument === undefined && current === '' ? optionsOf(line) : ask(argument, current);
}

function optionsOf({ entry }: Line): Candidate[] {
  return [...entry.options.map(({ names, description }) => ({ word: names.at(-1) ?? '', description })), HELP];
}
