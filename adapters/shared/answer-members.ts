// Some members of a whole answer that passes as it is. The rest of it is not parsed. Pure but for the turns of a long answer (long-json.ts).
import { tryParseJson } from '../../core/base/json.ts';
import { membersOf } from '../../core/base/json-members.ts';
import { ANY_JSON, isLong, parseLong, type Reader } from './long-json.ts';
import { malformed } from './provider.ts';
import { assertParseable } from './read.ts';

/** Throws UPSTREAM_MALFORMED if the answer is not a whole JSON object, or exceeds the limits. A member that is no JSON is undefined. */
export function membersIn(answer: Buffer, names: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, start, end } of placesIn(answer, names)) values[name] = tryParseJson(answer.toString('utf8', start, end));
  return values;
}

/** The same for a long answer. Rejects as `parseLong` does, too. */
export async function longMembersIn(answer: Buffer, names: readonly string[], reader: Reader): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const { name, start, end } of placesIn(answer, names)) {
    const value = answer.subarray(start, end);
    values[name] = isLong(value) ? await parseLong(value, ANY_JSON, reader) : tryParseJson(value.toString('utf8'));
  }
  return values;
}

function placesIn(answer: Buffer, names: readonly string[]): NonNullable<ReturnType<typeof membersOf>> {
  assertParseable(answer);
  const members = membersOf(answer, names);
  if (members === undefined) throw malformed(answer.length === 0 ? 'it is empty' : 'it is not a JSON object');
  return members;
}
