// Which frames of a stream are worth reading, found in their bytes: most have only what a model has written, and pass as they are. Pure: no I/O.
import { skipBlanks } from '../../core/base/json-members.ts';
import type { Protocol } from './protocol.ts';

const COLON = 58;
const LF = 10;
const CR = 13;
const NULL = Buffer.from('null');
/** Of `event:`, which no other line begins as. */
const FIRST_OF_NAME = 0x65;
const SECOND_OF_NAME = 0x76;

/** What makes a frame worth reading, as bytes. */
export interface Marks {
  readonly texts: readonly Buffer[];
  /** Names of members, in their quotes. */
  readonly members: readonly Buffer[];
  readonly ofModel: Buffer;
}

const knownMarks = new WeakMap<Protocol, Marks>();

/** Made once for each protocol. */
export function marksOf(protocol: Protocol): Marks {
  const known = knownMarks.get(protocol);
  if (known !== undefined) return known;
  const marks = {
    texts: protocol.marks.map((mark) => Buffer.from(mark)),
    members: (protocol.members ?? []).map((name) => Buffer.from(JSON.stringify(name))),
    ofModel: Buffer.from(protocol.ofModel),
  };
  knownMarks.set(protocol, marks);
  return marks;
}

/** False for frames of which only their bytes matter, as most do. */
export function saysMore(frames: Buffer, { texts, members }: Marks): boolean {
  for (const text of texts) if (frames.indexOf(text) >= 0) return true;
  for (const name of members) {
    for (let at = frames.indexOf(name); at >= 0; at = frames.indexOf(name, at + name.length)) if (!isNull(frames, at + name.length)) return true;
  }
  return false;
}

/** True if the member whose name ends here is surely null. Servers write JSON with any blanks, and one that spans several data lines is read to be sure. */
function isNull(frames: Buffer, nameEnd: number): boolean {
  const colon = skipBlanks(frames, nameEnd);
  if (frames[colon] !== COLON) return false;
  const start = skipBlanks(frames, colon + 1);
  return frames.subarray(start, start + NULL.length).equals(NULL);
}

/** True for frames with a comment, and for one that is neither named nor has what the frames of a model have. Each line is looked at once, since most frames come through here. */
export function hasOther(frames: Buffer, { ofModel }: Marks): boolean {
  let start = 0;
  let isNamed = false;
  for (let from = 0; from < frames.length; ) {
    const first = frames[from];
    if (first === COLON) return true;
    if (first === LF || first === CR) {
      if (from > start && !isNamed && !hasMark(frames, ofModel, start, from)) return true;
      from += first === CR && frames[from + 1] === LF ? 2 : 1;
      start = from;
      isNamed = false;
      continue;
    }
    isNamed ||= first === FIRST_OF_NAME && frames[from + 1] === SECOND_OF_NAME;
    const end = frames.indexOf(LF, from);
    from = end < 0 ? frames.length : end + 1;
  }
  return start < frames.length && !isNamed && !hasMark(frames, ofModel, start, frames.length);
}

function hasMark(frames: Buffer, mark: Buffer, from: number, to: number): boolean {
  const at = frames.indexOf(mark, from);
  return at >= 0 && at < to;
}
