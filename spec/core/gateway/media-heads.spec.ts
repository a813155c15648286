import t from 'tap';
import { bytesAt, pagesOf, pixelsOf } from '../../../core/gateway/media-heads.ts';

const hex = (digits: string, rest = 100): string => Buffer.concat([Buffer.from(digits.replace(/ /g, ''), 'hex'), Buffer.alloc(rest, 7)]).toString('base64');
const ascii = (text: string): string => Buffer.from(text, 'latin1').toString('hex');
/** A part of a JPEG that is no frame. */
const comment = (bytes: number): string => `fffe ${(bytes + 2).toString(16).padStart(4, '0')} ${'2a'.repeat(bytes)}`;
const FRAME = 'ffc0 0011 08 1f40 0fa0 03';

t.test('the pixels of an image stand in its head', async (t) => {
  const table: [what: string, base64: string, pixels: number | undefined][] = [
    ['PNG', hex('89504e470d0a1a0a 0000000d 49484452 00001f40 00001f40'), 64_000_000],
    ['GIF', hex(`${ascii('GIF89a')} 400e 0800`), 3648 * 8],
    ['WebP, lossy', hex(`${ascii('RIFF')} 00000000 ${ascii('WEBPVP8 ')} 00000000 000000 9d012a 401f 2003`), 8000 * 800],
    ['WebP, lossless', hex(`${ascii('RIFF')} 00000000 ${ascii('WEBPVP8L')} 00000000 2f 3fdfc707`), 8000 * 7968],
    ['WebP, extended', hex(`${ascii('RIFF')} 00000000 ${ascii('WEBPVP8X')} 0a000000 00000000 3f1f00 1f0300`), 8000 * 800],
    ['WebP of another form', hex(`${ascii('RIFF')} 00000000 ${ascii('WEBPVP9 ')}`), undefined],
    ['sound', hex(`${ascii('RIFF')} 00000000 ${ascii('WAVEfmt ')}`), undefined],
    ['JPEG', hex(`ffd8 ${FRAME}`), 8000 * 4000],
    ['JPEG with comments', hex(`ffd8 ${comment(1)} ${comment(0)} ffff ${comment(40_000)} ffc4 0003 00 ${FRAME}`), 8000 * 4000],
    ['JPEG that is cut', hex(`ffd8 ${comment(40_000)}`, 0), undefined],
    ['JPEG that hides its frame', hex(`ffd8 ${comment(0).repeat(5000)} ${FRAME}`), undefined],
    ['JPEG with noise', hex(`ffd8 ${comment(3)} 00`), undefined],
    ['PNG that is cut', hex('89504e470d0a1a0a 0000000d', 0), undefined],
    ['no pixels', hex('89504e470d0a1a0a 0000000d 49484452 00000000 00001f40'), undefined],
    ['text', hex(ascii('hello, world')), undefined],
    ['nothing', '', undefined],
  ];
  for (const [what, base64, pixels] of table) t.equal(pixelsOf(base64), pixels, what);
});

t.test('bytes are decoded wherever they stand', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 50 }, (_none, index) => index));
  for (let at = 0; at < 55; at += 1) t.same(bytesAt(bytes.toString('base64'), at, 9), bytes.subarray(at, at + 9), String(at));
});

t.test('pages of a PDF are counted where all of them can be seen', async (t) => {
  const pdf = (text: string): string => Buffer.from(`%PDF-1.7 ${text}`).toString('base64');
  t.equal(pagesOf(pdf('<</Type /Pages /Count 2>> <</Type /Page>> <</Type/Page/Parent 1 0 R>>')), 2);
  for (const hidden of ['/Type/ObjStm', '/Encrypt 3 0 R', '<</Type /P#61ge>>', '<</#54ype /Page>>'])
    t.equal(pagesOf(pdf(`<</Type /Page>> ${hidden}`)), undefined, hidden);
  t.equal(pagesOf(pdf('<</Type /Page>>'.repeat(5000))), 1000, 'nobody takes more');
  t.equal(pagesOf(pdf('nothing')), undefined);
  t.equal(pagesOf(pdf(`<</Type /Page>>${' '.repeat(1_000_000)}`)), undefined, 'a long one is not searched');
});
