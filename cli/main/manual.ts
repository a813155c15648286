// What a command says about itself: the source of its help, of docs/cli.md and of completions. Pure: no I/O.
import { type BaseContext, Cli, type CommandClass } from 'clipanion';
import { valueNameOf } from './value-names.ts';

/** One option of a command. */
export interface OptionManual {
  /** Such as `-m` and `--model`; the long one is last. */
  readonly names: readonly string[];
  /** The word for its value; absent for a switch. */
  readonly value?: string;
  readonly description: string;
}

/** The texts of one command. */
export interface CommandManual {
  /** The words that call it; the first is the one that is shown. */
  readonly paths: readonly (readonly string[])[];
  readonly category?: string;
  readonly description: string;
  /** Such as `blockhouse send [options] <block> [message]`. */
  readonly usage: string;
  /** The words for its arguments, such as `block` and `message`. */
  readonly arguments: readonly string[];
  /** True when the last argument may be given several times. */
  readonly isRepeated: boolean;
  /** Its own options, then those of every command. */
  readonly options: readonly OptionManual[];
  /** The paragraphs of the details. The lines of a list are one paragraph each. */
  readonly details: readonly string[];
  readonly examples: readonly (readonly [label: string, command: string])[];
}

/** The program, as help texts call it. */
export const PROGRAM = 'blockhouse';
/** The options of every command, in this order. */
const COMMON: readonly string[] = ['--workspace', '--json'];

/** The manual of a command. */
export function manualOf(command: CommandClass<BaseContext>): CommandManual {
  const cli = new Cli({ binaryName: PROGRAM, enableColors: false });
  cli.register(command);
  const [definition] = cli.definitions();
  const usage = usageLine(definition?.usage ?? PROGRAM);
  const { category, description = '', details = '', examples = [] } = command.usage ?? {};
  return {
    paths: command.paths ?? [],
    ...(category !== undefined && { category }),
    description,
    usage,
    arguments: [...usage.matchAll(/(?:<|\[(?!options))([^\]>]+)[\]>]/g)].map(([, word = '']) => word),
    isRepeated: usage.endsWith('...'),
    options: inOrder((definition?.options ?? []).map((option) => optionManual(option.definition, option.description ?? '', usage))),
    details: paragraphs(named(details)),
    examples: examples.map(([label, text]) => [label, named(text)]),
  };
}

/** A usage of clipanion, with `[options]` for all options that need not be given. */
export function usageLine(usage: string): string {
  const words = usage
    .replace(/ \[-[^\]]*\]/g, '')
    .replace(/<(-[^>]*?) #0>/g, (_, names: string) => `${lastOf(names.split(','))} <${valueNameOf(names.split(','), usage)}>`);
  const path = / (?=[<[.]|--?\w+ <)|$/.exec(words)?.index ?? words.length;
  // Clipanion does not keep the name of arguments of which none is required.
  const rest = words.slice(path).replace(/^ \.\.\.$/, ' [block] ...');
  return `${words.slice(0, path)} [options]${rest}`;
}

function optionManual(definition: string, description: string, usage: string): OptionManual {
  const names = definition.replace(/ #\d+/g, '').split(',');
  return { names, ...(definition.includes(' #') && { value: valueNameOf(names, usage) }), description: named(description) };
}

function inOrder(options: readonly OptionManual[]): OptionManual[] {
  const rank = ({ names }: OptionManual): number => COMMON.indexOf(lastOf(names));
  return [...options].sort((a, b) => rank(a) - rank(b));
}

/** The last of several names, which is the long one. */
export function lastOf(names: readonly string[]): string {
  return names.at(-1) ?? '';
}

/** Clipanion's `$0` is the program. */
function named(text: string): string {
  return text.replaceAll('$0', PROGRAM);
}

function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n|\n\s*(?=- )/)
    .map((paragraph) => paragraph.trim().replace(/\s*\n\s*/g, ' '))
    .filter((paragraph) => paragraph !== '');
}
