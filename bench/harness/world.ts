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

/** So much that the compiler has seen what comes, and so long at most. */
const WARM_REQUESTS = 10_000;
const WARM_FRAMES = 12_000;
const WARM_MS = 5000;
const STEP_MS = 300;
const WARM_CONCURRENCY = 16;

export async function warmWhole(targets: readonly Target[], size: number, wanted = WARM_REQUESTS): Promise<void> {
  for (const target of targets) {
    await repeat(wanted, async () => (await loadWhole(target, target.whole(size), { concurrency: WARM_CONCURRENCY, ms: STEP_MS })).count);
  }
}

export async function warmStreams(targets: readonly Target[], wanted = WARM_FRAMES): Promise<void> {
  for (const target of targets) {
    await repeat(wanted, async () => (await loadStreams(target, target.stream(40, 2), { concurrency: WARM_CONCURRENCY, ms: STEP_MS })).frames);
  }
}

async function repeat(wanted: number, step: () => Promise<number>): Promise<void> {
  const giveUp = performance.now() + WARM_MS;
  for (let done = 0; done < wanted && performance.now() < giveUp; ) done += await step();
}
