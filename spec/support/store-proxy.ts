// What lies between a server and its database, and may fail.
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A way to the database of `store` that can be cut. */
export interface StoreProxy {
  /** The store by this way. */
  readonly store: string;
  /** Nothing passes any more, and nobody is told. */
  swallow(): void;
  /** All connections break, and new ones are refused. */
  refuse(): void;
  /** From now on everything passes. */
  heal(): void;
  /** From now on it leads to this database; connections to the one before break. */
  leadTo(store: string): void;
  /** From now on, a connection is told another process than the one that answers, as by a pooler. */
  hideProcesses(): void;
  /** The next answer of the database that begins with this text after its request is lost with its connection. */
  loseAnswerTo(text: string): void;
}

/** Before the number of its process, in the protocol of PostgreSQL. */
const BACKEND_KEY = Buffer.from('K\0\0\0\x0c', 'latin1');

/** Listens until the test ends. */
export async function storeProxy(t: Test, store: string): Promise<StoreProxy> {
  let { hostname, port } = new URL(store);
  let mode: 'pass' | 'swallow' | 'refuse' = 'pass';
  let lost: string | undefined;
  let hides = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (mode === 'refuse') return void near.destroy();
    const far = connect(Number(port), hostname);
    let isLosing = false;
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    near.on('data', (bytes) => {
      if (lost !== undefined && bytes.includes(lost)) {
        isLosing = true;
        lost = undefined;
      }
      if (mode === 'pass') far.write(bytes);
    });
    far.on('data', (bytes) => {
      const key = hides ? bytes.indexOf(BACKEND_KEY) : -1;
      if (key !== -1) bytes.writeUInt32BE(1, key + BACKEND_KEY.length);
      if (isLosing) end();
      else if (mode === 'pass') near.write(bytes);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(() => {
    cut();
    server.close();
  });
  const url = new URL(store);
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    store: url.href,
    swallow: () => {
      mode = 'swallow';
    },
    refuse: () => {
      mode = 'refuse';
      cut();
    },
    heal: () => {
      mode = 'pass';
    },
    leadTo: (other) => {
      ({ hostname, port } = new URL(other));
      cut();
    },
    hideProcesses: () => {
      hides = true;
    },
    loseAnswerTo: (text) => {
      lost = text;
    },
  };
}
