import { once } from 'node:events';
import { createServer } from 'node:net';

/** Systems give no port of these to who asks for any (Linux: from 32,768 on), so no server of a test that starts later gets the same one. */
const FIRST = 20_000;
const COUNT = 12_000;

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const port = FIRST + Math.floor(Math.random() * COUNT);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return freePort();
    throw error;
  }
  server.close();
  await once(server, 'close');
  return port;
}
