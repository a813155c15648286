// Changes top-level members of a JSON object in its bytes, and leaves every other byte as it is. `json-members.ts` finds the members. Pure: no I/O.
import { type Member, membersBetween, membersOf, skipBlanks } from './json-members.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** What becomes of members, by their names in ASCII. A member that stands more than once changes each time. */
export interface MemberEdits {
  /** The new value, as JSON. A member that is not there is put first. */
  readonly set?: Readonly<Record<string, string>>;
  readonly rename?: Readonly<Record<string, string>>;
  readonly drop?: readonly string[];
}

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * The text with the edits; the same object if there is nothing to edit. `text` must be a valid JSON object. With its `commas`, its values are not scanned, which
 * would take a tenth of a second for a large one.
 */
export function editMembers(text: Buffer, { set = {}, rename = {}, drop = [] }: MemberEdits, commas?: readonly number[]): Buffer {
  const names = [...Object.keys(set), ...Object.keys(rename), ...drop];
  const found = names.length === 0 ? [] : commas === undefined ? (membersOf(text, names) ?? []) : membersBetween(text, names, commas);
  const splices: Splice[] = [];
  for (const member of found) {
    const { name, start, end } = member;
    if (drop.includes(name)) splices.push(removalOf(text, member, splices));
    else if (set[name] !== undefined) splices.push({ from: start, to: end, text: set[name] });
    else splices.push({ ...nameRange(text, start), text: JSON.stringify(rename[name]) });
  }
  const added = Object.keys(set).filter((name) => !found.some((member) => member.name === name));
  return added.length === 0 && splices.length === 0 ? text : spliced(text, added.map((name) => `${JSON.stringify(name)}:${set[name]}`).join(','), splices);
}

/** With the comma after it, or with the one before it if it is the last of those that stay. */
function removalOf(text: Buffer, { start, end }: Member, before: readonly Splice[]): Splice {
  const { from } = nameRange(text, start);
  const after = skipBlanks(text, end);
  if (text[after] === COMMA) return { from, to: after + 1, text: '' };
  let at = from;
  for (;;) {
    while (BLANKS.has(text[at - 1])) at -= 1;
    const gone = before.find(({ to, text: put }) => to === at && put === '');
    if (gone === undefined) break;
    at = gone.from;
  }
  return { from: text[at - 1] === COMMA ? at - 1 : from, to: end, text: '' };
}

/** Where the name of a member stands whose value starts here, quotes included. A name of ASCII has no quote within, escaped or not. */
function nameRange(text: Buffer, valueStart: number): { readonly from: number; readonly to: number } {
  const to = text.lastIndexOf(QUOTE, valueStart - 1) + 1;
  return { from: text.lastIndexOf(QUOTE, to - 2), to };
}

/** Removals may overlap: a later one reaches back over earlier ones. */
function spliced(text: Buffer, added: string, splices: readonly Splice[]): Buffer {
  const begin = text.indexOf(OPEN_OBJECT) + 1;
  const parts: Buffer[] = [];
  let end = text.length;
  for (const { from, to, text: put } of splices.toReversed()) {
    if (from >= end) continue; // a later removal covers it
    parts.push(text.subarray(Math.min(to, end), end), Buffer.from(put));
    end = from;
  }
  const rest = [text.subarray(begin, end), ...parts.toReversed()];
  const next = rest.map((part) => part[skipBlanks(part, 0)]).find((byte) => byte !== undefined);
  const comma = added === '' || next === CLOSE_OBJECT ? '' : ',';
  return Buffer.concat([text.subarray(0, begin), Buffer.from(added + comma), ...rest]);
}
