// Whether two values of JSON are surely the same, or one surely fits a pattern, as tap says it. What is more than JSON is for tap itself, and so is every doubt. Pure: no I/O.

/** Deeper values may go round in a circle. */
const MAX_DEPTH = 50;

const isPlain = (value: object): value is Record<string, unknown> => Object.getPrototypeOf(value) === Object.prototype;

/** True if `t.strictSame` and `t.same` surely pass. */
export function isSurelySame(found: unknown, wanted: unknown, depth = 0): boolean {
  if (found === wanted) return true;
  if (typeof found !== 'object' || typeof wanted !== 'object' || found === null || wanted === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(found)) {
    if (!Array.isArray(wanted) || found.length !== wanted.length) return false;
    return found.every((item: unknown, index) => item !== undefined && isSurelySame(item, wanted[index], depth + 1));
  }
  if (!isPlain(found) || !isPlain(wanted)) return false;
  const names = Object.keys(found);
  if (names.length !== Object.keys(wanted).length) return false;
  return names.every((name) => Object.hasOwn(wanted, name) && isSurelySame(found[name], wanted[name], depth + 1));
}

/** True if `t.match` surely passes. */
export function isSurelyMatch(found: unknown, pattern: unknown, depth = 0): boolean {
  if (found === pattern) return true;
  if (typeof found === 'string') {
    if (typeof pattern === 'string') return pattern !== '' && found.includes(pattern);
    return pattern instanceof RegExp && !pattern.global && !pattern.sticky && pattern.test(found);
  }
  if (typeof found !== 'object' || typeof pattern !== 'object' || found === null || pattern === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(pattern)) {
    if (!Array.isArray(found) || found.length !== pattern.length) return false;
    return pattern.every((item: unknown, index) => item !== undefined && isSurelyMatch(found[index], item, depth + 1));
  }
  if (!isPlain(found) || !isPlain(pattern)) return false;
  return Object.keys(pattern).every((name) => Object.hasOwn(found, name) && isSurelyMatch(found[name], pattern[name], depth + 1));
}
