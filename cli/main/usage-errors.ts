// The errors of a wrong command line. Pure: no I/O.
import { PROGRAM, usageLine } from './manual.ts';
import { valueNameOf } from './value-names.ts';

/** The used fields of clipanion's syntax error; the package does not export the class. */
interface SyntaxFault {
  readonly candidates: readonly { readonly usage: string; readonly reason: string | null }[];
}

/** With more usages than this, the general hint is clearer. */
const FEW = 3;
const SEE_HELP = `See ${PROGRAM} --help.`;

/**
 * The error of a wrong command line as one line and a hint. Repeats only words that are clearly a command or an option, because the rest may be
 * a key that was pasted in the wrong place. `paths` are the words of all commands.
 */
export function usageLines(error: unknown, argv: readonly string[], paths: readonly (readonly string[])[] = []): string[] {
  if (!isSyntaxFault(error)) return [`${PROGRAM}: ${valueFault(error)}`, `See ${[PROGRAM, ...calledPath(argv, paths)].join(' ')} --help.`];
  const meant = meantUsages(error, argv).map((usage) => asCalled(usage, argv, paths));
  const [usage] = meant;
  if (usage === undefined) return [`${PROGRAM}: ${unknownCommand(argv, commandWords(error))}`, SEE_HELP];
  const subcommands = [...new Set(paths.flatMap(([first, second]) => (first === argv[0] && second !== undefined ? second : [])))];
  const reason = error.candidates.find((candidate) => candidate.reason !== null)?.reason;
  if (isSubcommandMeant(argv, usage, subcommands, reason)) return unknownSubcommand(argv, subcommands);
  const group = groupOf(argv, paths);
  if (group !== undefined) return notInGroup(argv, group, paths);
  const hint = meant.length > FEW ? [SEE_HELP] : meant.map((line) => `Usage: ${usageLine(line)}`);
  return [`${PROGRAM}: ${reason == null ? 'Something is missing.' : wording(reason, usage, argv)}`, ...hint];
}

/** The usages of the command that was called, and those of all that begin with its first word where it has no further ones. */
function meantUsages({ candidates }: SyntaxFault, argv: readonly string[]): string[] {
  const usages = [...new Set(candidates.map(({ usage }) => usage))].filter((usage) => pathOf(usage)[0] === argv[0]);
  const called = usages.filter((usage) => pathOf(usage).every((word, index) => argv[index] === word));
  return called.length > 0 ? called : usages;
}

/** A usage names a command by its first name. This has the one by which it was called, such as `rm` for `set` or `list` for `ls`. */
function asCalled(usage: string, argv: readonly string[], paths: readonly (readonly string[])[]): string {
  const words = pathOf(usage);
  const called = paths.find((path) => path.length === words.length && path.length > 1 && path.every((word, index) => argv[index] === word));
  if (called === undefined || !called.every((word, index) => index === called.length - 1 || word === words[index])) return usage;
  return usage.replace(` ${words.join(' ')}`, ` ${called.join(' ')}`);
}

/** The words of the command in a usage. */
function pathOf(usage: string): string[] {
  const words = usage.split(' ').slice(1);
  const end = words.findIndex((word) => !/^[a-z-]+$/.test(word));
  return end === -1 ? words : words.slice(0, end);
}

function isSyntaxFault(error: unknown): error is SyntaxFault {
  return error instanceof Error && 'candidates' in error && Array.isArray(error.candidates);
}

function commandWords({ candidates }: SyntaxFault): string[] {
  return [...new Set(candidates.flatMap(({ usage }) => usage.split(' ')[1] ?? []))];
}

/** The words of the command that was called. */
function calledPath(argv: readonly string[], paths: readonly (readonly string[])[]): readonly string[] {
  const called = paths.filter((path) => path.every((word, index) => argv[index] === word));
  return called.reduce<readonly string[]>((best, path) => (path.length > best.length ? path : best), []);
}

/** True where the second word is meant as a subcommand: also behind a group that is a command when it is alone, such as `key`, and takes no such word. */
function isSubcommandMeant(argv: readonly string[], usage: string, subcommands: readonly string[], reason: string | null | undefined): boolean {
  const second = argv[1] ?? '';
  if (subcommands.length === 0 || !/^[a-z]/.test(second)) return false;
  return pathOf(usage).length === 1 || (!subcommands.includes(second) && reason?.startsWith('Extraneous') === true);
}

function unknownSubcommand([first = '', second = '']: readonly string[], subcommands: readonly string[]): string[] {
  const known = subcommands.map((word) => `${first} ${word}`).join(', ');
  const near = subcommands.find((word) => isSlipOf(second, word));
  const named = /^[a-z-]{1,20}$/.test(second) ? ` ${first} ${second}` : ` of ${first} like this`;
  const end = near === undefined ? '.' : `; did you mean ${first} ${near}?`;
  return [`${PROGRAM}: There is no command${named}${end}`, `There are ${known}.`];
}

