import t from 'tap';
import type { ReplyStep } from '../../../core/index.ts';
import { Outbox } from '../../../transports/ws/outbox.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const LIMITS = { highWaterBytes: 1000, maxWaitingBytes: 10_000, stallMs: 30_000 };

/** A connection whose client reads only when the test says so. */
class SlowLine {
  readonly sent: string[] = [];
  #unread: { readonly bytes: number; readonly left: () => void }[] = [];
  highest = 0;

  get bufferedAmount(): number {
    return this.#unread.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  send(text: string, left: () => void): void {
    this.sent.push(text);
    this.#unread.push({ bytes: Buffer.byteLength(text), left });
    this.highest = Math.max(this.highest, this.bufferedAmount);
  }

  /** The client reads the next frames. */
  read(frames = Number.POSITIVE_INFINITY): void {
    const read = this.#unread.splice(0, frames);
    for (const { left } of read) left();
  }

  get frames(): Record<string, unknown>[] {
    return this.sent.map((text) => JSON.parse(text) as Record<string, unknown>);
  }
}

function create(): { line: SlowLine; clock: ManualClock; outbox: Outbox; ends: string[] } {
  const line = new SlowLine();
  const clock = new ManualClock();
  const ends: string[] = [];
  return { line, clock, ends, outbox: new Outbox(line, LIMITS, clock, (reason) => ends.push(reason)) };
}

const content = (seq: number, text: string, id = 'm1'): ReplyStep => ({ id, seq, event: 'content', text });
const lines = (offset: number, text: string) => ({ file: 'f.log', offset, text });
const done = (seq: number): ReplyStep => ({ id: 'm1', seq, event: 'done', answerId: 'm2', status: 'done', stopReason: 'end_turn' });

/** Fills the connection to its mark, so that what follows waits. */
function fill({ outbox, line }: { outbox: Outbox; line: SlowLine }): number {
  outbox.step('full', content(0, 'x'.repeat(LIMITS.highWaterBytes)));
  return line.sent.length;
}

t.test('what a client reads is sent at once, as it came', async (t) => {
  const { line, outbox, clock } = create();
  outbox.refresh('a');
  outbox.step('a', content(1, 'Hel'));
  outbox.step('a', content(2, 'lo'));
  outbox.step('a', done(3));
  outbox.send({ type: 'pong' });
  t.strictSame(line.frames, [
    { type: 'refresh', block: 'a' },
    { type: 'stream', block: 'a', ...content(1, 'Hel') },
    { type: 'stream', block: 'a', ...content(2, 'lo') },
    { type: 'stream', block: 'a', ...done(3) },
    { type: 'pong' },
  ]);
  t.equal(clock.pending, 0);
});

t.test('10,000 changes for a client that does not read are one notice a block', async (t) => {
  const parts = create();
  const { line, outbox } = parts;
  const before = fill(parts);
  for (let i = 0; i < 10_000; i += 1) outbox.refresh(i % 2 === 0 ? 'a' : 'b');
  t.equal(line.sent.length, before, 'nothing leaves');
  line.read();
  t.strictSame(line.frames.slice(before), [
    { type: 'refresh', block: 'a' },
    { type: 'refresh', block: 'b' },
  ]);
});

t.test('pieces of one reply are joined while they wait, under the seq of the last', async (t) => {
  const parts = create();
  const { line, outbox } = parts;
  const before = fill(parts);
  for (const step of [content(1, 'a'), content(2, 'b'), content(3, 'c', 'm9'), content(4, 'd', 'm9'), done(5), content(6, 'e'), content(7, 'f')])
    outbox.step('a', step);
  outbox.step('b', content(8, 'g'));
  outbox.step('a', content(9, 'h'));
  line.read();
  t.strictSame(line.frames.slice(before), [
    { type: 'stream', block: 'a', ...content(2, 'ab') },
    { type: 'stream', block: 'a', ...content(4, 'cd', 'm9') },
    { type: 'stream', block: 'a', ...done(5) },
    { type: 'stream', block: 'a', ...content(7, 'ef') },
    { type: 'stream', block: 'b', ...content(8, 'g') },
    { type: 'stream', block: 'a', ...content(9, 'h') },
  ]);
});

t.test('the text that a slow client gets is whole and in order, and no more than the mark is on its way', async (t) => {
  const { line, outbox, ends } = create();
  let text = '';
  for (let seq = 1; seq <= 300; seq += 1) {
    const piece = `${seq} ü${'.'.repeat(seq % 40)}`;
    text += piece;
    outbox.step('a', content(seq, piece));
    outbox.refresh('a');
    if (seq % 7 === 0) line.read(1);
  }
  while (line.bufferedAmount > 0) line.read(1);
  t.strictSame(ends, []);
  t.equal(
    line.frames
      .filter(({ type }) => type === 'stream')
      .map((frame) => frame['text'])
      .join(''),
    text,
  );
  t.equal(line.frames.filter(({ type }) => type === 'stream').at(-1)?.['seq'], 300);
  const longest = Math.max(...line.sent.map((frame) => Buffer.byteLength(frame)));
  t.ok(line.highest <= Math.max(LIMITS.highWaterBytes, longest));
  t.ok(line.sent.length < 300, 'many were joined');
});

t.test('joined pieces stay below a length that could flood by itself', async (t) => {
  const clock = new ManualClock();
  const line = new SlowLine();
  const outbox = new Outbox(line, { ...LIMITS, maxWaitingBytes: 1_000_000 }, clock, () => undefined);
  const before = fill({ outbox, line });
  for (let seq = 1; seq <= 100; seq += 1) outbox.step('a', content(seq, 'y'.repeat(1000)));
  while (line.bufferedAmount > 0) line.read(1);
  const lengths = line.frames.slice(before).map((frame) => String(frame['text']).length);
  t.equal(
    lengths.reduce((sum, length) => sum + length, 0),
    100_000,
  );
  t.ok(lengths.every((length) => length <= 16 * 1024));
});

