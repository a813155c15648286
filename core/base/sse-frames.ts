// Where the frames of server-sent events end in bytes, whatever their line ends: LF, CRLF, CR, or a mix of them. Pure: no I/O.
//
// A frame ends with an empty line. A CR at the end of the bytes may be the first half of a CRLF, so an LF before it does not end the frame yet.
const LF = 10;
const CR = 13;
const BORDER = Buffer.from('\n\n');

/** True for a byte that ends a line. */
export function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/** The index after the last complete frame; 0 if there is none. */
export function endOfFrames(bytes: Buffer): number {
  for (let at = bytes.length - 1; at > 0; at -= 1) if (isLineEnd(bytes[at]) && isBorder(bytes, at)) return at + 1;
  return 0;
}

/** The index after the first frame that begins at or after `from`; the length of the bytes if that frame has no end. */
export function endOfFirstFrame(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at += 1) {
    if (!isLineEnd(bytes[at]) || !isBorder(bytes, at, from)) continue;
    return bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : at + 1;
  }
  return bytes.length;
}

/** How many frames end in these bytes. */
export function countFrames(bytes: Buffer): number {
  let frames = 0;
  if (bytes.indexOf(CR) < 0) {
    for (let at = bytes.indexOf(BORDER); at >= 0; at = bytes.indexOf(BORDER, at + BORDER.length)) frames += 1;
    return frames;
  }
  for (let from = 0; from < bytes.length; frames += 1) {
    const end = endOfFirstFrame(bytes, from);
    if (end === bytes.length && endOfFrames(bytes.subarray(from)) === 0) break;
    from = end;
  }
  return frames;
}

/** True if the line end at `at` is that of an empty line. */
function isBorder(bytes: Buffer, at: number, from = 0): boolean {
  if (bytes[at] === CR && at === bytes.length - 1 && bytes[at - 1] === LF) return false;
  const begin = bytes[at] === LF && bytes[at - 1] === CR ? at - 1 : at;
  return begin > from && isLineEnd(bytes[begin - 1]);
}
