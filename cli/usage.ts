// What people read about how `blockhouse` is called: the overview, the usage of a command, and what was wrong
// with a call. Pure: no I/O.
import { type BaseContext, Cli, type Command, type CommandClass, type Definition } from 'clipanion';

/** Wide enough for the longest option. */
const OPTION_WIDTH = 26;
const PATH_WIDTH = 14;

/** Clipanion's own usage texts, made readable. */
export class ReadableCli extends Cli {
  override usage(command: CommandClass<BaseContext> | Command<BaseContext> | null = null, options: Parameters<Cli['usage']>[1] = {}): string {
    return command === null ? overview(this.definitions(), this.binaryLabel ?? '') : readable(super.usage(command, options));
  }
}

function overview(definitions: readonly Definition[], label: string): string {
  // A command without a category only points to those that have one.
  const categories = [...new Set(definitions.flatMap(({ category }) => category ?? []))];
  const blocks = categories.map((category) => {
    const lines = definitions.filter((definition) => definition.category === category).map(overviewLine);
    return `${category.trim()}\n${lines.join('\n')}\n`;
  });
  const tail = 'Every command takes --workspace <folder>, --json and --help.\n';
  return [`${label}\n`, 'Usage: blockhouse <command> [options]\n', ...blocks, tail].join('\n');
}

function overviewLine({ path, description }: Definition): string {
  return `  ${path.replace(/^blockhouse /, '').padEnd(PATH_WIDTH)}${(description ?? '').trim()}`;
}

/** What every command takes; it comes last, as each command is asked about for what is its own. */
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

/** The parts of clipanion's syntax error that are read here; the package does not export its class. */
interface SyntaxFault {
  readonly candidates: readonly { readonly usage: string; readonly reason: string | null }[];
}

/** More usages than this help nobody. */
const FEW = 3;
const SEE_HELP = 'See blockhouse --help.';

/**
 * What clipanion refused, as one line and a hint. Never repeats what was typed, but for words that are plainly
 * a command or an option: somebody may have pasted a key where none belongs.
 */
export function usageLines(error: unknown, argv: readonly string[]): string[] {
  if (!isSyntaxFault(error)) return [`blockhouse: ${valueFault(error)}`, SEE_HELP];
  const meant = [...new Set(error.candidates.map(({ usage }) => usage))].filter((usage) => usage.split(' ')[1] === argv[0]);
  if (meant.length === 0) return [`blockhouse: ${unknownCommand(argv, commandWords(error))}`, SEE_HELP];
  const reason = error.candidates.find((candidate) => candidate.reason !== null)?.reason;
  const hint = meant.length > FEW ? [SEE_HELP] : meant.map((usage) => `Usage: ${readable(usage)}`);
  return [`blockhouse: ${reason == null ? 'something is missing.' : wording(reason)}`, ...hint];
}

function isSyntaxFault(error: unknown): error is SyntaxFault {
  return error instanceof Error && 'candidates' in error && Array.isArray(error.candidates);
}

function commandWords({ candidates }: SyntaxFault): string[] {
  return [...new Set(candidates.flatMap(({ usage }) => usage.split(' ')[1] ?? []))];
}

function unknownCommand(argv: readonly string[], words: readonly string[]): string {
  const word = argv[0] ?? '';
  if (!/^[a-z-]{1,20}$/.test(word)) return 'there is no such command.';
  const near = words.find((known) => isSlipOf(word, known));
  return near === undefined ? `there is no command ${word}.` : `there is no command ${word}; did you mean ${near}?`;
}

/** One letter too many, too few or another one, or two that changed places. */
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

/** Clipanion puts the offending word in brackets and quotes behind its reason. */
function wording(reason: string): string {
  const option = /("|\s)(--?[a-zA-Z][a-z-]{0,30})(?=[="\s.]|$)/.exec(reason)?.[2];
  if (reason.startsWith('Extraneous')) return 'there is an argument too many.';
  if (reason.startsWith('Not enough positional')) return 'an argument is missing.';
  if (reason.startsWith('Not enough arguments to option')) return `${option ?? 'an option'} lacks its value.`;
  return option === undefined ? 'there is no such option.' : `there is no option ${option}.`;
}

/** `Invalid value for --temperature: expected a number (got "abc")`. */
function valueFault(error: unknown): string {
  const line = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  return `${line.replace(/ ?\(got .*$/, '').replace(/^Invalid/, 'invalid')}.`;
}
