// The help texts of `blockhouse`: the overview, the usage of a command, and the errors of a wrong command line. Pure: no I/O.
import { type BaseContext, Cli, type Command, type CommandClass } from 'clipanion';
import type { IndexEntry } from './command-modules.ts';

/** Wide enough for the longest option. */
const OPTION_WIDTH = 26;
const PATH_WIDTH = 19;

/** A clipanion Cli whose usage of a command is shorter, with options as `--option <value>`. */
export class ReadableCli extends Cli {
  override usage(command: CommandClass<BaseContext> | Command<BaseContext> | null = null, options: Parameters<Cli['usage']>[1] = {}): string {
    return readable(super.usage(command, options));
  }
}

/** What the overview shows of a command. */
type Listed = Pick<IndexEntry, 'paths' | 'category' | 'description'>;

/** One line for each command, by category. */
export function overview(commands: readonly Listed[], label: string): string {
  // A command without a category only refers to its subcommands.
  const categories = [...new Set(commands.flatMap(({ category }) => category ?? []))];
  const blocks = categories.map((category) => {
    const lines = commands.filter((command) => command.category === category).map(overviewLine);
    return `${category.trim()}\n${lines.join('\n')}\n`;
  });
  const tail = 'Every command takes --workspace <folder>, --json and --help.\n';
  return [`${label}\n`, 'Usage: blockhouse <command> [options]\n', ...blocks, tail].join('\n');
}

function overviewLine({ paths: [path = []], description }: Listed): string {
  return `  ${path.join(' ').padEnd(PATH_WIDTH)}${(description ?? '').trim()}`;
}

/** The options of every command are listed last, after a command's own options. */
const COMMON = /^((?: {2}--(?:workspace|json) .*\n)+)((?: {2}-.*\n)+)/m;

/** Clipanion writes `#0` for the value of an option. */
function readable(usage: string): string {
  return usage
    .replace(COMMON, '$2$1')
    .replace(/^ {2}((?:-[a-z],)?--[a-z-]+)( #0)? +(?=\S)/gm, (_whole, option: string, value: string | undefined) =>
      `  ${option}${value === undefined ? '' : ' <value>'}`.padEnd(OPTION_WIDTH),
    )
    .replace(/<(--[a-z-]+) #0>/g, '$1 <value>')
    .replaceAll(' #0', ' <value>');
}

/** The used fields of clipanion's syntax error; the package does not export the class. */
interface SyntaxFault {
  readonly candidates: readonly { readonly usage: string; readonly reason: string | null }[];
}

/** With more usages than this, the general hint is clearer. */
const FEW = 3;
const SEE_HELP = 'See blockhouse --help.';

/**
 * The error of a wrong command line as one line and a hint. Repeats only words that are clearly a command or an option, because the rest may be
 * a key that was pasted in the wrong place.
 */
export function usageLines(error: unknown, argv: readonly string[]): string[] {
  if (!isSyntaxFault(error)) return [`blockhouse: ${valueFault(error)}`, SEE_HELP];
  const meant = [...new Set(error.candidates.map(({ usage }) => usage))].filter((usage) => usage.split(' ')[1] === argv[0]);
  if (meant.length === 0) return [`blockhouse: ${unknownCommand(argv, commandWords(error))}`, SEE_HELP];
  const reason = error.candidates.find((candidate) => candidate.reason !== null)?.reason;
  const hint = meant.length > FEW ? [SEE_HELP] : meant.map((usage) => `Usage: ${readable(usage)}`);
  return [`blockhouse: ${reason == null ? 'Something is missing.' : wording(reason)}`, ...hint];
}

function isSyntaxFault(error: unknown): error is SyntaxFault {
  return error instanceof Error && 'candidates' in error && Array.isArray(error.candidates);
}

function commandWords({ candidates }: SyntaxFault): string[] {
  return [...new Set(candidates.flatMap(({ usage }) => usage.split(' ')[1] ?? []))];
}

function unknownCommand(argv: readonly string[], words: readonly string[]): string {
  const word = argv[0] ?? '';
  if (!/^[a-z-]{1,20}$/.test(word)) return 'There is no such command.';
  const near = words.find((known) => isSlipOf(word, known));
  return near === undefined ? `There is no command ${word}.` : `There is no command ${word}; did you mean ${near}?`;
}

/** True for one extra, missing or different letter, and for two swapped ones. */
function isSlipOf(word: string, meant: string): boolean {
  const [longer, shorter] = word.length >= meant.length ? [word, meant] : [meant, word];
  if (shorter.length < 2 || longer.length - shorter.length > 1) return false;
  let same = 0;
  while (same < shorter.length && longer[same] === shorter[same]) same += 1;
  const rest = (text: string, skipped: number): string => text.slice(same + skipped);
  if (longer.length > shorter.length) return rest(longer, 1) === rest(shorter, 0);
  const isSwapped = longer[same] === shorter[same + 1] && longer[same + 1] === shorter[same] && rest(longer, 2) === rest(shorter, 2);
  return isSwapped || rest(longer, 1) === rest(shorter, 1);
}

/** Clipanion's reason in plain words; the reason contains the offending word in quotes or brackets. */
function wording(reason: string): string {
  const option = /("|\s)(--?[a-zA-Z][a-z-]{0,30})(?=[="\s.]|$)/.exec(reason)?.[2];
  if (reason.startsWith('Extraneous')) return 'There is one argument too many.';
  if (reason.startsWith('Not enough positional')) return 'An argument is missing.';
  if (reason.startsWith('Not enough arguments to option')) return `${option ?? 'An option'} lacks its value.`;
  return option === undefined ? 'There is no such option.' : `There is no option ${option}.`;
}

/** Shortens `Invalid value for --temperature: expected a number (got "abc")`, without the value. */
function valueFault(error: unknown): string {
  const line = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  return `${line.replace(/ ?\(got .*$/, '')}.`;
}
