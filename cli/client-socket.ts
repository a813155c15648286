// Follows a block over the server's WebSocket.
//
// S1 The token is part of the address, so the address stands in no message.
// S2 After `close`, and after `lost`, the listener hears nothing more.
import type { WebSocket } from 'ws';
import type { ReplyStep } from '../core/index.ts';
import type { ServerPlace } from './client.ts';
import { CliError, kindOfCode } from './exit-codes.ts';

export interface FeedListener {
  /** Something of the block has changed. */
  refresh(): void;
  step(step: ReplyStep): void;
  /** The block was archived. */
  gone(): void;
  /** The connection ended without `close`. */
  lost(error: CliError): void;
}

export interface Feed {
  close(): void;
}

interface Frame {
  readonly type?: unknown;
  readonly block?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
}

const LOST = 'the connection to the server was lost';

/** Subscribes to a block and its replies; resolves once the server follows it. Rejects with a CliError. */
export async function openFeed(place: ServerPlace, block: string, listener: FeedListener): Promise<Feed> {
  const { WebSocket } = await import('ws');
  const { tryParseJson, isObject } = await import('../core/index.ts');
  const url = new URL('/api/ws', place.url);
  url.protocol = 'ws:';
  url.searchParams.set('token', place.token);
  const socket = new WebSocket(url, { perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    let isOpen = false;
    let isOver = false;
    const end = (error: CliError): void => {
      if (isOver) return;
      isOver = true; // S2
      socket.terminate();
      if (isOpen) listener.lost(error);
      else reject(error);
    };
    const opened = (): void => {
      isOpen = true;
      resolve({ close: () => closeQuietly(socket, () => (isOver = true)) });
    };
    socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', block, stream: true })));
    socket.on('unexpected-response', (_request, response) => end(refusal(response.statusCode ?? 0)));
    socket.on('error', () => end(new CliError('server', `${LOST}.`))); // S1
    socket.on('close', (code) => end(new CliError('server', `${LOST} (${code}).`)));
    socket.on('message', (data) => {
      const frame = tryParseJson(String(data));
      if (isOver || !isObject(frame)) return;
      if (frame['type'] === 'error') end(frameFault(frame));
      else if (frame['block'] === block || frame['block'] === undefined) deliver(frame, listener, isOpen ? undefined : opened);
    });
  });
}

/** The first `refresh` is the answer to the subscription. */
function deliver(frame: Frame, listener: FeedListener, opened?: () => void): void {
  if (frame.type === 'refresh') {
    opened?.();
    listener.refresh();
  } else if (frame.type === 'stream') listener.step(frame as unknown as ReplyStep);
  else if (frame.type === 'gone') listener.gone();
}

function closeQuietly(socket: WebSocket, over: () => void): void {
  over();
  socket.close();
  // A server that does not answer the closing frame must not keep the command alive.
  setTimeout(() => socket.terminate(), 500).unref();
}

function frameFault({ code, error }: Frame): CliError {
  const text = typeof error === 'string' ? error : LOST;
  return new CliError(typeof code === 'string' ? kindOfCode(code) : 'server', text);
}

function refusal(status: number): CliError {
  if (status === 401) return new CliError('credentials', 'the server refuses the token of this workspace.');
  return new CliError('server', `the server does not take the connection (status ${status}).`);
}
