// Characters that are not seen but obeyed: a terminal acts on control characters (also on C1, U+0080 to U+009F), U+2028 and U+2029 look like the end of
// a line, and direction marks reorder the text around them, so that a line could look like another one. Pure: no I/O.

const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const PLAIN = /^[\n\t -~]*$/;

/** The text with these characters as JSON escapes. Line feeds and tabs stay, which occur in JSON only between values. */
export function escapeInvisible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll(INVISIBLE, (character) => {
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'));
    return units.map((unit) => `\\u${unit}`).join('');
  });
}
