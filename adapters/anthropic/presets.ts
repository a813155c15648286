// The services that speak Anthropic's protocol. Pure data. Read on 2026-11-23; the marks are those of adapters/openai/presets.ts.
import type { Presets } from '../../core/index.ts';

export const PRESETS: Presets = {
  minimax: { baseURL: 'https://api.minimax.io/anthropic', variable: 'MINIMAX_API_KEY', prices: 'minimax', source: 'D: the address' },
  'azure-claude': {
    baseURLForm: 'https://<resource>.services.ai.azure.com/anthropic',
    variable: 'ANTHROPIC_FOUNDRY_API_KEY',
    prices: 'azure',
    source: 'D: learn.microsoft.com/azure/ai-foundry (the Messages wire, x-api-key)',
  },
};
