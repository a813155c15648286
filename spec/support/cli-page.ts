// docs/cli.md: a table of all commands, the template beside this file, and a section for each command.
import { readFileSync } from 'node:fs';
import type { CommandManual, OptionManual } from '../../cli/main/manual.ts';
import { optionText, wrapped } from '../../cli/main/usage.ts';
import { EXIT_CODES } from '../../cli/terminal/exit-codes.ts';

const WIDTH = 150;
/** The options that every command has; the page describes them once. */
const COMMON: readonly string[] = ['--workspace', '--json'];
const TEMPLATE = readFileSync(new URL('./cli-page.template.md', import.meta.url), 'utf8');

/** The text of docs/cli.md. */
export function cliPage(manuals: readonly CommandManual[]): string {
  // A command without a category only refers to its subcommands.
  const categories = [...new Set(manuals.flatMap(({ category }) => category ?? []))];
  const groups = categories.map((category) => ({ category, commands: manuals.filter((manual) => manual.category === category) }));
  const parts: Readonly<Record<string, string>> = {
    table: table(['command', 'what it does'], groups.flatMap(groupRows)),
    common: optionTable((manuals[0]?.options ?? []).filter(isCommon)),
    'exit-codes': table(
      ['code', 'meaning'],
      Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning]),
    ),
    commands: groups.map(({ category, commands }) => [`## ${category}`, ...commands.map(section)].join('\n\n')).join('\n\n'),
  };
  return TEMPLATE.replace(/\{\{([a-z-]+)\}\}/g, (_, name: string) => parts[name] ?? '');
}

function groupRows({ category, commands }: { readonly category: string; readonly commands: readonly CommandManual[] }): string[][] {
  return [
    [`**${category}**`, ''],
    ...commands.map((manual) => [`[\`${nameOf(manual)}\`](#blockhouse-${nameOf(manual).replaceAll(' ', '-')})`, manual.description]),
  ];
}

function nameOf({ paths: [path = []] }: CommandManual): string {
  return path.join(' ');
}

function section(manual: CommandManual): string {
  const { usage, description, details, examples, paths } = manual;
  const own = manual.options.filter((option) => !isCommon(option));
  const aliases = paths.slice(1).map((path) => `\`${path.join(' ')}\``);
  return [
    `### blockhouse ${nameOf(manual)}`,
    `${description}.${aliases.length === 0 ? '' : ` Also ${aliases.join(', ')}.`}`,
    ['```text', own.length === 0 ? usage.replace(' [options]', '') : usage, '```'].join('\n'),
    ...details.map((paragraph) => wrapped(paragraph, WIDTH).join('\n')),
    ...(own.length === 0 ? [] : [optionTable(own)]),
    ...(examples.length === 0 ? [] : [['```sh', ...examples.map(exampleLine(examples)), '```'].join('\n')]),
  ].join('\n\n');
}

/** Lines up the labels as comments behind the commands. */
function exampleLine(examples: CommandManual['examples']): (example: CommandManual['examples'][number]) => string {
  const width = Math.max(...examples.map(([, command]) => command.length));
  return ([label, command]) => `${command.padEnd(width)}  # ${label}`;
}

function optionTable(options: readonly OptionManual[]): string {
  return table(
    ['option', 'meaning'],
    options.map((option) => [`\`${optionText(option)}\``, option.description]),
  );
}

function isCommon({ names }: OptionManual): boolean {
  return COMMON.includes(names.at(-1) ?? '');
}

/** A table whose columns are aligned in the source. A pipe would end the cell. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...others] = cells;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}
