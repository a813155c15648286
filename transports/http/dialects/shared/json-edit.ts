// Changes single values of a JSON text and leaves every other byte as it is: a text that is written anew has other bytes before the same content, which
// breaks a provider's prompt cache and what is signed. Pure: no I/O.
import { type JsonOutline, type Member, membersBetween, membersOf, skipBlanks } from '../../../../core/base/json-members.ts';

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The values of these top-level members, as JSON. A member that is not there is put first. `text` must be a valid JSON object. */
export function withMembers(text: Buffer, members: Readonly<Record<string, string>>, outline?: JsonOutline): Buffer {
  const begin = text.indexOf(OPEN_OBJECT) + 1;
  // A member that is there more than once changes each time: providers differ in which one counts.
  const names = Object.keys(members);
  const found = outline === undefined ? (membersOf(text, names) ?? []) : membersBetween(text, names, outline);
  const added = addedMembers(text, begin, members, found);
  let length = text.length + Buffer.byteLength(added);
  for (const { name, start, end } of found) length += Buffer.byteLength(members[name] ?? '') - (end - start);
  const edited = Buffer.allocUnsafe(length);
  let to = text.copy(edited, 0, 0, begin);
  if (added !== '') to += edited.write(added, to);
  let from = begin;
  for (const { name, start, end } of found) {
    to += text.copy(edited, to, from, start);
    to += edited.write(members[name] ?? '', to);
    from = end;
  }
  text.copy(edited, to, from);
  return edited;
}

/** The missing members, with a comma after them if others follow. */
function addedMembers(text: Buffer, begin: number, members: Readonly<Record<string, string>>, found: readonly Member[]): string {
  let added = '';
  for (const name in members) {
    if (found.some((member) => member.name === name)) continue;
    added += `${added === '' ? '' : ','}${JSON.stringify(name)}:${members[name]}`;
  }
  return added === '' || text[skipBlanks(text, begin)] === CLOSE_OBJECT ? added : `${added},`;
}
