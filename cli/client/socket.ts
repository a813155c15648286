// Follows a block over the server's WebSocket.
//
// no-address: the address contains the token, so no message contains the address.
// silent-after-end: after `close` and after `lost`, no method of the listener is called.
import type { WebSocket } from 'ws';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import type { ReplyStep } from '../../core/index.ts';
import { CliError, kindOfCode } from '../terminal/exit-codes.ts';
import type { Client } from './client.ts';

/** Called for the frames of one block. */
export interface FeedListener {
  /** The block has changed. */
  refresh(): void;
  /** One step of a reply. */
  step(step: ReplyStep): void;
  /** The block was archived. */
  gone(): void;
  /** The connection ended without `close`. */
  lost(error: CliError): void;
}

/** An open subscription. */
export interface Feed {
  close(): void;
}

interface Frame {
  readonly type?: unknown;
  readonly block?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
}

const LOST = 'The connection to the server was lost';

/**
 * Subscribes to a block and its replies; resolves once the server follows it. Of a reply under way, the steps after `sinceSeq` come at once.
 * Rejects with a CliError.
 */
export async function openFeed(client: Client, block: string, listener: FeedListener, sinceSeq = 0): Promise<Feed> {
  const { WebSocket } = await import('ws');
  const { place, socket: connection } = await client.connect();
  const url = new URL('/api/ws', place.url);
  url.protocol = 'ws:';
  url.searchParams.set('token', place.token);
  const socket = new WebSocket(url, { perMessageDeflate: false, createConnection: () => connection });
  return new Promise((resolve, reject) => {
    let isOpen = false;
    let isOver = false;
    const end = (error: CliError): void => {
      if (isOver) return;
      isOver = true; // silent-after-end
      socket.terminate();
      if (isOpen) listener.lost(error);
      else reject(error);
    };
    const opened = (): void => {
      isOpen = true;
      resolve({ close: () => closeQuietly(socket, () => (isOver = true)) });
    };
    socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', block, stream: true, ...(sinceSeq > 0 && { sinceSeq }) })));
    socket.on('unexpected-response', (_request, response) => end(refusal(response.statusCode ?? 0)));
    socket.on('error', () => end(new CliError('server', `${LOST}.`))); // no-address
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
  // A server that does not answer the close frame must not keep the command alive.
  setTimeout(() => socket.terminate(), 500).unref();
}

function frameFault({ code, error }: Frame): CliError {
  const text = typeof error === 'string' ? error : LOST;
  return new CliError(typeof code === 'string' ? kindOfCode(code) : 'server', text);
}

function refusal(status: number): CliError {
  if (status === 401) return new CliError('credentials', 'The server rejected the token of this workspace; `blockhouse token` prints the one in .api-token.');
  return new CliError('server', `The server refused the connection (status ${status}); its log says why.`);
}
