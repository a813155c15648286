// Texts in pieces that fit into a notice. Pure: no I/O.

/** Cuts a text so that no piece has more than `most` bytes in JSON, and none ends within a character. At least one piece. */
export function pieces(text: string, most: number): string[] {
  const found: string[] = [];
  let from = 0;
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const size = jsonBytes(code);
    if (bytes + size > most) {
      found.push(text.slice(from, at));
      from = at;
      bytes = 0;
    }
    bytes += size;
    at += code > 0xffff ? 2 : 1;
  }
  found.push(text.slice(from));
  return found;
}

/** Bytes in a string of JSON, or a few more. */
function jsonBytes(code: number): number {
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return 6;
  if (code === 0x22 || code === 0x5c) return 2;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code <= 0xffff ? 3 : 4;
}
