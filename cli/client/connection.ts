// Connects to the server of a workspace, and judges who answers before anything is sent.
//
// judged-connection: it is the connection itself that is judged, where the system tells whose it is (Linux). An answer about the port alone would be old by
//   the time that the token is sent: the server may have ended, and another user may listen there.
import { connect, type Socket } from 'node:net';
import { CliError } from '../terminal/exit-codes.ts';

/** Where the server of a workspace is reached, from its lock. */
export interface ServerPlace {
  readonly url: URL;
  readonly token: string;
  readonly pid: number;
  /** The user of that process, where the system tells it. */
  readonly owner?: number | undefined;
}

/** Resolves with an open connection of this user's own server. Rejects with a CliError if another user answers, otherwise with the system's own error. */
export async function connectTo({ url, pid, owner }: ServerPlace, signal: AbortSignal, patienceMs: number): Promise<Socket> {
  const { isToOtherUser } = await import('../../core/client-parts.ts');
  const socket = await connected(url, signal, patienceMs);
  let failure: Error | undefined;
  const keep = (error: Error): void => {
    failure = error;
  };
  socket.once('error', keep);
  const isStranger = await isToOtherUser(socket, owner); // judged-connection
  socket.off('error', keep);
  if (failure !== undefined) throw failure;
  if (!isStranger) return socket;
  socket.destroy();
  throw new CliError(
    'server',
    `At ${url.origin}, a program of another user listens instead of the server of this workspace (process ${pid}), so the token was not sent. Start the server again, on another port.`,
  );
}

/** `signal` counts until the connection is there. The option of that name of `connect` would listen to it for as long as the process lives. */
function connected({ hostname, port }: URL, signal: AbortSignal, patienceMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) });
    const abort = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort);
    socket.setNoDelay(true).setTimeout(patienceMs, () => socket.destroy(new Error(`no answer within ${patienceMs / 1000} s`)));
    socket.once('close', () => signal.removeEventListener('abort', abort));
    socket.once('error', reject).once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.setTimeout(0).removeAllListeners('timeout').off('error', reject);
      resolve(socket);
    });
  });
}
