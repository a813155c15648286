// Other gateways, where `bench/peers/install.ts` has installed them: outside of the project, for they are no part of it.
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aiSdkTarget, startHonoAiSdk } from '../peers/hono-ai-sdk.ts';
import { portkeyTarget, startPortkey } from '../peers/portkey.ts';
import type { Server } from './processes.ts';
import type { Target } from './targets.ts';

/** Where they are installed. */
export const PEERS = join(tmpdir(), 'blockhouse-bench-peers');

export interface Peers {
  readonly targets: readonly Target[];
  stop(): Promise<void>;
}

/** Starts the installed peers; it is not an error when none is installed. */
export async function startPeers(upstream: Server): Promise<Peers> {
  const servers: Server[] = [];
  const targets: Target[] = [];
  if (existsSync(join(PEERS, 'node_modules', '@portkey-ai', 'gateway'))) {
    const portkey = await startPortkey(PEERS, await freePort());
    servers.push(portkey);
    targets.push(portkeyTarget(portkey, upstream));
  }
  if (existsSync(join(PEERS, 'node_modules', 'hono'))) {
    const aiSdk = await startHonoAiSdk(PEERS, upstream);
    servers.push(aiSdk);
    targets.push(aiSdkTarget(aiSdk));
  }
  return {
    targets,
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}
