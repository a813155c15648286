// `skills` of mcp-pins.json: which skills a person has approved. Pure: no I/O.
//
// own-hash: a pin with its texts counts only if they have its hash, as with tools.
import { isObject } from '../../../core/base/json.ts';
import { canonicalJson, sha256, type SkillPin, type SkillPins } from '../../../core/index.ts';

/** The longest skill whose approved text is kept, in characters; of a longer one only the hash is, so that what has changed in it can't be shown. */
const MAX_KEPT = 262_144;

/** The pin of what lies in a folder. */
export function skillPin(hash: string, files: ReadonlyMap<string, string>, approvedAt: string, approvedBy: string): SkillPin {
  const length = [...files].reduce((sum, [path, text]) => sum + path.length + text.length, 0);
  return { hash, approvedAt, approvedBy, ...(length <= MAX_KEPT && { files: Object.fromEntries(files) }) };
}

/** Of an entry that is not as we write it, nothing is approved. */
export function skillPinsOf(raw: unknown): SkillPins {
  if (!isObject(raw)) return {};
  const owners = Object.entries(raw).map(([owner, skills]): [string, Record<string, SkillPin>] => {
    const pins = isObject(skills) ? Object.entries(skills).flatMap(([name, pin]) => pinOf(name, pin)) : [];
    return [owner, Object.fromEntries(pins)];
  });
  return Object.fromEntries(owners.filter(([, pins]) => Object.keys(pins).length > 0));
}

function pinOf(name: string, raw: unknown): [string, SkillPin][] {
  if (!isObject(raw) || typeof raw['hash'] !== 'string') return [];
  const { hash, files } = raw;
  const pin = { hash, approvedAt: String(raw['approvedAt']), approvedBy: String(raw['approvedBy']) };
  if (files === undefined) return [[name, pin]];
  if (!isObject(files) || !Object.values(files).every((text) => typeof text === 'string')) return [];
  const texts = files as Readonly<Record<string, string>>;
  const sorted = Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256(canonicalJson(sorted)) === hash ? [[name, { ...pin, files: texts }]] : []; // own-hash
}
