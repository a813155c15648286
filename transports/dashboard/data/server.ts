// What the server says of itself.
import type { ServerHealth } from '../../../core/types.ts';
import { get } from './http.ts';
import { socket } from './services.ts';

/** False for a server that serves the gateway alone: what is about blocks is not shown. */
export let hasBlocks = true;

let known: Promise<ServerHealth> | undefined;
let knownFor = 0;
/** When it was asked, in epoch milliseconds of this browser. */
export let askedAt = 0;

/** To be called once, first. Without an answer, the server is taken for one with blocks. */
export async function readServer(): Promise<void> {
  const health = await serverHealth().catch(() => undefined); // a line on every page says that there is no answer
  hasBlocks = health?.gatewayOnly !== true;
}

/** What the server said when it was asked, once for each time that it was away. Rejects with an ApiError; then it is asked again the next time. */
export function serverHealth(): Promise<ServerHealth> {
  const turn = socket.revivals.peek();
  if (known !== undefined && knownFor === turn) return known;
  knownFor = turn;
  askedAt = Date.now();
  known = get<ServerHealth>('/api/health').catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
}