/** The first two words, where commands of three words begin with them and the third is none of those. */
function groupOf(argv: readonly string[], paths: readonly (readonly string[])[]): readonly string[] | undefined {
  const isIn = (path: readonly string[]): boolean => path.length > 1 && path[0] === argv[0] && path[1] === argv[1];
  const inside = paths.filter(isIn);
  const isAlone = inside.some((path) => path.length === 2); // then a third word is one too many, and an option may be wrong
  if (inside.every((path) => path.length === 2) || inside.some((path) => path[2] !== undefined && path[2] === argv[2])) return undefined;
  if (isAlone && !/^[a-z]/.test(argv[2] ?? '')) return undefined;
  return argv.slice(0, 2);
}

function notInGroup(argv: readonly string[], group: readonly string[], paths: readonly (readonly string[])[]): string[] {
  const named = group.join(' ');
  const known = paths.filter((path) => path.length > 2 && path[0] === group[0] && path[1] === group[1]).map((path) => path.join(' '));
  const word = argv[2] ?? '';
  const fault =
    word === '' || word.startsWith('-')
      ? `${named} lacks its last word.`
      : `There is no command ${named}${/^[a-z-]{1,20}$/.test(word) ? ` ${word}` : ' like this'}.`;
  return [`${PROGRAM}: ${fault}`, `There are ${known.join(', ')}.`];
}

function unknownCommand(argv: readonly string[], words: readonly string[]): string {
  const word = argv[0] ?? '';
  if (!/^[a-z-]{1,20}$/.test(word)) return 'There is no such command.';
  const near = [...words, 'help'].find((known) => isSlipOf(word, known));
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
function wording(reason: string, usage: string, argv: readonly string[]): string {
  const option = /("|\s)(--?[a-zA-Z][a-z-]{0,30})(?=[="\s.]|$)/.exec(reason)?.[2];
  if (reason.startsWith('Extraneous'))
    return `There is one argument too many.${/\bmessage\b/.test(usageLine(usage)) ? ' Put a message of several words in quotes.' : ''}`;
  if (reason.startsWith('Not enough positional')) return `${pathOf(usage).join(' ')} needs ${missing(usage, argv)}.`;
  if (reason.startsWith('Not enough arguments to option'))
    return option === undefined ? 'An option lacks its value.' : `${option} needs ${valueWord(option, usage)}${negativeAfter(option, argv)}.`;
  if (option === undefined) return 'There is no such option.';
  const near = option.startsWith('--') ? optionsIn(usage).find((known) => isSlipOf(option.slice(2), known.slice(2))) : undefined;
  return near === undefined ? `There is no option ${option}.` : `There is no option ${option}; did you mean ${near}?`;
}

/** The long names of all options. */
function optionsIn(usage: string): string[] {
  return usage.match(/--[a-z][a-z-]*/g) ?? [];
}

/** The required arguments that the command line lacks. */
function missing(usage: string, argv: readonly string[]): string {
  const required = usageLine(usage).match(/(?<!--[a-z-]+ )<[^>]+>/g) ?? [];
  const given = argumentsIn(argv.slice(pathOf(usage).length), new Set(optionsWithValue(usage).flat()));
  return required.slice(Math.min(given, required.length - 1)).join(' ');
}

/** How many of the words are neither options nor their values. */
function argumentsIn(words: readonly string[], withValue: ReadonlySet<string>): number {
  let count = 0;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (withValue.has(word)) index += 1;
    else if (!/^-./.test(word)) count += 1;
  }
  return count;
}

/** The names of each option that takes a value. */
function optionsWithValue(usage: string): string[][] {
  return [...usage.matchAll(/[[<](-[^\]>\s]+) #0/g)].map(([, names = '']) => names.split(','));
}

/** A number below 0 looks like an option. */
function negativeAfter(option: string, argv: readonly string[]): string {
  const word = argv[argv.indexOf(option) + 1] ?? '';
  return /^-[\d.]{1,20}$/.test(word) ? `, and ${word} is read as an option; write ${option}=${word}` : '';
}

function valueWord(option: string, usage: string): string {
  return `<${valueNameOf(optionsWithValue(usage).find((names) => names.includes(option)) ?? [], usage)}>`;
}

/** Shortens `Invalid value for --temperature: expected a number (got "abc")`, without the value, and says a range in words. */
function valueFault(error: unknown): string {
  const line = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  return `${line.replace(/ ?\(got .*$/, '').replace(/expected to be in the \[(\S+); (\S+)\] range/, 'expected a number from $1 to $2')}.`;
}
