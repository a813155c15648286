// Changes single values of a JSON text and leaves every other byte as it is: a text that is written anew has other bytes before the same content, which
// breaks a provider's prompt cache and what is signed. Pure: no I/O.
import { type JsonOutline, type Member, membersBetween, membersOf, skipBlanks } from '../../../../core/base/json-members.ts';

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A JSON object, and the places of the commas between its members; without them if they are not known. */
export interface EditedText {
  readonly body: Buffer;
  readonly commas?: readonly number[];
}

/** The values of these top-level members, as JSON. A member that is not there is put first. `text` must be a valid JSON object. */
export function withMembers(text: Buffer, members: Readonly<Record<string, string>>, outline?: JsonOutline): EditedText {
  const begin = text.indexOf(OPEN_OBJECT) + 1;
  // A member that is there more than once changes each time: providers differ in which one counts.
  const names = Object.keys(members);
  const found = outline === undefined ? (membersOf(text, names) ?? []) : membersBetween(text, names, outline.commas);
  const added = addedMembers(text, begin, members, found);
  let length = text.length + Buffer.byteLength(added.text);
  for (const { name, start, end } of found) length += Buffer.byteLength(members[name] ?? '') - (end - start);
  const edited = Buffer.allocUnsafe(length);
  let to = text.copy(edited, 0, 0, begin);
  if (added.text !== '') to += edited.write(added.text, to);
  let from = begin;
  for (const { name, start, end } of found) {
    to += text.copy(edited, to, from, start);
    to += edited.write(members[name] ?? '', to);
    from = end;
  }
  text.copy(edited, to, from);
  if (outline === undefined) return { body: edited };
  return { body: edited, commas: [...added.commas, ...moved(outline.commas, Buffer.byteLength(added.text), found, members)] };
}

/** Where the commas are once the members before them have other lengths. */
function moved(commas: readonly number[], by: number, found: readonly Member[], members: Readonly<Record<string, string>>): number[] {
  let shift = by;
  let next = 0;
  return commas.map((comma) => {
    for (let member = found[next]; member !== undefined && member.end <= comma; member = found[next]) {
      shift += Buffer.byteLength(members[member.name] ?? '') - (member.end - member.start);
      next += 1;
    }
    return comma + shift;
  });
}

interface Added {
  readonly text: string;
  readonly commas: readonly number[];
}

/** The missing members, with a comma after them if others follow. */
function addedMembers(text: Buffer, begin: number, members: Readonly<Record<string, string>>, found: readonly Member[]): Added {
  let added = '';
  const commas: number[] = [];
  const comma = (): void => {
    commas.push(begin + Buffer.byteLength(added));
    added += ',';
  };
  for (const name in members) {
    if (found.some((member) => member.name === name)) continue;
    if (added !== '') comma();
    added += `${JSON.stringify(name)}:${members[name]}`;
  }
  if (added !== '' && text[skipBlanks(text, begin)] !== CLOSE_OBJECT) comma();
  return { text: added, commas };
}
