import t from 'tap';
import { countFrames, endOfFirstFrame, endOfFrames } from '../../../core/base/sse-frames.ts';

const ENDS = ['\n', '\r\n', '\r'];

t.test('a frame ends with an empty line, whatever ends the two lines', async (t) => {
  for (const first of ENDS) {
    for (const second of ENDS) {
      if (first + second === '\r\n') continue; // one line end
      const frame = Buffer.from(`data: a${first}${second}`);
      const bytes = Buffer.concat([frame, Buffer.from('data: b')]);
      const title = JSON.stringify(frame.toString());
      t.equal(endOfFrames(bytes), frame.length, title);
      t.equal(endOfFirstFrame(bytes, 0), frame.length, title);
      t.equal(countFrames(bytes), 1, title);
    }
  }
});

t.test('one line end alone is no border, nor are two in front of each other', async (t) => {
  for (const end of ENDS) {
    const bytes = Buffer.from(`event: a${end}data: b${end}`);
    t.equal(endOfFrames(bytes), 0);
    t.equal(endOfFirstFrame(bytes, 0), bytes.length);
    t.equal(countFrames(bytes), 0);
  }
});

t.test('frames of different line ends beside each other are told apart', async (t) => {
  const frames = ['data: a\n\n', 'event: b\r\ndata: b\r\n\r\n', 'data: c\r\r', 'data: d\r\n\n', 'data: e\n\r\n'];
  const bytes = Buffer.from(frames.join(''));
  const found: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = endOfFirstFrame(bytes, from);
    found.push(bytes.toString('utf8', from, end));
    from = end;
  }
  t.same(found, frames);
  t.equal(countFrames(bytes), frames.length);
  t.equal(endOfFrames(bytes), bytes.length);
});

t.test('a CR that may be half of a CRLF ends nothing yet', async (t) => {
  t.equal(endOfFrames(Buffer.from('data: a\r\n\r')), 0);
  t.equal(endOfFrames(Buffer.from('data: a\r\r')), 9);
});
