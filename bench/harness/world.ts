// The processes of one question: the mock, and what stands in front of it.
import { loadStreams, loadWhole } from './load.ts';
import { type GatewayOptions, type Server, startGateway, startPipe, startUpstream } from './processes.ts';
import type { Target } from './targets.ts';

export interface World {
  readonly upstream: Server;
  readonly pipe: Server;
  readonly gateway: Server;
}

/** Starts all three, runs `work`, and ends them, whatever became of it. */
export async function inWorld<T>(options: GatewayOptions, work: (world: World) => Promise<T>): Promise<T> {
  const upstream = await startUpstream();
  const [pipe, gateway] = await Promise.all([startPipe(upstream), startGateway(upstream, options)]);
  try {
    return await work({ upstream, pipe, gateway });
  } finally {
    await Promise.all([upstream.stop(), pipe.stop(), gateway.stop()]);
  }
}

const WARM_MS = 1200;
const WARM_CONCURRENCY = 16;

/** Lets the compiler see what comes. */
export async function warmWhole(targets: readonly Target[], size: number, ms = WARM_MS): Promise<void> {
  for (const target of targets) await loadWhole(target, target.whole(size), { concurrency: WARM_CONCURRENCY, ms });
}

export async function warmStreams(targets: readonly Target[], ms = WARM_MS): Promise<void> {
  for (const target of targets) await loadStreams(target, target.stream(40, 2), { concurrency: WARM_CONCURRENCY, ms });
}
