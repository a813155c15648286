// JSON text of values with long prose, such as a prompt or an answer. V8 escapes a string character by character, which for 16 KiB takes as long as
// the rest of a request. Searching for the characters that need an escape is many times faster, and prose has few of them. Pure: no I/O.

/** Below this length JSON.stringify is as fast. */
const LONG_TEXT = 1024;
/** The depth of `messages[i].content[j].text`; tool schemas are deeper and have no long texts. */
const TEXT_DEPTH = 5;
/** With more escapes than this in a sample of the text, JSON.stringify is faster: source code has more, prose fewer. */
const SAMPLE_LENGTH = 512;
const MAX_ESCAPES = 8;

/** Backslash first, because the other replacements add backslashes. */
const COMMON_ESCAPES = [
  ['\\', '\\\\'],
  ['"', '\\"'],
  ['\n', '\\n'],
  ['\t', '\\t'],
  ['\r', '\\r'],
] as const;
const RARE_ESCAPES = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).filter((char) => !'\n\t\r'.includes(char));

/** The same text as JSON.stringify gives, for plain JSON values (a property that is undefined is left out). */
export function toJsonText(value: unknown): string {
  return hasLongText(value, TEXT_DEPTH) ? write(value, TEXT_DEPTH) : JSON.stringify(value);
}

function hasLongText(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.length >= LONG_TEXT;
  if (typeof value !== 'object' || value === null || depth === 0) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (hasLongText(value[index], depth - 1)) return true;
    return false;
  }
  for (const key in value) if (hasLongText((value as Record<string, unknown>)[key], depth - 1)) return true;
  return false;
}

function write(value: unknown, depth: number): string {
  if (typeof value === 'string') return value.length < LONG_TEXT ? JSON.stringify(value) : quote(value);
  if (!hasLongText(value, depth)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => (item === undefined ? 'null' : write(item, depth - 1))).join(',')}]`;
  const members = Object.entries(value as object).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member, depth - 1)}`).join(',')}}`;
}

/** Only ASCII text is handled here; for other characters V8 must check surrogates. */
function quote(text: string): string {
  if (Buffer.byteLength(text) !== text.length || isDense(text)) return JSON.stringify(text);
  if (RARE_ESCAPES.some((char) => text.includes(char))) return JSON.stringify(text);
  let escaped = text;
  for (const [char, replacement] of COMMON_ESCAPES) if (escaped.includes(char)) escaped = escaped.replaceAll(char, replacement);
  return `"${escaped}"`;
}

function isDense(text: string): boolean {
  let escapes = 0;
  for (let at = 0; at < SAMPLE_LENGTH; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x22 || code === 0x5c) escapes += 1;
  }
  return escapes > MAX_ESCAPES;
}
