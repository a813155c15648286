// What the page must know of its server before it is drawn.
import type { ServerHealth } from '../../../core/types.ts';
import { get } from './http.ts';

/** False for a server that serves the gateway alone: what is about blocks is not shown. */
export let hasBlocks = true;

/** To be called once, first. Without an answer, the server is taken for one with blocks. */
export async function readServer(): Promise<void> {
  const health = await get<ServerHealth>('/api/health').catch(() => undefined); // a line on every page says that there is no answer
  hasBlocks = health?.gatewayOnly !== true;
}
