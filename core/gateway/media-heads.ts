// How large an image or a document is, from the bytes that say so: only these are decoded from its base64. Pure: no I/O.

/** A JPEG says its size behind its thumbnail and its comments; one with more parts than this hides it. */
const MAX_JPEG_PARTS = 512;
const JPEG_MARKER = 0xff;
/** Bytes of a JPEG that are decoded at once. */
const WINDOW = 1536;
/** Of a part, up to the sides of a frame. */
const PART_HEAD = 9;
/** The markers that begin a frame, of which three in the same range are none. */
const FIRST_FRAME = 0xc0;
const LAST_FRAME = 0xcf;
const NO_FRAMES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);
/** Markers without a length. */
const BARE_MARKERS: ReadonlySet<number> = new Set([0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8]);
const WEBP_SIDE = 0x3fff;
/** A longer PDF counts by its size. */
const MAX_SEARCHED_CHARACTERS = 1024 * 1024;
/** A longer one that fits in so few bytes only says so. */
const MAX_PAGES = 1000;
const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;
/** What may hold pages in which nobody can look without unpacking it, or names them otherwise. */
const HIDDEN_PAGES = /\/ObjStm|\/Encrypt|\/P#|\/T#|#[0-9a-fA-F]{2}(?:age|ype)/;

/** Width times height of a PNG, JPEG, GIF or WebP; undefined if it does not say. */
export function pixelsOf(base64: string): number | undefined {
  const head = bytesAt(base64, 0, 30);
  if (head.length < 10) return undefined;
  if (head.toString('latin1', 1, 4) === 'PNG') return product(head.length < 24 ? [] : [head.readUInt32BE(16), head.readUInt32BE(20)]);
  if (head.toString('latin1', 0, 3) === 'GIF') return product([head.readUInt16LE(6), head.readUInt16LE(8)]);
  if (isWebP(head)) return product(head.length < 30 ? [] : sidesOfWebP(head));
  return head[0] === JPEG_MARKER ? product(sidesOfJpeg(base64)) : undefined;
}

/** True for what begins as RIFF does and is an image. */
export function isWebP(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP';
}

/** The pages of a PDF, up to a thousand; undefined if some may be hidden. */
export function pagesOf(base64: string): number | undefined {
  if (base64.length > MAX_SEARCHED_CHARACTERS) return undefined;
  const text = Buffer.from(base64, 'base64').toString('latin1');
  if (HIDDEN_PAGES.test(text)) return undefined;
  let pages = 0;
  PAGE.lastIndex = 0;
  while (pages < MAX_PAGES && PAGE.test(text)) pages += 1;
  return pages === 0 ? undefined : pages;
}

/** These bytes of a file, as far as it has them. */
export function bytesAt(base64: string, at: number, length: number): Buffer {
  const group = Math.floor(at / 3);
  const before = at - group * 3;
  return Buffer.from(base64.slice(group * 4, (group + Math.ceil((before + length) / 3)) * 4), 'base64').subarray(before, before + length);
}

function product(sides: readonly number[]): number | undefined {
  const [width = 0, height = 0] = sides;
  return width * height > 0 ? width * height : undefined;
}

/** Of its three forms: lossy, lossless, extended. */
function sidesOfWebP(head: Buffer): number[] {
  const form = head.toString('latin1', 12, 16);
  if (form === 'VP8 ') return [head.readUInt16LE(26) & WEBP_SIDE, head.readUInt16LE(28) & WEBP_SIDE];
  if (form === 'VP8X') return [head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1];
  if (form !== 'VP8L') return [];
  const bits = head.readUInt32LE(21);
  return [(bits & WEBP_SIDE) + 1, ((bits >>> 14) & WEBP_SIDE) + 1];
}

function sidesOfJpeg(base64: string): number[] {
  let begin = 0;
  let window = bytesAt(base64, begin, WINDOW);
  for (let at = 0, parts = 0; parts < MAX_JPEG_PARTS; parts += 1) {
    if (at + PART_HEAD > begin + window.length) {
      begin = at;
      window = bytesAt(base64, begin, WINDOW); // parts of a few bytes would cost more to decode one by one
    }
    const here = at - begin;
    const marker = window[here + 1] ?? 0;
    if (window.length < here + PART_HEAD || window[here] !== JPEG_MARKER) return [];
    if (marker >= FIRST_FRAME && marker <= LAST_FRAME && !NO_FRAMES.has(marker)) return [window.readUInt16BE(here + 7), window.readUInt16BE(here + 5)];
    if (marker === JPEG_MARKER)
      at += 1; // a byte that fills up
    else at += BARE_MARKERS.has(marker) ? 2 : 2 + window.readUInt16BE(here + 2);
  }
  return [];
}
