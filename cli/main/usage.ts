// The help texts of `blockhouse`: the overview and the help of a command. Pure: no I/O.
import { type BaseContext, Cli, type Command, type CommandClass } from 'clipanion';
import { type Style, styleFor } from '../terminal/output.ts';
import type { IndexEntry } from './command-modules.ts';
import { type CommandManual, lastOf, manualOf, type OptionManual } from './manual.ts';

/** Wide enough for the longest option. */
const OPTION_WIDTH = 30;
const PATH_WIDTH = 19;
/** The usual width of a terminal, in columns. */
const WIDTH = 80;
/** Of a text beside a name. */
const LEAST_TEXT = 16;
const NO_SHORT_NAME = '    ';
const ALL_TAKE = 'Every command takes --workspace <folder>, --json and --help.';
const HELP_OPTION: OptionManual = { names: ['-h', '--help'], description: 'This text' };

/** A clipanion Cli with help texts that fit 80 columns and name the values of options. */
export class ReadableCli extends Cli {
  /** Columns of the terminal; a wider one changes nothing. */
  columns = WIDTH;

  override usage(command: CommandClass<BaseContext> | Command<BaseContext> | null = null, options: Parameters<Cli['usage']>[1] = {}): string {
    if (command === null) return super.usage(command, options);
    const commandClass = typeof command === 'function' ? command : (command.constructor as CommandClass<BaseContext>);
    return helpText(manualOf(commandClass), styleFor((options.colored ?? this.enableColors) === true), this.columns);
  }
}

/** What the overview shows of a command. */
type Listed = Pick<IndexEntry, 'paths' | 'category' | 'description'>;

/** One line for each command, by category. */
export function overview(commands: readonly Listed[], label: string, columns = WIDTH): string {
  // A command without a category only refers to its subcommands.
  const categories = [...new Set(commands.flatMap(({ category }) => category ?? []))];
  const blocks = categories.map((category) => {
    const lines = commands.filter((command) => command.category === category).flatMap((command) => overviewLines(command, columns));
    return `${category.trim()}\n${lines.join('\n')}\n`;
  });
  const tail = '`blockhouse` alone starts the server.\n';
  return [`${label}\n`, 'Usage: blockhouse <command> [options]\n', ...blocks, `${ALL_TAKE}\n${tail}`].join('\n');
}

/** One line for each command that begins with these words, which are a command when they are alone; undefined where there is no other. */
export function groupOverview(words: readonly string[], commands: readonly Listed[], columns = WIDTH): string | undefined {
  const begins = (path: readonly string[]): boolean => words.every((word, index) => path[index] === word);
  const inside = commands.filter(({ paths: [path = []] }) => path.length > words.length && begins(path));
  const [alone] = inside.filter(({ paths }) => paths.some((path) => path.length === words.length && begins(path)));
  if (inside.length === 0) return undefined;
  const group = `blockhouse ${words.join(' ')}`;
  const tail = alone === undefined ? [] : [`\`${group}\` alone is \`blockhouse ${alone.paths[0]?.join(' ')}\`.`];
  return [`Usage: ${group} <command> [options]\n`, ...inside.flatMap((command) => overviewLines(command, columns)), '', ...tail, `${ALL_TAKE}\n`].join('\n');
}

function overviewLines({ paths: [path = []], description }: Listed, columns: number): string[] {
  return besideName(`  ${path.join(' ')}`, PATH_WIDTH + 2, (description ?? '').trim(), columns);
}

/** A text beside the name of what it describes, in lines of at most 80 columns, or of those that there are. */
function besideName(name: string, indent: number, text: string, columns: number): string[] {
  const width = Math.max(LEAST_TEXT, Math.min(WIDTH, columns) - indent);
  return wrapped(text, width).map((line, index) => `${index === 0 ? name.padEnd(indent) : ' '.repeat(indent)}${line}`);
}

/** The help of one command. */
export function helpText({ description, usage, options, details, examples }: CommandManual, { bold, dim }: Style, columns = WIDTH): string {
  const examplesText = examples.flatMap(([label, command]) => ['', `  ${label}`, `    ${dim('$')} ${command}`]);
  return [
    `${bold(description)}\n`,
    `${bold('Usage:')} ${usage}\n`,
    bold('Options:'),
    ...[...options, HELP_OPTION].flatMap((option) => optionLines(option, columns)),
    ...details.flatMap((paragraph) => ['', ...wrapped(paragraph, Math.min(WIDTH, columns))]),
    ...(examples.length === 0 ? [] : ['', bold('Examples:'), ...examplesText.slice(1)]),
    '',
  ].join('\n');
}

function optionLines(option: OptionManual, columns: number): string[] {
  const name = optionText(option);
  return besideName(`  ${name.startsWith('--') ? NO_SHORT_NAME : ''}${name} `, OPTION_WIDTH, option.description, columns);
}

/** Such as `-m, --model <model>`. */
export function optionText({ names, value }: OptionManual): string {
  const shown = names.filter((name) => !name.startsWith('--') || name === lastOf(names)); // other long ones are aliases
  return `${shown.join(', ')}${value === undefined ? '' : ` <${value}>`}`;
}

/** The words of a text in lines of at most `width` columns; a longer word has a line of its own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
