// The mock of the five providers: a process of its own that answers at once, from bytes that were made before. Bare sockets, so that it
// costs less than what is measured.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { MARK_START, stamp, textOf } from './marks.ts';
import { type Asked, readModel } from './model.ts';
import { type Framing, sealAwsFrame, WIRE } from './wire.ts';

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const answers = new Map<string, Buffer>();

const server = createServer({ noDelay: true }, (socket) => {
  let pending: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy()); // a client that left
  socket.on('data', (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (let request = firstRequest(pending); request !== undefined; request = firstRequest(pending)) {
      pending = pending.subarray(request.length);
      answer(socket, request);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pid: process.pid })}\n`);
});
process.once('SIGTERM', () => process.exit(0));

function firstRequest(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0);
  const total = end + HEAD_END.length + length;
  return bytes.length < total ? undefined : bytes.toString('latin1', 0, total);
}

function answer(socket: Socket, request: string): void {
  const path = request.slice(request.indexOf(' ') + 1, request.indexOf(' HTTP/'));
  const framing = framingOf(path);
  const asked = readModel(request);
  if (framing === undefined || asked === undefined) {
    socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
  } else if (asked.kind === 'whole') socket.write(kept(path, asked, () => wholeAnswer(framing, asked)));
  else if (asked.everyMs === 0 && asked.kind === 'stream') socket.write(kept(path, asked, () => flood(framing, asked)));
  else paced(socket, framing, asked);
}

function framingOf(path: string): Framing | undefined {
  if (path.endsWith('/chat/completions')) return WIRE['openai-chat'];
  if (path.endsWith('/responses')) return WIRE['openai-responses'];
  if (path.endsWith('/messages')) return WIRE.anthropic;
  if (path.includes('enerateContent')) return WIRE.google;
  if (path.endsWith('/api/chat')) return WIRE.ollama;
  return path.startsWith('/model/') ? WIRE.bedrock : undefined;
}

function kept(path: string, { model }: Asked, make: () => Buffer): Buffer {
  const key = `${path} ${model}`;
  const known = answers.get(key) ?? make();
  answers.set(key, known);
  return known;
}

function wholeAnswer(framing: Framing, { model, count }: Asked): Buffer {
  const body = framing.whole(model, 'word '.repeat(Math.ceil(count / 5)).slice(0, count));
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function streamHead({ streamType }: Framing): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${streamType}\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n`);
}

function flood(framing: Framing, { model, count }: Asked): Buffer {
  const pieces = Array.from({ length: count }, (_, number) => chunkOf(framing.piece(model, textOf(number))));
  return Buffer.concat([streamHead(framing), chunkOf(framing.opening(model)), ...pieces, chunkOf(framing.ending(model)), LAST_CHUNK]);
}

/** One piece now, the others each in a write of its own; a silent stream has no others and no end. */
function paced(socket: Socket, framing: Framing, { model, kind, count, everyMs }: Asked): void {
  const piece = pieceMaker(framing, model);
  socket.write(Buffer.concat([streamHead(framing), chunkOf(framing.opening(model)), piece(0)]));
  if (kind === 'silent') return;
  let number = 1;
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else if (number < count) {
      socket.write(piece(number));
      number += 1;
    } else {
      clearInterval(timer);
      socket.write(Buffer.concat([chunkOf(framing.ending(model)), LAST_CHUNK]));
    }
  }, everyMs);
}

function pieceMaker(framing: Framing, model: string): (number: number) => Buffer {
  const record = framing.piece(model, textOf(0));
  const template = chunkOf(record);
  const at = template.indexOf(MARK_START);
  const isSealed = framing === WIRE.bedrock;
  const recordAt = template.length - record.length - 2;
  return (number) => {
    const bytes = Buffer.from(template);
    stamp(bytes, at, number);
    if (isSealed) sealAwsFrame(bytes.subarray(recordAt, recordAt + record.length));
    return bytes;
  };
}

function chunkOf(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
