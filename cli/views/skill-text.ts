// How skills are shown: a table, what is approved of one, and what has changed. Pure: no I/O.
//
// seen-whole: what a model would read and a person would not see, such as characters without a width, is shown as an escape.
import type { SkillView } from '../../core/index.ts';
import { type Column, table } from '../terminal/layout.ts';
import { oneLine, type Style } from '../terminal/output.ts';
import { visible } from '../terminal/unseen.ts';

const SKILLS: readonly Column[] = [
  { title: 'SKILL' },
  { title: 'STATE' },
  { title: 'FILES', align: 'right', drop: 1 },
  { title: 'TOKENS', align: 'right', drop: 2 },
  { title: 'DESCRIPTION', min: 20, drop: 3 },
];

/** As commands take it: that of a block stands after its name. */
export function skillName({ owner, name }: Pick<SkillView, 'owner' | 'name'>): string {
  return owner === '_' ? name : `${owner}/${name}`;
}

/** The table of `skills ls`. */
export function skillTable(skills: readonly SkillView[], view: { readonly width: number; readonly style: Style }): string[] {
  const rows = skills.map((skill) => {
    const { state, files, tokens, problem, description } = skill;
    return [skillName(skill), state, String(files.length), String(tokens), problem ?? description].map(visible).map(oneLine);
  });
  return table(SKILLS, rows, view);
}

/** All that a person should read before an approval: every file, whole. */
export function skillLines(skill: SkillView): string[] {
  const files = Object.entries(skill.now ?? {});
  return [
    `${skillName(skill)} (${skill.state}): models of blocks that have it read`,
    ...files.flatMap(([path, text]) => ['', `  ${path}`, ...linesOf(text).map((line) => `    ${line}`)]),
  ].map(shownLine);
}

/** What is new or has changed, the old lines above the new ones. Empty if nothing has. */
export function skillDiff(skill: SkillView): string[] {
  const { state, problem = '', now = {}, was } = skill;
  const name = skillName(skill);
  if (state === 'approved') return [];
  if (state === 'unusable') return [`${name} can't be used: ${problem}`].map(shownLine);
  if (state === 'new') return [`${name} is new:`, ...filesWith(now, '+ ')].map(shownLine);
  if (was === undefined) return [`${name} changed. What was approved was too long to keep; it is now:`, ...filesWith(now, '+ ')].map(shownLine);
  const paths = [...new Set([...Object.keys(was), ...Object.keys(now)])].sort();
  return [`${name} changed:`, ...paths.flatMap((path) => fileDiff(path, was[path], now[path]))].map(shownLine);
}

function filesWith(files: Readonly<Record<string, string>>, before: string): string[] {
  return Object.entries(files).flatMap(([path, text]) => ['', path, ...linesOf(text).map((line) => marked(before, line))]);
}

function fileDiff(path: string, was: string | undefined, now: string | undefined): string[] {
  if (was === now) return [];
  if (now === undefined) return ['', `${path} is gone.`];
  if (was === undefined) return ['', `${path} is new:`, ...linesOf(now).map((line) => marked('+ ', line))];
  return ['', path, ...changedLines(linesOf(was), linesOf(now))];
}

/** What is alike at the beginning and at the end is left out. */
function changedLines(was: readonly string[], now: readonly string[]): string[] {
  let first = 0;
  while (first < was.length && first < now.length && was[first] === now[first]) first += 1;
  let last = 0;
  while (last < was.length - first && last < now.length - first && was.at(-1 - last) === now.at(-1 - last)) last += 1;
  if (first === was.length && first === now.length) return ['(Only the line break at the end differs.)'];
  const part = (lines: readonly string[]): readonly string[] => lines.slice(first, lines.length - last);
  return [`line ${first + 1}:`, ...part(was).map((line) => marked('- ', line)), ...part(now).map((line) => marked('+ ', line))];
}

/** An empty line has no blank at its end, which would be shown. */
function marked(mark: string, line: string): string {
  return line === '' ? mark.trimEnd() : mark + line;
}

/** A carriage return is a part of a line, so that it is seen. */
function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** Indented as it is, and one line. Blanks that are not seen are escapes, too: those at the end, and all that are no plain ones. */
function shownLine(line: string): string {
  const [indent = ''] = /^ */.exec(line) ?? [];
  const blanks = line.replaceAll(/(?! )\p{Zs}|\t| (?= *$)/gu, (one) =>
    one === '\t' ? '\\t' : `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
  return line.trim() === '' ? '' : indent + oneLine(visible(blanks));
}
