// The configuration of a block, with a window that its model can take.
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { AskedModel } from '../../schemas/chat-entry.ts';
import { usableCandidates } from '../status/candidates.ts';
import type { BlockContext } from './block-context.ts';

interface FittedFor {
  /** The model that a message asks. */
  readonly asks?: AskedModel | undefined;
  readonly signal?: AbortSignal;
}

/**
 * A local model may take less than `memory.maxContextTokens`, and would silently drop the rest of a prompt. The first model that can be called
 * decides: a fallback with less room must not make the window of every other reply smaller.
 */
export async function fittedConfig({ files, world }: BlockContext, { asks, signal }: FittedFor = {}): Promise<BlockConfig> {
  const config = asking(asks, await files.config.read());
  const [first] = usableCandidates(world.gateway, config);
  const most = first === undefined ? undefined : await world.gateway.contextTokens(first.provider, first.model, { config: first.config, signal });
  if (most === undefined || most >= config.memory.maxContextTokens) return config;
  return { ...config, memory: { ...config.memory, maxContextTokens: most } };
}

/** With the model that a message asks in place of the block's, and no fallback. Address and region are those of the block's provider. */
function asking(asks: AskedModel | undefined, config: BlockConfig): BlockConfig {
  const { adapter } = config;
  if (asks === undefined || adapter === null) return config;
  const { baseURL: _address, region: _region, ...settings } = adapter;
  return { ...config, adapter: { ...(asks.provider === adapter.provider ? adapter : settings), ...asks }, fallbacks: [] };
}