t.test('a client that lets too much wait is cut off, once', async (t) => {
  const parts = create();
  const { line, outbox, ends, clock } = parts;
  const before = fill(parts);
  for (let seq = 1; seq < 50; seq += 1) outbox.step('a', content(seq, 'z'.repeat(500)));
  t.strictSame(ends, ['it reads too slowly']);
  line.read();
  outbox.refresh('a');
  outbox.send({ type: 'pong' });
  t.equal(line.sent.length, before, 'nothing is sent after the end');
  t.equal(clock.pending, 0);
});

t.test('what still waits counts towards the limit after another block is not followed any more, and what was dropped does not', async (t) => {
  const parts = create();
  const { outbox, ends } = parts;
  fill(parts);
  outbox.step('b', content(1, 'z'.repeat(5000)));
  outbox.step('a', content(1, 'z'.repeat(4000)));
  outbox.forget('a');
  outbox.step('c', content(1, 'z'.repeat(4000)));
  t.strictSame(ends, []);
  outbox.step('d', content(1, 'z'.repeat(1000)));
  t.strictSame(ends, ['it reads too slowly']);
});

t.test('answers to messages count like text: a client that asks and does not read is cut off', async (t) => {
  const parts = create();
  fill(parts);
  for (let i = 0; i < 10_000 && parts.ends.length === 0; i += 1) parts.outbox.send({ type: 'pong' });
  t.equal(parts.ends.length, 1);
});

t.test('a client that reads nothing for the whole wait is cut off; one that reads a little is not', async (t) => {
  const parts = create();
  const { line, outbox, ends, clock } = parts;
  fill(parts);
  for (const block of ['a', 'b', 'c']) outbox.step(block, content(1, 'w'.repeat(900)));
  for (let i = 0; i < 3; i += 1) {
    clock.pass(29_000);
    line.read(1);
  }
  t.strictSame(ends, []);
  t.equal(clock.pending, 0, 'nothing waits any more');
  outbox.refresh('a');
  outbox.step('a', content(2, 'v'.repeat(900)));
  outbox.step('a', content(3, 'u'.repeat(900)));
  clock.pass(30_000);
  t.strictSame(ends, ['it stopped reading']);
  t.equal(clock.pending, 0);
});

t.test('what waits for a block that is not followed any more is dropped', async (t) => {
  const parts = create();
  const { line, outbox, clock } = parts;
  const before = fill(parts);
  outbox.refresh('a');
  outbox.step('a', content(1, 'old'));
  outbox.refresh('b');
  outbox.forget('a');
  outbox.send({ type: 'gone', block: 'a' });
  line.read();
  t.strictSame(line.frames.slice(before), [
    { type: 'refresh', block: 'b' },
    { type: 'gone', block: 'a' },
  ]);
  line.read();
  fill(parts);
  outbox.step('a', content(1, 'old'));
  t.equal(clock.pending, 1);
  outbox.forget('a');
  t.equal(clock.pending, 0, 'nothing waits, and nothing watches it');
});

t.test('a close ends everything', async (t) => {
  const parts = create();
  const { line, outbox, clock, ends } = parts;
  const before = fill(parts);
  outbox.refresh('a');
  outbox.close();
  outbox.refresh('a');
  outbox.step('a', content(1, 'late'));
  outbox.log('a', lines(0, 'x\n'));
  outbox.log('b', lines(0, 'x'.repeat(LIMITS.highWaterBytes)));
  outbox.send({ type: 'pong' });
  t.equal(clock.pending, 0, 'nothing waits, and nothing watches it');
  line.read();
  outbox.log('b', lines(0, 'x'.repeat(LIMITS.highWaterBytes)));
  clock.pass(100_000);
  t.equal(line.sent.length, before);
  t.strictSame(ends, []);
});

const logFrame = (offset: number, text: string) => ({ type: 'log', block: 'a', ...lines(offset, text) });

t.test('lines of a log leave at once', async (t) => {
  const { line, outbox, clock } = create();
  outbox.log('a', lines(0, 'one\n'));
  outbox.log('a', lines(4, 'two\n'));
  t.strictSame(line.frames, [logFrame(0, 'one\n'), logFrame(4, 'two\n')]);
  t.equal(clock.pending, 0);
});

t.test('lines for a client that reads slowly are left out, and one frame says how far the log has come', async (t) => {
  const parts = create();
  const { line, outbox, ends } = parts;
  const before = fill(parts);
  for (let index = 0; index < 10_000; index += 1) outbox.log('a', lines(index * 100, `${'x'.repeat(99)}\n`));
  t.strictSame(ends, [], 'nothing of it waits, so nobody is cut off');
  t.equal(line.sent.length, before);
  line.read();
  t.strictSame(line.frames.slice(before), [logFrame(1_000_000, '')]);
  outbox.log('a', lines(1_000_000, 'next\n'));
  t.strictSame(line.frames.at(-1), logFrame(1_000_000, 'next\n'), 'and then it goes on');
});

t.test('lines that are larger than what one frame may be are left out', async (t) => {
  const { line, outbox } = create();
  outbox.log('a', lines(5, `${'ä'.repeat(2000)}\n`));
  t.strictSame(line.frames, [logFrame(4006, '')]);
});

t.test('a log that nobody follows any more sends nothing', async (t) => {
  const parts = create();
  const { line, outbox } = parts;
  const before = fill(parts);
  outbox.log('a', lines(0, 'x\n'));
  outbox.forget('a');
  line.read();
  t.equal(line.sent.length, before);
});
