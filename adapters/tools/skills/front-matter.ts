// Reads SKILL.md: `name` and `description` between two lines `---`, then the text. Pure: no I/O.
//
// truthful: the front matter of others is YAML, of which the two fields are read as far as lines, quotes and blocks (`>`, `|`) go. What would mean something else to another reader
//   is refused, with the line and what to write instead. Other fields are passed over, because nothing here heeds them.

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';
/** Names of skills and of their folders. */
export const SKILL_NAME = /^[a-z0-9-]{1,64}$/;
export const NAME_RULE = 'must be 1 to 64 characters from a-z, 0-9 and -';
const MAX_DESCRIPTION = 1024;
/** A quoted or plain key, and its value. No part of it tries blanks that another one has tried: the time would grow with the square of a line. */
const FIELD = /^(?:["']([^"']*)["']\s*|([^\s:"'#-][^:]*)):(?:\s+(\S.*)?)?$/;

/** What SKILL.md says. */
export interface SkillText {
  readonly name: string;
  /** On one line. */
  readonly description: string;
  /** What comes after the front matter. */
  readonly body: string;
}

/** A fault of SKILL.md, with the line where it is; the message says what to write. */
export class SkillFault extends Error {
  constructor(line: number, message: string) {
    super(`${SKILL_FILE}, line ${line}: ${message}`);
  }
}

/** A field: the number of its line, what stands there after the colon, and the lines below that belong to it. */
interface Field {
  readonly key: string;
  readonly line: number;
  readonly first: string;
  readonly more: readonly string[];
}

/** Throws a SkillFault. `folder` is the name of the folder, which is the name of the skill. */
export function readSkillText(text: string, folder: string): SkillText {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  const example = `begin with a line ---, then \`name: ${folder}\`, \`description: what it is for\`, and another line ---`;
  if (lines[0]?.trimEnd() !== '---') throw new SkillFault(1, `there is no front matter; ${example}`);
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (end < 0) throw new SkillFault(1, 'the front matter has no end; put a line --- after it');
  const fields = fieldsIn(lines.slice(0, end));
  const name = textOfField(fields, 'name', folder);
  const description = textOfField(fields, 'description', folder);
  if (!SKILL_NAME.test(name.text)) throw new SkillFault(name.line, `name ${NAME_RULE}`);
  if (name.text !== folder) throw new SkillFault(name.line, `name is ${name.text}, and the folder is ${folder}; rename one of them`);
  const { length } = [...description.text];
  if (length > MAX_DESCRIPTION) throw new SkillFault(description.line, `description has ${length} characters; shorten it to ${MAX_DESCRIPTION}`);
  return {
    name: name.text,
    description: description.text,
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
}

function fieldsIn(lines: readonly string[]): Field[] {
  const fields: Field[] = [];
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, quoted, plain, first = ''] = FIELD.exec(line) ?? [];
    const key = quoted ?? plain?.trimEnd();
    if (key === undefined) throw new SkillFault(at + 1, 'this is no `key: value`; write it so, or remove the line');
    const more: string[] = [];
    // A list may stand below its key without being indented.
    const isPart = (next: string | undefined): boolean => next !== undefined && (/^\s|^$/.test(next) || (first.trim() === '' && /^-(?:\s|$)/.test(next)));
    for (; isPart(lines[at + 1]); at += 1) more.push(lines[at + 1] ?? '');
    fields.push({ key, line: at + 1 - more.length, first: first.trim(), more });
  }
  return fields;
}

function textOfField(fields: readonly Field[], key: string, folder: string): { readonly text: string; readonly line: number } {
  const [field, twice] = fields.filter((one) => one.key === key);
  const example = key === 'name' ? `\`name: ${folder}\`` : '`description: what it is for, and when to read it`';
  if (field === undefined) throw new SkillFault(1, `${key} is missing; add ${example}`);
  if (twice !== undefined) throw new SkillFault(twice.line, `${key} stands there twice; remove one`);
  const text = scalar(field).replaceAll(/\s+/g, ' ').trim();
  if (text === '') throw new SkillFault(field.line, `${key} is empty; write ${example}`);
  if (/\p{Cc}/u.test(text)) throw new SkillFault(field.line, `${key} has control characters; remove them`);
  return { text, line: field.line };
}

/** truthful. Line breaks are kept or become blanks: the caller makes one line of all. */
function scalar(field: Field): string {
  const { key, line, first, more } = field;
  const fault = (what: string): SkillFault => new SkillFault(line, `${key} ${what}`);
  if (more.some((one) => one.trim() !== '' && /^ *\t/.test(one))) throw fault('has a line that is indented with a tab; use blanks');
  const filled = more.map((one) => one.trim()).filter((one) => one !== '');
  if (/^[|>]/.test(first)) return block(field, fault);
  const whole = [first, ...filled].join(' ').trim();
  if (/^["']/.test(first)) {
    if ([first, ...filled].slice(0, -1).some((one) => /(?:^|[^\\])(?:\\\\)*\\$/.test(one)))
      throw fault('has a line that ends with \\; write the text on one line');
    return first.startsWith('"') ? doubleQuoted(whole, fault) : singleQuoted(whole, fault);
  }
  const [begin = ''] = first;
  if ('[]{}&*!%@`,'.includes(begin) && begin !== '') throw fault(`begins with ${begin}, which is no text in YAML; put the text into quotes`);
  if (first === '' && filled.some((one) => /^-(?:\s|$)|^[\w-]+:(?:\s|$)/.test(one))) throw fault('must be one text; write it on the same line, or after >');
  return whole;
}

function block({ first, more }: Field, fault: (what: string) => SkillFault): string {
  if (!/^[|>](?:[+-]?[1-9]?|[1-9][+-])(?:\s+#.*)?$/.test(first)) throw fault(`begins with ${first.slice(0, 1)}, so the text must begin on the next line`);
  const filled = more.filter((one) => one.trim() !== '');
  const indents = filled.map((one) => one.length - one.trimStart().length);
  const [own = 0] = indents;
  if (indents.some((indent) => indent < own)) throw fault('has lines that are indented less than its first one; indent them alike');
  return filled.join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

function doubleQuoted(whole: string, fault: (what: string) => SkillFault): string {
  const inner = /^"((?:[^"\\]|\\.)*)"(?:\s+#.*|\s*)$/.exec(whole)?.[1];
  if (inner === undefined) throw fault('begins with " and does not end with it; put one " at each end, and \\" inside');
  return inner.replaceAll(/\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g, (given: string, x?: string, u?: string, U?: string, one = '') => {
    const code = x ?? u ?? U;
    if (code !== undefined && Number.parseInt(code, 16) <= 0x10ffff) return String.fromCodePoint(Number.parseInt(code, 16));
    const meant = ' "/\\\t'.includes(one) ? one : ESCAPES[one];
    if (code !== undefined || one === '' || meant === undefined) throw fault(`has ${given}, which is no escape; write \\\\ for a backslash`);
    return meant;
  });
}

function singleQuoted(whole: string, fault: (what: string) => SkillFault): string {
  const inner = /^'((?:[^']|'')*)'(?:\s+#.*|\s*)$/.exec(whole)?.[1];
  if (inner === undefined) throw fault("begins with ' and does not end with it; put one ' at each end, and '' inside");
  return inner.replaceAll("''", "'");
}
