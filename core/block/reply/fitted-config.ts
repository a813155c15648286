// The configuration of a block, with a window that its model can take.
import type { BlockConfig } from '../../schemas/block-config.ts';
import { usableCandidates } from '../status/candidates.ts';
import type { BlockContext } from './block-context.ts';

/**
 * A local model may take less than `memory.maxContextTokens`, and would silently drop the rest of a prompt. The first model that can be called
 * decides: a fallback with less room must not make the window of every other reply smaller.
 */
export async function fittedConfig({ files, world }: BlockContext, signal?: AbortSignal): Promise<BlockConfig> {
  const config = await files.config.read();
  const [first] = usableCandidates(world.gateway, config);
  const most = first === undefined ? undefined : await world.gateway.contextTokens(first.provider, first.model, { config: first.config, signal });
  if (most === undefined || most >= config.memory.maxContextTokens) return config;
  return { ...config, memory: { ...config.memory, maxContextTokens: most } };
}
