// WebSocket clients for tests: one of `ws`, and one that writes frames as no library would.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import { createWsTransport, type WsTransport, type WsTransportOptions } from '../../transports/ws/index.ts';
import { RawClient } from './raw.ts';
import { type LogLine, startServer, type TestServer, type TestServerOptions } from './server.ts';
import { until } from './until.ts';

export type Received = Record<string, unknown>;

export interface WsServer extends TestServer {
  readonly ws: WsTransport;
  /** Lines of the WebSocket transport. */
  readonly wsLog: LogLine[];
}

export async function startWsServer(t: Test, options: WsTransportOptions = {}, more: TestServerOptions = {}): Promise<WsServer> {
  const server = await startServer(t, more);
  const wsLog: LogLine[] = [];
  const at = (level: LogLine['level']) => (fields: object, message: string) => void wsLog.push({ level, fields: fields as Record<string, unknown>, message });
  const ws = createWsTransport(server.core, server.transport.server, { log: { debug: at('debug'), info: at('info'), error: at('error') }, ...options });
  t.teardown(() => ws.close());
  return { ...server, ws, wsLog };
}

/** What the server does to a client. */
export class WsClient {
  readonly socket: WebSocket;
  readonly frames: Received[] = [];
  /** Undefined until the connection is closed. */
  closed: { readonly code: number; readonly reason: string } | undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString('utf8')) as Received));
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString('utf8') };
    });
    socket.on('error', () => undefined); // tests look at how it closed
  }

  static async connect(t: Test, { port, token }: { readonly port: number; readonly token: string }): Promise<WsClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/ws?token=${token}`, { perMessageDeflate: false });
    const client = new WsClient(socket);
    t.teardown(() => socket.terminate());
    await once(socket, 'open');
    return client;
  }

  send(message: unknown): this {
    this.socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
    return this;
  }

  /** Waits until so many frames have come in all. */
  async received(count: number): Promise<Received[]> {
    await until(`${count} frames have come (${JSON.stringify(this.frames).slice(0, 500)})`, () => this.frames.length >= count || this.closed !== undefined);
    return this.frames;
  }

  /** The next frame that is not there yet. */
  async next(): Promise<Received | undefined> {
    const { length } = this.frames;
    return (await this.received(length + 1))[length];
  }

  async untilClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    await until('the server has closed the connection', () => this.closed !== undefined);
    return this.closed as { readonly code: number; readonly reason: string };
  }
}

export interface HandshakeOptions {
  readonly path?: string;
  readonly method?: string;
  readonly version?: string;
  /** Undefined leaves a header out. */
  readonly headers?: Record<string, string | readonly string[] | undefined>;
}

export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
export const ACCEPT = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

/** The bytes of a request for a WebSocket. */
export function handshake({ port, token }: { readonly port: number; readonly token: string }, options: HandshakeOptions = {}): string {
  const headers: Record<string, string | readonly string[] | undefined> = {
    Host: `127.0.0.1:${port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': KEY,
    ...options.headers,
  };
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}\r\n`)));
  return `${options.method ?? 'GET'} ${options.path ?? `/api/ws?token=${token}`} ${options.version ?? 'HTTP/1.1'}\r\n${lines.join('')}\r\n`;
}

export interface FrameParts {
  readonly opcode: number;
  readonly payload?: string | Buffer;
  readonly fin?: boolean;
  /** Bits as in the first byte: 0x40, 0x20, 0x10. */
  readonly rsv?: number;
  readonly masked?: boolean;
  /** The length in the head, where it shall not be that of the payload. */
  readonly claims?: bigint;
  /** 7, 16 or 64 bits of length, where it shall not be the shortest form. */
  readonly lengthBits?: 7 | 16 | 64;
}

/** The bytes of one frame of a client. */
export function frame({ opcode, payload = '', fin = true, rsv = 0, masked = true, claims, lengthBits }: FrameParts): Buffer {
  const data = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const length = claims ?? BigInt(data.length);
  const bits = lengthBits ?? (length < 126n ? 7 : length < 65_536n ? 16 : 64);
  const head = Buffer.alloc(2 + (bits === 7 ? 0 : bits / 8));
  head[0] = (fin ? 0x80 : 0) | rsv | opcode;
  head[1] = (masked ? 0x80 : 0) | (bits === 7 ? Number(length) : bits === 16 ? 126 : 127);
  if (bits === 16) head.writeUInt16BE(Number(length), 2);
  if (bits === 64) head.writeBigUInt64BE(length, 2);
  if (!masked) return Buffer.concat([head, data]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, data.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

export interface ServerFrameRead {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** A connection after its handshake, for frames as they are. */
export class RawWs {
  readonly raw: RawClient;

  private constructor(raw: RawClient) {
    this.raw = raw;
  }

  static async connect(t: Test, server: { readonly port: number; readonly token: string }): Promise<RawWs> {
    const raw = await RawClient.connect(t, server.port);
    raw.send(handshake(server));
    await until('the handshake is answered', () => raw.received.includes('\r\n\r\n') || raw.closed);
    if (!raw.received.startsWith('HTTP/1.1 101 ')) throw new Error(`no handshake: ${raw.received}`);
    return new RawWs(raw);
  }

  /** Whole frames that have come so far. Those of a server are never masked, fragmented or reserved; anything else throws. */
  get frames(): ServerFrameRead[] {
    const bytes = Buffer.from(this.raw.received.slice(this.raw.received.indexOf('\r\n\r\n') + 4), 'latin1');
    const frames: ServerFrameRead[] = [];
    let at = 0;
    while (at + 2 <= bytes.length) {
      const [first = 0, second = 0] = bytes.subarray(at);
      if ((first & 0xf0) !== 0x80 || second > 126) throw new Error(`not a frame of this server: ${bytes.subarray(at, at + 4).toString('hex')}`);
      const head = second === 126 ? 4 : 2;
      if (at + head > bytes.length) break;
      const length = second === 126 ? bytes.readUInt16BE(at + 2) : second;
      if (at + head + length > bytes.length) break;
      frames.push({ opcode: first & 0x0f, payload: bytes.subarray(at + head, at + head + length) });
      at += head + length;
    }
    return frames;
  }

  /** Code of the close frame; undefined while there is none, 1005 for one without. */
  get closeCode(): number | undefined {
    const close = this.frames.find(({ opcode }) => opcode === 8);
    if (close === undefined) return undefined;
    return close.payload.length === 0 ? 1005 : close.payload.readUInt16BE(0);
  }

  send(...parts: (FrameParts | Buffer)[]): this {
    this.raw.send(Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : frame(part)))));
    return this;
  }
}
