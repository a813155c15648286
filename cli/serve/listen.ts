// Where a server listens, and what is said when it can't.
import type { AddressInfo, Socket } from 'node:net';
import { isListenedOnByOther, type ProcessConfig } from '../../core/index.ts';
import { CliError } from '../terminal/exit-codes.ts';
import type { OwnWorker } from './own-worker.ts';
import type { Door } from './hand-off.ts';
import type { Doors } from './worker-words.ts';

/** Only on loopback: what listens there is for the programs of this machine. */
const LOOPBACK = '127.0.0.1';

/** A server of HTTP, as far as it listens. */
interface Transport {
  listen(port: number, host: string): Promise<string>;
  serveAt(address: AddressInfo): string;
  take(socket: Socket): boolean;
  close(): Promise<void>;
}

/** The addresses of a server. */
export interface Listening {
  readonly url: string;
  /** The address of the second server, if there is one. */
  readonly ollamaUrl?: string;
}

/** How the two servers of a process get their connections. Rejects with a CliError, and nothing listens then. */
export type Listen = (transport: Transport, bare: Transport) => Promise<Listening>;

/** They listen themselves. */
export function listenOn(config: ProcessConfig): Listen {
  return async (transport, bare) => {
    const url = await atDoor(config, 'main', (port, host) => transport.listen(port, host));
    if (config.ollamaPort === undefined) return { url };
    const ollamaUrl = await atDoor(config, 'bare', (port, host) => bare.listen(port, host)).catch(async (error: unknown) => {
      await transport.close();
      throw error;
    });
    return { url, ollamaUrl };
  };
}

/** They serve what the primary hands to this process. */
export function listenAsWorker(own: OwnWorker): Listen {
  return async (transport, bare) => {
    const { main, bare: second } = await own.doors;
    own.onConnection((door, socket) => (door === 'main' ? transport : bare).take(socket));
    const url = transport.serveAt(main);
    return second === undefined ? { url } : { url, ollamaUrl: bare.serveAt(second) };
  };
}

/** Listens for workers. */
export async function openDoors(config: ProcessConfig, pool: { listen(door: Door, port: number, host: string): Promise<AddressInfo> }): Promise<Doors> {
  const main = await atDoor(config, 'main', (port, host) => pool.listen('main', port, host));
  if (config.ollamaPort === undefined) return { main };
  return { main, bare: await atDoor(config, 'bare', (port, host) => pool.listen('bare', port, host)) };
}

async function atDoor<T>(config: ProcessConfig, door: Door, listen: (port: number, host: string) => Promise<T>): Promise<T> {
  const [port, host, names] =
    door === 'main'
      ? ([config.port, config.host, '--port or BLOCKHOUSE_PORT'] as const)
      : ([config.ollamaPort ?? 0, LOOPBACK, '--ollama-port or BLOCKHOUSE_OLLAMA_PORT'] as const);
  return listen(port, host).catch(async (error: unknown) => {
    throw new CliError('place', await listenFault(host, port, names, error as NodeJS.ErrnoException), error);
  });
}

async function listenFault(host: string, port: number, names: string, error: NodeJS.ErrnoException): Promise<string> {
  const place = `${host}:${port}`;
  const cure = `choose another port with ${names} (0 picks a free one)`;
  if (error.code === 'EADDRINUSE' && (await isListenedOnByOther(host, port)))
    return `${place} is in use by a program of another user of this machine, which gets the keys of clients that call it; ${cure}, and see docs/security.md.`;
  if (error.code === 'EADDRINUSE') return `${place} is in use; ${cure}.`;
  if (error.code === 'EACCES') return `${place} needs more privileges than this process has; ${cure}.`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') return `${host} is not an address of this machine; choose another with --host.`;
  return `${place} can't be used: ${error.message}.`;
}
